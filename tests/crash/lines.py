"""Lines from one machine to the database server, each of which can be cut and mended.

A line through a forwarder that is stopped swallows everything: connections stay open, and nothing arrives. One through
a network namespace is a real network whose link is taken down: packets get lost.
"""

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from urllib.parse import quote

from psycopg.conninfo import conninfo_to_dict

_FORWARDER = Path(__file__).with_name("forwarder.py")
_NEAR, _FAR = "192.0.2.1", "192.0.2.2"


class Line:
    """The way through a forwarder on this machine."""

    inside: tuple[str, ...] = ()
    """The command that starts a process at the other end."""

    def __init__(self, url: str, address: str = "127.0.0.1", before: tuple[str, ...] = ()) -> None:
        known = {name: str(value) for name, value in conninfo_to_dict(url).items()}
        host, port = known.get("host", "127.0.0.1"), known.get("port", "5432")
        server = f"{host}/.s.PGSQL.{port}" if host.startswith("/") else f"{host}:{port}"
        command = [*before, sys.executable, str(_FORWARDER), address, server]
        self._forwarder = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert self._forwarder.stdout is not None
        mine = self._forwarder.stdout.readline().strip()
        user, options = quote(known.get("user", "postgres")), quote(known.get("options", ""))
        password = f":{quote(known['password'])}" if known.get("password") else ""
        self.url = f"postgresql://{user}{password}@{address}:{mine}/{known['dbname']}?options={options}"

    def cut(self) -> None:
        """Let nothing through any more."""
        self._forwarder.send_signal(signal.SIGSTOP)

    def mend(self) -> None:
        """Let everything through again."""
        self._forwarder.send_signal(signal.SIGCONT)

    def close(self) -> None:
        self._forwarder.kill()
        self._forwarder.wait()
        assert self._forwarder.stdout is not None
        self._forwarder.stdout.close()


class NamespaceLine(Line):
    """The way out of a network namespace that has no other, over a pair of interfaces."""

    def __init__(self, url: str) -> None:
        self._holders = [subprocess.Popen(["unshare", "--net", "sleep", "600"]) for _ in range(2)]
        near, far = self._holders
        for holder in self._holders:
            _until_apart(holder.pid)
        self._near = ("nsenter", f"--net=/proc/{near.pid}/ns/net")
        self.inside = ("nsenter", f"--net=/proc/{far.pid}/ns/net")
        self._ip(self._near, f"link add near type veth peer name far netns {far.pid}")
        for place, name, address in ((self._near, "near", _NEAR), (self.inside, "far", _FAR)):
            self._ip(place, f"address add {address}/24 dev {name}")
            self._ip(place, f"link set {name} up")
        super().__init__(url, _NEAR, self._near)

    def cut(self) -> None:
        self._ip(self._near, "link set near down")

    def mend(self) -> None:
        self._ip(self._near, "link set near up")

    def close(self) -> None:
        super().close()
        for holder in self._holders:
            holder.kill()
            holder.wait()

    def _ip(self, place: tuple[str, ...], command: str) -> None:
        subprocess.run([*place, "ip", *command.split()], check=True, capture_output=True)


def _until_apart(pid: int) -> None:
    """Wait until `unshare` has done its work."""
    ours = Path("/proc/self/ns/net").readlink()
    while Path(f"/proc/{pid}/ns/net").readlink() == ours:
        os.sched_yield()


def has_namespaces() -> bool:
    """Whether this machine lets us make network namespaces and interfaces in them."""
    if not all(shutil.which(program) for program in ("unshare", "nsenter", "ip")):
        return False
    probe = "unshare --net ip link add near type veth peer name far"
    return subprocess.run(probe.split(), capture_output=True, check=False).returncode == 0
