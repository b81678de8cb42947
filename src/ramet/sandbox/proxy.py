"""The way out of a strict sandbox: a forwarding proxy that connects to allowed hosts and to nothing else.

It runs outside, one for each agent, started by the agent's keeper. The keeper passes a listening unix socket, which is
mounted into the sandbox, and one line of JSON with the rules. Every refused host is a line of JSON on standard output:
the first time at once, and with the final count when standard input ends. Names are resolved here: inside there is no
DNS. Only the standard library is imported.

A connection carries one request. `CONNECT` is a tunnel that nobody looks into; a plain `http://` request is passed on
with its address turned into a path.
"""

import asyncio
import json
import socket
import sys
from collections import Counter
from collections.abc import Iterable
from contextlib import suppress
from urllib.parse import urlsplit

from ramet.sandbox.host_rules import Rule, admits, find_rule, parse, split

_MOST_CONNECTIONS = 256
_HEAD_BYTES = 64 * 1024
_HEAD_SECONDS = 30.0
_CONNECT_SECONDS = 30.0
_CHUNK_BYTES = 64 * 1024
_MOST_HOSTS = 1000
"""How many different refused hosts are told apart; an agent can invent any number."""
_OTHERS = "other hosts"


class Refused(Exception):
    """The request goes nowhere."""

    def __init__(self, status: str, reason: str) -> None:
        super().__init__(reason)
        self.status = status


class Proxy:
    """Forwards what its rules allow."""

    def __init__(self, rules: Iterable[Rule]) -> None:
        self._rules = tuple(rules)
        self._refusals: Counter[str] = Counter()
        self._open = asyncio.Semaphore(_MOST_CONNECTIONS)

    async def serve(self, inside: asyncio.StreamReader, answer: asyncio.StreamWriter) -> None:
        """One connection, from its request to its end."""
        async with self._open:
            try:
                async with asyncio.timeout(_HEAD_SECONDS):
                    head = await inside.readuntil(b"\r\n\r\n")
                await self._forward(head, inside, answer)
            except Refused as refused:
                _say(answer, refused.status, str(refused))
            except (TimeoutError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
                _say(answer, "400 Bad Request", "the request has no end")
            except OSError as error:
                _say(answer, "502 Bad Gateway", error.strerror or "the host does not answer")
            finally:
                with suppress(OSError):
                    answer.close()
                    await answer.wait_closed()

    def report(self) -> None:
        """Say how often each host was refused, if more than once."""
        for host, times in self._refusals.items():
            if times > 1:
                _tell(host, times)

    async def _forward(self, head: bytes, inside: asyncio.StreamReader, answer: asyncio.StreamWriter) -> None:
        method, target, rest = _parse(head)
        host, port = _destination(method, target)
        reader, writer = await self._connect(host, port)
        try:
            if method == "CONNECT":
                answer.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
            else:
                writer.write(_rewrite(method, target, rest))
            async with asyncio.TaskGroup() as both:
                sending = both.create_task(_copy(inside, writer))
                await _copy(reader, answer)
                sending.cancel()  # a server that has closed wants no more
        finally:
            writer.close()

    async def _connect(self, host: str, port: int) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        rule = find_rule(self._rules, host, port)
        if rule is None:
            raise self._refuse(host, port, "sandbox.allow_hosts does not list it")
        loop = asyncio.get_running_loop()
        async with asyncio.timeout(_CONNECT_SECONDS):
            found = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
            allowed = [address for entry in found if admits(rule, address := str(entry[4][0]))]
            if not allowed:
                raise self._refuse(host, port, "its address is not public")
            return await _open(allowed, port)

    def _refuse(self, host: str, port: int, why: str) -> Refused:
        name = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
        if name not in self._refusals and len(self._refusals) >= _MOST_HOSTS:
            name = _OTHERS
        self._refusals[name] += 1
        if self._refusals[name] == 1:
            _tell(name, 1)
        return Refused("403 Forbidden", f"the sandbox does not reach {name}: {why}")


def _parse(head: bytes) -> tuple[str, str, list[str]]:
    first, *rest = head.decode("latin-1").removesuffix("\r\n\r\n").split("\r\n")
    words = first.split(" ")
    if len(words) != 3 or not words[2].startswith("HTTP/1."):
        raise Refused("400 Bad Request", "this is not a proxy request")
    return words[0].upper(), words[1], rest


def _destination(method: str, target: str) -> tuple[str, int]:
    try:
        if method == "CONNECT":
            host, port = split(target.lower())
            return host, port or 443
        url = urlsplit(target)
        if url.scheme == "http" and url.hostname:
            return url.hostname, url.port or 80
    except ValueError as error:
        raise Refused("400 Bad Request", str(error)) from error
    raise Refused("400 Bad Request", "only CONNECT and http:// go through this proxy")


def _rewrite(method: str, target: str, headers: list[str]) -> bytes:
    """The request as its server reads it. The connection ends with it, so a second request cannot go elsewhere."""
    url = urlsplit(target)
    path = (url.path or "/") + (f"?{url.query}" if url.query else "")
    ours = ("connection:", "proxy-", "host:")
    kept = [line for line in headers if not line.lower().startswith(ours)]
    host = url.netloc.rpartition("@")[2]
    lines = [f"{method} {path} HTTP/1.1", f"Host: {host}", *kept, "Connection: close"]
    return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")


async def _open(addresses: list[str], port: int) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """Connect to the first address that answers. By address: a second look-up of the name could lead elsewhere."""
    for address in addresses[:-1]:
        with suppress(OSError):
            return await asyncio.open_connection(address, port)
    return await asyncio.open_connection(addresses[-1], port)


async def _copy(source: asyncio.StreamReader, target: asyncio.StreamWriter) -> None:
    """Pass bytes on until one side closes; then close the other in the same direction."""
    with suppress(OSError):
        while data := await source.read(_CHUNK_BYTES):
            target.write(data)
            await target.drain()
    with suppress(OSError, RuntimeError):
        target.write_eof()


def _say(answer: asyncio.StreamWriter, status: str, reason: str) -> None:
    body = f"{reason}\n".encode("utf-8", "replace")
    head = f"HTTP/1.1 {status}\r\nContent-Type: text/plain\r\nContent-Length: {len(body)}\r\nConnection: close\r\n\r\n"
    with suppress(OSError, RuntimeError):
        answer.write(head.encode() + body)


def _tell(host: str, times: int) -> None:
    sys.stdout.write(json.dumps({"host": host[:300], "times": times}) + "\n")
    sys.stdout.flush()


async def run(descriptor: int, hosts: list[str]) -> None:
    """Serve until standard input ends: whoever started this is done with it, or gone."""
    proxy = Proxy(map(parse, hosts))
    listener = socket.socket(fileno=descriptor)
    server = await asyncio.start_unix_server(proxy.serve, sock=listener, limit=_HEAD_BYTES)
    await asyncio.get_running_loop().run_in_executor(None, sys.stdin.buffer.read)
    server.close()  # without a wait: open tunnels end with this process
    proxy.report()


def main() -> None:
    """`python -m ramet.sandbox.proxy DESCRIPTOR`, with `{"hosts": [...]}` as the first line of standard input."""
    told = json.loads(sys.stdin.buffer.readline())
    asyncio.run(run(int(sys.argv[1]), told["hosts"]))


if __name__ == "__main__":
    main()
