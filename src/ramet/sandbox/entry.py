"""The first program in a sandbox: it checks the worktree, gives up the last rights, and becomes the agent.

`bwrap` has made the namespaces and the mounts. What only a process inside can do happens here, in this order: the relay
needs to be started before the agent, and the filter is last because it would bind the relay, too. If a step fails, the
agent does not start. Only the standard library is imported.
"""

import os
import signal
import sys
from typing import NoReturn

from ramet.sandbox import syscall_filter

MARK = "ramet-sandbox: "
"""What messages of this program begin with."""
_FAILED = 126

_RESET = ("SIGINT", "SIGTERM", "SIGPIPE", "SIGXFSZ")
"""The keeper lets `bwrap` ignore the first two, which are meant for the agent; Python ignores the others."""


def command(interpreter: str, preset: str, worktree: str, identity: str) -> tuple[str, ...]:
    """The command line that runs this, before the agent's own. `identity` is what `identify` said of the worktree."""
    folder = os.path.realpath(__file__).rsplit("/", 3)[0]
    start = f"import sys; sys.path.insert(0, {folder!r}); from ramet.sandbox.entry import main; main(sys.argv[1:])"
    return (interpreter, "-I", "-S", "-c", start, preset, worktree, identity)


def identify(path: str) -> str:
    """Which folder it is, whatever its name leads to later."""
    found = os.lstat(path)
    return f"{found.st_dev}:{found.st_ino}"


def main(arguments: list[str]) -> None:
    """Become the agent: `PRESET WORKTREE IDENTITY COMMAND…`."""
    preset, worktree, identity, *program = arguments
    try:
        # Another agent may have put a link in the folder's place between the check and the mount.
        if identify(worktree) != identity:
            _fail(f"{worktree} is not the folder that it was")
        environ = {**os.environ, **(_start_relay() if preset == "strict" else {})}
        syscall_filter.apply()
    except OSError as error:
        _fail(f"a right could not be given up: {error}")
    for name in _RESET:
        signal.signal(getattr(signal, name), signal.SIG_DFL)
    try:
        os.execvpe(program[0], program, environ)  # noqa: S606 - the agent, as it was asked for
    except OSError as error:
        _fail(f"{program[0]} cannot be run inside: {error.strerror}; add what it needs to sandbox.read_paths")


def _start_relay() -> dict[str, str]:
    from ramet.sandbox import relay  # noqa: PLC0415 - most sandboxes need none, and it takes as long as all the rest

    return relay.start()


def _fail(reason: str) -> NoReturn:
    sys.stderr.write(f"{MARK}{reason}\n")
    sys.stderr.flush()
    os._exit(_FAILED)
