"""The real command line with agents in sandboxes, and around it everything that they must not reach.

All of it is in a folder that is not below /tmp: a sandbox has a /tmp of its own, which would hide it.
"""

import ctypes
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from contextlib import suppress
from pathlib import Path
from typing import Any

from tests.cli.command_line import CommandLine
from tests.sandbox import hostile

PATIENCE_SECONDS = 60
MARK = "ramet-sandbox-victim"
_VICTIM = f"import signal, sys; open(sys.argv[1], 'w'); signal.sigwait([signal.SIGUSR1]); '{MARK}'"
_IPC_CREAT, _IPC_RMID = 0o1000, 0


class Machine(CommandLine):
    """A user, a project, and a hostile agent."""

    def __init__(self, folder: Path) -> None:
        (folder / "shop").mkdir()
        super().__init__(folder, folder / "shop")
        self.user = folder / "user"
        self.environ |= {
            "GIT_CONFIG_GLOBAL": "/dev/null",
            "SSH_AUTH_SOCK": str(folder / "ssh-agent"),
            "HIDDEN_VARIABLE": "1",
        }
        self.write(self.user / ".ssh" / "id_test", "the secret of the user\n")
        self.write(self.user / ".bashrc", "# the user's shell\n")
        self.write(self.user / ".claude" / ".credentials.json", "{}")
        self.tools = folder / "tools"
        self.agent = self.write(self.tools / "hostile.py", Path(hostile.__file__).read_text())
        self.make_repository(self.cwd)
        self.write(self.cwd / ".env", "KEY=of the user's checkout\n")

    @staticmethod
    def write(path: Path, text: str) -> Path:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    def make_repository(self, path: Path) -> Path:
        """A repository with two commits."""
        self.write(path / "a.txt", "one\n")
        self.git(path, "init", "-q", "-b", "main")
        for message in ("first", "second"):
            self.write(path / "plans.txt", f"{message} plan of {path.name}\n")
            self.git(path, "add", "a.txt", "plans.txt")
            self.git(path, "commit", "-qm", message)
        return path

    def git(self, path: Path, *arguments: str) -> str:
        identity = ("-c", "user.name=Ann", "-c", "user.email=ann@example.org")
        command = ["git", "-C", str(path), *identity, *arguments]
        done = subprocess.run(command, check=False, capture_output=True, text=True, env=self.environ)
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    def confine(self, **more: Any) -> None:
        """Profiles of a program, one for each sandbox."""
        program = [sys.executable, str(self.agent)]
        profiles = {
            name: {"driver": "command", "program": program, "sandbox": name} for name in ("off", "workspace", "strict")
        }
        settings = {
            "work": {"backoff_seconds": 0, "retries": 0, "host_retries": 0},
            "sandbox": {"read_paths": [str(self.tools)]} | more.pop("sandbox", {}),
            **more,
        }
        settings["drivers"] = {"profiles": profiles | settings.pop("profiles", {})}
        self.write(self.user / ".config" / "ramet" / "config.yaml", json.dumps(settings))

    def run(self, prompt: str, driver: str) -> dict[str, Any]:
        """The effort that an agent worked on."""
        effort_id = self.json("add", prompt, "--driver", driver)["id"]
        self("work", "--once")
        shown: dict[str, Any] = self.json("show", f"e{effort_id}")
        return shown

    def attack(self, driver: str, targets: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
        """What a hostile program got, by its attempts; and its effort."""
        effort = self.run(f"TARGETS {json.dumps(targets)}", driver)
        assert effort["outcome"] == "success", effort["reason"]
        return json.loads(effort["output_content"]), effort

    def daemon_pid(self) -> int | None:
        pid_file = self.home / "ramet" / "run" / "ramet.pid"
        return int(pid_file.read_text()) if pid_file.exists() else None

    def close(self) -> None:
        self("daemon", "start")  # a command that was killed may have started one, which is not there yet
        pid = self.daemon_pid()
        if self("daemon", "stop").returncode and pid is not None:  # an agent may have broken its configuration
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        shutil.rmtree(self.home, ignore_errors=True)


def make_folder() -> Path:
    return Path(tempfile.mkdtemp(prefix="ramet-sandbox-", dir="/var/tmp"))


class Surroundings:
    """What an agent might reach: a process, sockets and shared memory of the user's."""

    def __init__(self, folder: Path) -> None:
        self.abstract = f"ramet-sandbox-{os.getpid()}-{folder.name}"
        self.tcp, self.udp = socket.create_server(("", 0)), socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.udp.bind(("127.0.0.1", 0))
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind("\0" + self.abstract)
        self.listener.listen()
        self._greeting = threading.Thread(target=self._greet, daemon=True)
        self._greeting.start()
        signalled = folder / "signalled"
        self.victim = subprocess.Popen([sys.executable, "-c", _VICTIM, str(signalled), MARK])
        key = os.getpid() + 77_000
        self.shared_memory = int(ctypes.CDLL(None).shmget(key, 64, _IPC_CREAT | 0o600))
        self.key = key

    def _greet(self) -> None:
        with suppress(OSError):
            while True:
                connection, _ = self.tcp.accept()
                with connection:
                    connection.sendall(b"the host")

    @property
    def is_victim_alone(self) -> bool:
        """Whether nobody has signalled the victim: it ends with the first signal."""
        return self.victim.poll() is None

    def has_datagram(self) -> bool:
        self.udp.setblocking(False)
        try:
            return bool(self.udp.recv(100))
        except BlockingIOError:
            return False

    def close(self) -> None:
        self.victim.send_signal(signal.SIGKILL)
        self.victim.wait()
        ctypes.CDLL(None).shmctl(self.shared_memory, _IPC_RMID, None)
        self.tcp.shutdown(socket.SHUT_RDWR)
        for each in (self.tcp, self.udp, self.listener):
            each.close()
        self._greeting.join(PATIENCE_SECONDS)


def host_address() -> str:
    """An address of this machine that is not loopback, if it has one."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        with suppress(OSError):
            probe.connect(("192.0.2.1", 9))
        return str(probe.getsockname()[0])


def disk() -> tuple[int, int]:
    """The numbers of the disk that the tests are on."""
    device = Path("/").stat().st_dev
    return os.major(device), os.minor(device)
