"""The program at each hook of an agent: it hands the payload to the daemon, and prints the answer.

It runs twice for every tool call of every agent, so its cost is what matters. It imports only what the interpreter
has built in and its own socket module, and nothing of Ramet; it carries the payload without reading it. The program
that calls it (`ramet.hooks.program`) runs under `python -I -S`.

If anything fails, the agent continues: no output, status 0, and one line in the file of gaps, from which the daemon
learns what it missed. When a context begins or is compacted, a daemon that is away is started and waited for. Only if
the user wants that (`hooks.on_daemon_down: block`) is a tool call refused while no daemon answers.
"""

import posix
import sys
import time
from _signal import ITIMER_REAL, SIGALRM, setitimer, signal  # type: ignore[import-not-found]

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import NoReturn

_CHUNK_BYTES = 1 << 16
_MOST_BYTES = 1 << 20
"""Of a longer payload only the start is sent, which says what it is about."""
_LONGEST_ANSWER = 1 << 24
_HEAD_BYTES = 1 << 12
_GAPS_BYTES = 1 << 20
"""A longer file of gaps gets no more of them."""
_RESTART_SECONDS = 10
"""The daemon is not started again sooner than this: many agents miss it at once."""

_TICK_SECONDS = 0.02
"""How often a daemon that is starting is asked."""

_SLOW = (b"SessionStart", b"PreCompact")
"""Hooks that read or write much, and have the longer deadline. They wait for a daemon that is started meanwhile."""
_REFUSABLE = (b"PreToolUse", b"UserPromptSubmit")
"""Hooks at which status 2 blocks the agent; at others it would do harm, as at the end of a turn."""
_TOLD = (b"hook_event_name", b"session_id", b"transcript_path", b"cwd", b"agent_id", b"source")
"""What the line about a gap repeats of the payload."""
_OURS = b"RAMET_"
"""The prefixes of variables that concern one agent or one project, and not the daemon of all of them."""
_PRINTABLE = b" " * 32 + bytes(range(32, 256))
_LONGEST_NAME = 200
_CREATE = posix.O_WRONLY | posix.O_CREAT | posix.O_CLOEXEC | posix.O_NOFOLLOW | posix.O_NONBLOCK
"""Nothing is written through a link, and nothing waits for the other end of a pipe."""


_HELLO = b'{"jsonrpc":"2.0","id":0,"method":"daemon.hello","params":{"token":%s}}\n'
"""What an agent that Ramet started says first: its socket lets in nobody without a token."""


class _Late(Exception):
    """The deadline has passed."""


class _Refused(Exception):
    """The daemon answers, but not to this."""


def main(
    home: str,
    socket: str,
    start: "tuple[str, ...]",
    deadline_seconds: float,
    start_deadline_seconds: float,
    on_daemon_down: str,
) -> "NoReturn":
    """Ask, answer, and end the process. `start` is the command that starts the daemon; empty if it should not be
    started.
    """
    status = 0
    try:
        signal(SIGALRM, _give_up)
        setitimer(ITIMER_REAL, deadline_seconds)
        status = _pass_on(home, socket, start, start_deadline_seconds, on_daemon_down == "block")
    finally:
        posix._exit(status)  # whatever has happened, and without the time that an interpreter takes to clean up


def _pass_on(home: str, socket: str, start: "tuple[str, ...]", start_deadline_seconds: float, is_blocking: bool) -> int:
    vendor = sys.argv[1] if len(sys.argv) > 1 and sys.argv[1].isidentifier() else "unknown"
    environ: Mapping[bytes, bytes] = posix.environ
    own = socket.encode(errors="surrogateescape")
    path = environ.get(b"RAMET_SOCKET") or own
    payload = bytearray()
    try:
        _read(payload)
        request = _request(vendor, payload, environ)
        if _pick(payload, b"hook_event_name") in _SLOW:
            setitimer(ITIMER_REAL, start_deadline_seconds)
            line = _ask_patiently(path, request, home, start if path == own else (), environ)
        else:
            line = _ask(path, request)
        output, status = _answer(line)
        setitimer(ITIMER_REAL, 0)
        _write(1, output)
    except _Late:
        why = b"slow"
    except _Refused:
        why = b"refused"
    except OSError:
        why = b"down"
    else:
        return status
    setitimer(ITIMER_REAL, 0)
    if path == own:  # another daemon knows by itself what the agents do that it runs
        _note(home, vendor, payload, why)
        if why == b"down":
            _start(home, start, environ)
    return _refuse(payload) if why == b"down" and is_blocking else 0


def _give_up(*_: object) -> None:
    raise _Late


def _read(payload: bytearray) -> None:
    """Read to the end, and keep what may be sent. If nothing can be read, the payload is empty."""
    try:
        while chunk := posix.read(0, _CHUNK_BYTES):
            if len(payload) <= _MOST_BYTES:
                payload += chunk
    except OSError:
        pass


def _write(descriptor: int, data: bytes) -> None:
    """The process that started us may be gone, and then nothing reads it."""
    try:
        while data:
            data = data[posix.write(descriptor, data) :]
    except OSError:
        pass


def _request(vendor: str, payload: bytearray, environ: "Mapping[bytes, bytes]") -> bytes:
    """The payload travels as a text, so that one that is broken breaks nothing."""
    if len(payload) > _MOST_BYTES:
        payload = payload[:_HEAD_BYTES]
    token = environ.get(b"RAMET_TOKEN", b"") if environ.get(b"RAMET_SOCKET") else b""
    parts = [
        _HELLO % _quote(token) if token else b"",
        b'{"jsonrpc":"2.0","id":1,"method":"hooks.event","params":{"vendor":"%s"' % vendor.encode(),
        b',"pid":%s' % (_program(environ) or b"%d" % posix.getppid()),
    ]
    if 0 < len(agent := environ.get(b"RAMET_AGENT", b"")) <= _LONGEST_NAME:
        parts.append(b',"agent":' + _quote(agent))
    if _is_number(session := environ.get(b"RAMET_SESSION", b""), 15):
        parts.append(b',"session":' + session)
    parts.append(b',"payload":%s}}\n' % _quote(payload))
    return b"".join(parts)


def _program(environ: "Mapping[bytes, bytes]") -> bytes:
    """The pid of the program whose hook this is, if it says so; we may have been started by a shell of it."""
    pid = environ.get(b"CLAUDE_PID", b"")
    return pid if _is_number(pid, 9) else b""


def _is_number(text: bytes, digits: int) -> bool:
    return text.isdigit() and len(text) <= digits and text[:1] != b"0"


def _quote(text: "bytes | bytearray") -> bytes:
    """A text as JSON. Control characters occur in JSON only between its tokens, where a blank means the same."""
    text = text.translate(_PRINTABLE).replace(b"\\", b"\\\\").replace(b'"', b'\\"')
    return b'"' + text.decode("utf-8", "replace").encode() + b'"'


def _ask(path: bytes, request: bytes) -> bytes:
    """The line that the daemon answers with."""
    from _socket import AF_UNIX, SOCK_STREAM, socket  # noqa: PLC0415 - read first: the agent waits for neither

    if not _is_ours(path):
        raise OSError("other users can write to the socket's directory")
    connection = socket(AF_UNIX, SOCK_STREAM)
    connection.connect(path)
    connection.sendall(request)
    answer, lines = bytearray(), request.count(b"\n")
    while chunk := connection.recv(_CHUNK_BYTES):
        answer += chunk
        if chunk.endswith(b"\n") and answer.count(b"\n") == lines:
            return bytes(answer).splitlines(keepends=True)[-1]
        if len(answer) > _LONGEST_ANSWER:
            raise _Refused
    raise OSError("the daemon closed the connection")


def _ask_patiently(
    path: bytes, request: bytes, home: str, start: "tuple[str, ...]", environ: "Mapping[bytes, bytes]"
) -> bytes:
    """The same; a daemon that is away is started and waited for, until the deadline: an agent whose context begins
    would not be told its rules otherwise.
    """
    try:
        return _ask(path, request)
    except OSError:
        if not start:
            raise
    starter = 0
    try:
        while True:
            # Another hook may have started it a moment ago, and then it is not our turn yet.
            starter = starter or _start(home, start, environ)
            time.sleep(_TICK_SECONDS)
            try:
                return _ask(path, request)
            except OSError:
                if starter:
                    ended, status = posix.waitpid(starter, posix.WNOHANG)
                    if ended and status:
                        raise  # it could not be started
                    starter = 0 if ended else starter
    except _Late:
        raise OSError("no daemon came in time") from None


def _is_ours(path: bytes) -> bool:
    """Whether no other user can have put the socket there, and would receive and answer all that the agent does."""
    folder = posix.stat(path.rpartition(b"/")[0] or b".")
    return folder.st_uid in (posix.getuid(), 0) and not folder.st_mode & 0o022


def _answer(line: bytes) -> "tuple[bytes, int]":
    """What is to be printed, exactly as the daemon wrote it, and the status. A text has nothing in it to unquote."""
    before, found, rest = line.partition(b'"result":{"output":')
    output, ends, status = rest.rpartition(b',"status":')
    status = status.rstrip(b"}\n")
    if not (found and ends and status.isdigit() and len(status) < 4 and before == b'{"jsonrpc":"2.0","id":1,'):
        raise _Refused
    if output[:1] == b'"':
        output = output[1:-1]
    return b"" if output == b"null" else output + b"\n", int(status)


# When there is no answer.


def _note(home: str, vendor: str, payload: bytearray, why: bytes) -> None:
    """Leave a line that says what the daemon missed. One write, so that lines of many agents do not mix."""
    parts = [b'{"at":%d,"vendor":"%s","why":"%s"' % (time.time(), vendor.encode(), why)]
    if pid := _program(posix.environ):
        parts.append(b',"pid":' + pid)
    told = ((name, _pick(payload, name)) for name in _TOLD)
    parts.extend(b',"%s":%s' % (name, _quote(value)) for name, value in told if value)
    try:
        gaps = posix.open(home + "/gaps.jsonl", _CREATE | posix.O_APPEND, 0o600)
        if posix.fstat(gaps).st_size < _GAPS_BYTES:
            posix.write(gaps, b"".join(parts) + b"}\n")
        posix.close(gaps)  # it may have the number of a closed stderr
    except OSError:
        pass


def _pick(payload: bytearray, name: bytes) -> bytes:
    """The text of a field, as it is in the payload's start; nothing if it is not plain text."""
    _, found, rest = bytes(payload[:_HEAD_BYTES]).partition(b'"%s"' % name)
    rest = rest.lstrip(b" \t\r\n")
    if not found or rest[:1] != b":" or (rest := rest[1:].lstrip(b" \t\r\n"))[:1] != b'"':
        return b""
    value, ends, _ = rest[1:].partition(b'"')
    return value if ends and b"\\" not in value else b""


def _refuse(payload: bytearray) -> int:
    _write(2, b"the Ramet daemon does not answer, and hooks.on_daemon_down is block: run `ramet daemon start`\n")
    return 2 if _pick(payload, b"hook_event_name") in _REFUSABLE else 1


def _start(home: str, command: "tuple[str, ...]", environ: "Mapping[bytes, bytes]") -> int:
    """Start the daemon, detached from us and from the agent: a session of its own and none of our descriptors. It is
    the daemon of all projects, so it starts in none of them, and of our variables it has only its home. Returns the pid
    of what starts it; 0 if that is not us.
    """
    if not command or not _is_first(home + "/hook.started"):
        return 0
    try:
        if pid := posix.fork():
            return pid
    except OSError:
        return 0
    try:
        posix.setsid()
        posix.chdir("/")
        nowhere = posix.open("/dev/null", posix.O_RDWR)
        for descriptor in (0, 1, 2):
            posix.dup2(nowhere, descriptor)
        inherited = {name: environ[name] for name in environ if not name.startswith(_OURS)}
        posix.execve(command[0], command, {**inherited, b"RAMET_HOME": home.encode(errors="surrogateescape")})
    finally:
        posix._exit(127)


def _is_first(marker: str) -> bool:
    """Whether no other process has just done it."""
    try:
        if time.time() - posix.stat(marker).st_mtime < _RESTART_SECONDS:
            return False
    except OSError:
        pass
    try:
        posix.close(posix.open(marker, _CREATE, 0o600))
        posix.utime(marker)
    except OSError:
        return False
    return True
