"""A program that tries to leave its sandbox, and says what came of it.

It reads a line `TARGETS {...}` from its prompt and prints one JSON object: by attempt, whether it got through and what
it saw. It runs inside, so it imports only the standard library. Nothing it does harms a machine without a sandbox: its
targets are the test's own files and processes, and what it opens of the system it does not write.
"""

import ctypes
import json
import os
import platform
import signal
import socket
import stat
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

LIBRARY = ctypes.CDLL(None, use_errno=True)
ATTEMPTS: dict[str, Callable[[dict[str, Any]], Any]] = {}


def attempt(function: Callable[[dict[str, Any]], Any]) -> Callable[[dict[str, Any]], Any]:
    ATTEMPTS[function.__name__] = function
    return function


NUMBERS = {
    "x86_64": {"keyctl": 250, "open_by_handle_at": 304, "bpf": 321, "io_uring_setup": 425},
    "aarch64": {"keyctl": 219, "open_by_handle_at": 265, "bpf": 280, "io_uring_setup": 425},
}


def call(name: str, *arguments: Any) -> int:
    """A system call, or the library's function of that name; raises what it fails with."""
    number = NUMBERS[platform.machine()].get(name)
    result = LIBRARY.syscall(number, *arguments) if number else getattr(LIBRARY, name)(*arguments)
    if result < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return int(result)


def aside(function: Callable[[], Any]) -> bool:
    """Whether a function succeeds, in a process of its own."""
    child = os.fork()
    if child == 0:
        try:
            function()
        except OSError:
            os._exit(1)
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def say(*command: str) -> str:
    """What a command prints; raises if it fails."""
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=30)
    if done.returncode:
        raise OSError(done.returncode, done.stderr.strip()[-200:])
    return done.stdout


# Reading what is not its own.


@attempt
def read_home(targets: dict[str, Any]) -> Any:
    return Path(targets["private"]).read_text()


@attempt
def read_other_project(targets: dict[str, Any]) -> Any:
    return Path(targets["other"], "plans.txt").read_text()


@attempt
def read_other_project_below_a_shared_folder(targets: dict[str, Any]) -> Any:
    return Path(targets["shared_project"], "plans.txt").read_text()


@attempt
def read_the_users_checkout(targets: dict[str, Any]) -> Any:
    return Path(targets["project"], ".env").read_text()


@attempt
def read_another_worktree(targets: dict[str, Any]) -> Any:
    return Path(targets["other_worktree"], "a.txt").read_text()


@attempt
def read_ramets_database(targets: dict[str, Any]) -> Any:
    return Path(targets["ramet"], "ramet.db").read_bytes()[:15].decode()


@attempt
def list_ramets_home(targets: dict[str, Any]) -> Any:
    """Every file of it but those of its own worktree and the socket for agents."""
    files = (f"{folder}/{name}" for folder, _, names in os.walk(targets["ramet"]) for name in names)
    own = (os.getcwd(), os.environ.get("RAMET_SOCKET", "none"))
    return sorted(file for file in files if not file.startswith(own))[:10]


@attempt
def read_credentials_of_another_program(targets: dict[str, Any]) -> Any:
    return Path(targets["credentials"]).read_text()


@attempt
def read_password_hashes(targets: dict[str, Any]) -> Any:
    return Path("/etc/shadow").read_text()[:10]


@attempt
def read_the_hosts_keys(targets: dict[str, Any]) -> Any:
    return [*os.listdir("/etc/ssh"), *os.listdir("/etc/ssl/private")]


@attempt
def read_through_a_link(targets: dict[str, Any]) -> Any:
    link = Path("link-to-secret")
    link.symlink_to(targets["private"])
    return link.read_text()


@attempt
def read_through_the_root_of_a_process(targets: dict[str, Any]) -> Any:
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        for way in ("root", "cwd"):
            try:
                found.append(Path(f"/proc/{pid}/{way}{targets['private']}").read_text())
            except OSError:
                continue
    return found


@attempt
def list_folders_of_the_machine(targets: dict[str, Any]) -> Any:
    known = {*("bin", "sbin", "lib", "lib32", "lib64", "libx32", "usr", "opt", "nix", "etc", "proc", "dev", "tmp")}
    return sorted({*os.listdir("/")} - known - set(targets["expected_folders"]))


# Writing what is not its own. The test looks at the files afterwards.


def _new(path: str, text: str | None) -> str:
    """The name of a new file beside another, or of a link."""
    made = Path(f"{path}.evil")
    if text is None:
        made.symlink_to("/dev/null")
    else:
        made.write_text(text)
    return made.name


def overwrite(path: str, wanted: list[str] | None) -> str:
    """Write a file in every way that there is, or in those that are wanted; the ways that worked."""
    ways = []
    folder = os.path.dirname(path)
    for name, way in (
        ("open", lambda: Path(path).open("a").write("evil\n")),
        ("replace", lambda: Path(path).with_name(_new(path, "evil\n")).replace(path)),
        ("unlink", lambda: Path(path).unlink()),
        ("rename", lambda: os.rename(path, f"{path}.away")),
        ("link", lambda: Path(path).with_name(_new(path, None)).replace(path)),
        ("folder", lambda: os.rename(folder, f"{folder}.away")),
        ("chmod", lambda: os.chmod(path, 0o777)),
    ):
        try:
            if wanted is None or name in wanted:
                way()
                ways.append(name)
        except OSError:
            continue
    return ",".join(ways)


@attempt
def write_files_of_the_repository(targets: dict[str, Any]) -> Any:
    written = {path: overwrite(path, targets["ways"]) for path in targets["repository_files"]}
    return {path: ways for path, ways in written.items() if ways}


@attempt
def write_elsewhere(targets: dict[str, Any]) -> Any:
    """Files of the home count only outside: inside, a home of its own can be written."""
    for path in targets["outside_files"]:
        overwrite(path, targets["ways"])
    return [path for path in targets["system_files"] if aside(lambda: Path(path).write_text("evil"))]  # noqa: B023


@attempt
def lead_git_to_another_repository(targets: dict[str, Any]) -> Any:
    """By the files of its own worktree that say which repository it belongs to, or configure it."""
    own = say("git", "rev-parse", "--git-dir").strip()
    paths = [".git", *(f"{own}/{name}" for name in ("commondir", "gitdir", "config.worktree"))]
    ways = ("open", "replace", "unlink", "rename", "link", "chmod")
    return {path: got for path in paths if (got := overwrite(path, list(ways)))}


@attempt
def configure_the_repository(targets: dict[str, Any]) -> Any:
    return say("git", "config", "--local", "core.pager", "evil") or "done"


@attempt
def configure_the_worktree(targets: dict[str, Any]) -> Any:
    return say("git", "config", "--worktree", "core.pager", "evil") or "done"


@attempt
def move_another_branch(targets: dict[str, Any]) -> Any:
    return say("git", "update-ref", "refs/heads/main", "HEAD~1") or "done"


@attempt
def move_the_branch_of_another_agent(targets: dict[str, Any]) -> Any:
    """Its copy of the folder may take the ref; the test looks at the real one."""
    subprocess.run(["git", "update-ref", "refs/heads/ramet/e99", "HEAD"], check=False)


@attempt
def borrow_objects_of_another_repository(targets: dict[str, Any]) -> Any:
    say("sh", "-c", f"echo {targets['other']}/.git/objects >> {targets['common']}/objects/info/alternates")
    return say("git", "cat-file", "-p", targets["other_commit"])


@attempt
def link_a_file_into_the_worktree(targets: dict[str, Any]) -> Any:
    got = []
    for path in (targets["common"] + "/config", "/etc/passwd", targets["common"] + "/HEAD", sys.argv[0]):
        try:
            os.link(path, "hard-link")
        except OSError:
            continue
        got.append(path)
        os.unlink("hard-link")
    return got


# Other processes.


@attempt
def see_other_processes(targets: dict[str, Any]) -> Any:
    marks = (targets["mark"], "ramet.daemon", "ramet.keeper")
    return [words for words in read_of_all("cmdline") if any(mark in words for mark in marks)]


def read_of_all(name: str) -> list[str]:
    """A file of every process."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        with suppress(OSError):
            found.append(Path(f"/proc/{pid}/{name}").read_bytes().decode(errors="replace"))
    return found


@attempt
def signal_another_process(targets: dict[str, Any]) -> Any:
    os.kill(targets["victim"], signal.SIGUSR1)
    return "sent"


@attempt
def trace_another_process(targets: dict[str, Any]) -> Any:
    return call("ptrace", 0x4206, targets["victim"], 0, 0) == 0


@attempt
def trace_the_first_process(targets: dict[str, Any]) -> Any:
    return call("ptrace", 0x4206, 1, 0, 0) == 0


@attempt
def read_a_foreign_environment(targets: dict[str, Any]) -> Any:
    text = "\0".join(read_of_all("environ"))
    return [name for name in ("SSH_AUTH_SOCK", "HIDDEN_VARIABLE", targets["socket"]) if name in text]


@attempt
def use_shared_memory_of_the_host(targets: dict[str, Any]) -> Any:
    return int(LIBRARY.shmget(targets["shared_memory"], 0, 0)) >= 0


@attempt
def keep_descriptors_of_the_keeper(targets: dict[str, Any]) -> Any:
    return [number for number in range(3, 256) if _is_open(number)]


def _is_open(number: int) -> bool:
    try:
        os.fstat(number)
    except OSError:
        return False
    return True


@attempt
def use_a_terminal(targets: dict[str, Any]) -> Any:
    return os.open("/dev/tty", os.O_RDWR)


# Sockets.


@attempt
def reach_the_control_socket(targets: dict[str, Any]) -> Any:
    connection = socket.socket(socket.AF_UNIX)
    connection.connect(targets["socket"])
    return "connected"


@attempt
def reach_an_abstract_socket(targets: dict[str, Any]) -> Any:
    connection = socket.socket(socket.AF_UNIX)
    connection.connect("\0" + targets["abstract"])
    return "connected"


@attempt
def reach_the_host_of_the_machine(targets: dict[str, Any]) -> Any:
    return [family for family in (31, 38, 40, 42, 29, 17) if _opens(family)]


def _opens(family: int) -> bool:
    try:
        socket.socket(family, socket.SOCK_STREAM).close()
    except OSError:
        return False
    return True


@attempt
def reach_the_hosts_network(targets: dict[str, Any]) -> Any:
    with socket.create_connection(("127.0.0.1", targets["tcp"]), 5) as connection:
        return connection.recv(100).decode()


@attempt
def reach_an_address_of_the_host(targets: dict[str, Any]) -> Any:
    with socket.create_connection((targets["host_address"], targets["tcp"]), 5) as connection:
        return connection.recv(100).decode()


@attempt
def send_a_datagram(targets: dict[str, Any]) -> Any:
    """The test listens for it."""
    sender = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    return sender.sendto(b"out", ("127.0.0.1", targets["udp"])) and None


@attempt
def send_a_datagram_to_the_world(targets: dict[str, Any]) -> Any:
    sender = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    return sender.sendto(b"out", ("192.0.2.1", 53))


@attempt
def send_a_datagram_over_the_other_protocol(targets: dict[str, Any]) -> Any:
    sender = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)
    return sender.sendto(b"out", ("2001:db8::1", 53))


@attempt
def open_a_raw_socket(targets: dict[str, Any]) -> Any:
    return socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP).fileno()


@attempt
def resolve_a_name(targets: dict[str, Any]) -> Any:
    return socket.getaddrinfo("example.org", 80)


# The kernel.


@attempt
def have_capabilities(targets: dict[str, Any]) -> Any:
    status = dict(line.split(":\t", 1) for line in say("cat", "/proc/self/status").splitlines() if ":\t" in line)
    return [name for name in ("CapEff", "CapPrm", "CapBnd", "CapAmb") if int(status[name], 16)]


@attempt
def gain_rights_by_setuid(targets: dict[str, Any]) -> Any:
    status = Path("/proc/self/status").read_text()
    mounts = [line.split() for line in Path("/proc/self/mounts").read_text().splitlines()]
    loose = [fields[1] for fields in mounts if "nosuid" not in fields[3].split(",")]
    return loose if "NoNewPrivs:\t1" in status else [*loose, "new privileges"]


@attempt
def write_kernel_settings(targets: dict[str, Any]) -> Any:
    opened = []
    for path in ("/proc/sys/kernel/core_pattern", "/proc/sys/kernel/modprobe", "/proc/sysrq-trigger", "/proc/1/mem"):
        try:
            os.close(os.open(path, os.O_WRONLY))
        except OSError:
            continue
        opened.append(path)
    return opened


@attempt
def mount_something(targets: dict[str, Any]) -> Any:
    os.makedirs("/tmp/mount", exist_ok=True)
    return aside(lambda: call("mount", b"none", b"/tmp/mount", b"tmpfs", 0, None))


@attempt
def remount_something_writable(targets: dict[str, Any]) -> Any:
    return aside(lambda: call("mount", None, b"/usr", None, 32 | 4096, None))


@attempt
def unmount_a_cover(targets: dict[str, Any]) -> Any:
    return aside(lambda: call("umount2", b"/proc", 2))


@attempt
def make_a_user_namespace(targets: dict[str, Any]) -> Any:
    return aside(lambda: call("unshare", 0x10000000))


@attempt
def enter_another_namespace(targets: dict[str, Any]) -> Any:
    kinds = ("mnt", "pid", "net", "user")
    return [kind for kind in kinds if aside(lambda: call("setns", os.open(f"/proc/1/ns/{kind}", os.O_RDONLY), 0))]  # noqa: B023


@attempt
def make_a_device(targets: dict[str, Any]) -> Any:
    os.mknod("/tmp/disk", stat.S_IFBLK | 0o600, os.makedev(*targets["disk"]))
    return os.open("/tmp/disk", os.O_RDONLY)


@attempt
def change_the_root(targets: dict[str, Any]) -> Any:
    return aside(lambda: os.chroot("/tmp"))


@attempt
def use_io_uring(targets: dict[str, Any]) -> Any:
    return call("io_uring_setup", 1, ctypes.create_string_buffer(256))


@attempt
def use_the_users_key_rings(targets: dict[str, Any]) -> Any:
    return call("keyctl", 0, -3, 0)


@attempt
def open_a_file_by_its_handle(targets: dict[str, Any]) -> Any:
    handle = ctypes.create_string_buffer(b"\x08\0\0\0\x01\0\0\0\x02\0\0\0\0\0\0\0", 136)
    return call("open_by_handle_at", os.open("/usr", os.O_RDONLY), handle, 0)


@attempt
def load_a_kernel_program(targets: dict[str, Any]) -> Any:
    return call("bpf", 0, ctypes.create_string_buffer(128), 128)


# What it may do.


@attempt
def commit_in_the_worktree(targets: dict[str, Any]) -> Any:
    Path("note.txt").write_text("blue\n")
    say("git", "add", "note.txt")
    say("git", "commit", "-qm", "note")
    return say("git", "log", "-1", "--format=%s %an").strip()


@attempt
def know_its_branch(targets: dict[str, Any]) -> Any:
    return say("git", "branch", "--show-current").strip()


@attempt
def call_ramet(targets: dict[str, Any]) -> Any:
    """As itself, on the socket for agents."""
    hello = {"jsonrpc": "2.0", "id": 1, "method": "daemon.hello", "params": {"token": os.environ["RAMET_TOKEN"]}}
    with socket.socket(socket.AF_UNIX) as connection:
        connection.settimeout(30)
        connection.connect(os.environ["RAMET_SOCKET"])
        connection.sendall(json.dumps(hello).encode() + b"\n")
        return json.loads(connection.makefile().readline())["result"]["principal"]


@attempt
def read_a_listed_tool(targets: dict[str, Any]) -> Any:
    return Path(targets["tool"]).read_text()


@attempt
def write_a_private_tmp_and_home(targets: dict[str, Any]) -> Any:
    for folder in ("/tmp", os.environ["HOME"]):
        Path(folder, "scratch").write_text("mine")
    return "done"


def main() -> None:
    told = next(line for line in sys.stdin.read().splitlines() if "TARGETS" in line)
    targets = json.loads(told[told.index("{") :])
    found = {}
    for name in targets.get("attempts") or ATTEMPTS:
        try:
            got = ATTEMPTS[name](targets)
            found[name] = {"got": got} if got else {"got": None, "why": "nothing"}
        except Exception as error:  # noqa: BLE001 - whatever stops it, stops it
            found[name] = {"got": None, "why": f"{type(error).__name__}: {error}"}
    print(json.dumps(found, default=str))


if __name__ == "__main__":
    main()
