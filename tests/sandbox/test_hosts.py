"""A strict sandbox reaches the hosts that its owner allows, and every refused host is recorded and counted."""

import json
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from tests.sandbox import confined
from tests.sandbox.confined import Machine

pytestmark = pytest.mark.timeout(300)

FETCH = """
import sys, urllib.error, urllib.request
for address in sys.argv[1:]:
    try:
        print(urllib.request.urlopen(address, timeout=30).read().decode())
    except urllib.error.HTTPError as error:
        print(error.code, error.read().decode().strip())
    except OSError as error:
        print("unreachable", error)
"""


class Greeting(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b"hello from outside")

    def log_message(self, *arguments: object) -> None:
        pass


class Servers:
    """Two web servers on this machine."""

    def __init__(self) -> None:
        self._made = [ThreadingHTTPServer(("127.0.0.1", 0), Greeting) for _ in range(2)]
        self._threads = [threading.Thread(target=each.serve_forever) for each in self._made]
        for thread in self._threads:
            thread.start()
        self.allowed, self.other = (f"127.0.0.1:{each.server_address[1]}" for each in self._made)

    def close(self) -> None:
        for each, thread in zip(self._made, self._threads, strict=True):
            each.shutdown()
            thread.join()
            each.server_close()


@pytest.fixture
def servers() -> Iterator[Servers]:
    made = Servers()
    yield made
    made.close()


@pytest.fixture
def machine(bwrap: None, servers: Servers) -> Iterator[Machine]:
    made = Machine(confined.make_folder())
    try:
        made.agent = made.write(made.tools / "fetch.py", FETCH)
        made.confine(
            sandbox={"allow_hosts": [servers.allowed]},
            profiles={"inner": {"driver": "shell", "sandbox": "strict"}},
        )
        yield made
    finally:
        made.close()


def fetch(machine: Machine, *addresses: str) -> tuple[list[str], str]:
    """What an agent inside got, by line; and what `ramet work` said."""
    command = f"{sys.executable} {machine.agent} {' '.join(addresses)}"
    effort_id = machine.json("add", command, "--driver", "inner")["id"]
    said = machine("work", "--once").stdout
    return machine.json("show", f"e{effort_id}")["output_content"].splitlines(), said


def refusals(machine: Machine) -> list[dict[str, Any]]:
    events = machine.json("rpc", "call", "events.list", json.dumps({"kind": "session.refused"}))["items"]
    return [event["data"] for event in events]


@pytest.mark.requirement("R344")
def test_only_the_allowed_hosts_are_reached(machine: Machine, servers: Servers) -> None:
    lines, _ = fetch(machine, f"http://{servers.allowed}/", f"http://{servers.other}/", "http://169.254.169.254/")
    assert lines[0] == "hello from outside"
    assert [line[:4] for line in lines[1:]] == ["403 ", "403 "]


@pytest.mark.requirement("R344")
def test_a_refused_host_is_recorded_counted_and_said(machine: Machine) -> None:
    lines, said = fetch(machine, *["http://refused.example/"] * 3, "https://other.example/")
    assert "sandbox.allow_hosts does not list it" in lines[0]
    rule = "add refused.example to sandbox.allow_hosts"
    assert f"was refused a host: refused.example:80; to allow it: {rule}" in said
    counts = {refusal["name"]: (refusal["times"], refusal["rule"]) for refusal in refusals(machine)}
    assert counts == {
        "refused.example:80": (3, rule),
        "other.example:443": (1, "add other.example to sandbox.allow_hosts"),
    }


@pytest.mark.requirement("R344")
def test_a_program_that_ignores_the_proxy_reaches_nothing(machine: Machine, servers: Servers) -> None:
    host, port = servers.allowed.split(":")
    machine.agent.write_text(f"import socket\nsocket.create_connection(({host!r}, {port}), 5)\nprint('out')\n")
    command = f"{sys.executable} {machine.agent}"
    assert machine.run(command, "inner")["outcome"] == "error"
