"""The proxy of a strict sandbox, as a keeper runs it: real sockets, real connections."""

import socket
import threading
from collections.abc import Iterator
from contextlib import closing, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from tests.keeper.scripted_daemon import wait_for

from ramet.keeper.proxy import ProxyProcess
from ramet.model.work.stream import Refusal
from ramet.protocol.work.keepers import Proxy


class Handler(BaseHTTPRequestHandler):
    """Answers with what it was asked."""

    def do_GET(self) -> None:
        body = f"{self.path} for {self.headers['host']}, {self.headers.get('connection')}".encode()
        self.send_response(200)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *arguments: object) -> None:
        pass


@pytest.fixture
def server() -> Iterator[int]:
    """A web server on this machine; its port."""
    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as made:
        thread = threading.Thread(target=made.serve_forever)
        thread.start()
        yield made.server_address[1]
        made.shutdown()
        thread.join()


class Client:
    """What is inside the sandbox: it has the socket and nothing else."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def ask(self, request: str) -> str:
        """All that comes back."""
        with closing(socket.socket(socket.AF_UNIX)) as connection:
            connection.settimeout(30)
            connection.connect(str(self._path))
            connection.sendall(request.encode())
            answer = b""
            with suppress(ConnectionResetError):
                while data := connection.recv(65536):
                    answer += data
        return answer.decode()

    def status(self, request: str) -> str:
        return self.ask(request).split("\r\n")[0].partition(" ")[2]


@pytest.fixture
def started(tmp_path: Path, server: int) -> Iterator[tuple[ProxyProcess, Client]]:
    path = tmp_path / "proxy.sock"
    hosts = [f"127.0.0.1:{server}", "nowhere.invalid", f"localhost:{server}"]
    proxy = ProxyProcess(Proxy(socket=str(path), hosts=hosts), "proxy-test")
    yield proxy, Client(path)
    if not proxy.output.pipe.closed:
        proxy.stop()


def test_a_tunnel_leads_to_an_allowed_host(started: tuple[ProxyProcess, Client], server: int) -> None:
    _, client = started
    inner = f"GET /inner HTTP/1.1\r\nHost: 127.0.0.1:{server}\r\nConnection: close\r\n\r\n"
    answer = client.ask(f"CONNECT 127.0.0.1:{server} HTTP/1.1\r\n\r\n{inner}")
    assert answer.startswith("HTTP/1.1 200 Connection established\r\n\r\n")
    assert f"/inner for 127.0.0.1:{server}" in answer


def test_a_plain_request_is_passed_on_for_one_answer(started: tuple[ProxyProcess, Client], server: int) -> None:
    _, client = started
    answer = client.ask(
        f"GET http://127.0.0.1:{server}/page?a=1 HTTP/1.1\r\nHost: evil.example\r\nProxy-Authorization: x\r\n"
        "Connection: keep-alive\r\n\r\n"
    )
    assert answer.endswith(f"/page?a=1 for 127.0.0.1:{server}, close")


def test_a_name_that_is_written_out_may_be_this_machine(started: tuple[ProxyProcess, Client], server: int) -> None:
    assert started[1].status(f"GET http://localhost:{server}/ HTTP/1.1\r\n\r\n") == "200 OK"


@pytest.mark.parametrize(
    ("request_line", "status"),
    [
        ("CONNECT evil.example:443 HTTP/1.1", "403 Forbidden"),
        ("CONNECT 127.0.0.1:22 HTTP/1.1", "403 Forbidden"),
        ("CONNECT 169.254.169.254:80 HTTP/1.1", "403 Forbidden"),
        ("GET http://169.254.169.254/latest/meta-data HTTP/1.1", "403 Forbidden"),
        ("GET https://evil.example/ HTTP/1.1", "400 Bad Request"),
        ("GET ftp://evil.example/ HTTP/1.1", "400 Bad Request"),
        ("GET /etc/passwd HTTP/1.1", "400 Bad Request"),
        ("CONNECT nowhere.invalid:443 HTTP/1.1", "502 Bad Gateway"),
        ("CONNECT evil.example:x HTTP/1.1", "400 Bad Request"),
        ("CONNECT  HTTP/1.1", "403 Forbidden"),
        ("hello", "400 Bad Request"),
    ],
)
def test_everything_else_goes_nowhere(started: tuple[ProxyProcess, Client], request_line: str, status: str) -> None:
    assert started[1].status(f"{request_line}\r\n\r\n") == status


def test_a_request_without_an_end_is_refused_when_it_is_too_long(started: tuple[ProxyProcess, Client]) -> None:
    assert started[1].status("GET http://evil.example/" + "a" * 200_000) == "400 Bad Request"


def test_a_refused_host_is_told_at_once_and_counted_at_the_end(started: tuple[ProxyProcess, Client]) -> None:
    proxy, client = started
    refused = {"subject": "host", "name": "evil.example:443", "rule": "add evil.example to sandbox.allow_hosts"}
    client.ask("CONNECT evil.example:443 HTTP/1.1\r\n\r\n")
    assert wait_for(proxy.read) == [Refusal(times=1, **refused)]  # type: ignore[arg-type]
    for _ in range(3):
        assert "sandbox.allow_hosts" in client.ask("CONNECT Evil.Example:443 HTTP/1.1\r\n\r\n")
    assert proxy.stop() == [Refusal(times=4, **refused)]  # type: ignore[arg-type]


def test_many_invented_hosts_are_counted_together(started: tuple[ProxyProcess, Client]) -> None:
    proxy, client = started
    told: list[Refusal] = []
    for number in range(1010):
        client.ask(f"CONNECT h{number}.example:443 HTTP/1.1\r\n\r\n")
        told += proxy.read()
    told += proxy.stop()
    assert len({refusal.name for refusal in told}) == 1001
    assert told[-1].name == "other hosts"
    assert told[-1].times == 10


def test_it_ends_with_whoever_started_it(started: tuple[ProxyProcess, Client]) -> None:
    proxy, client = started
    proxy.stop()
    with pytest.raises(ConnectionRefusedError):
        client.ask("CONNECT evil.example:443 HTTP/1.1\r\n\r\n")
