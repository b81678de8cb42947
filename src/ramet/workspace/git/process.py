"""Starting git: one process, in a bounded time, and an end for everything that it started."""

import os
import signal
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import NamedTuple

from ramet.errors import GitFailed


class Done(NamedTuple):
    """How git ended, and what it printed."""

    status: int
    out: bytes
    said: str


def execute(
    arguments: Sequence[str], environ: Mapping[str, str], stdin: bytes, timeout_seconds: float, name: str = "git"
) -> Done:
    """Run git with these arguments and exactly this environment. `name` is for the error."""
    try:
        process = subprocess.Popen(
            ["git", *arguments],  # noqa: S607  the git that the user has
            env=environ,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
    except FileNotFoundError:
        raise GitFailed("git is not installed, or not in PATH", fix="install git 2.32 or newer") from None
    except OSError as error:
        raise GitFailed(f"git could not be started: {error.strerror}", fix="try again when less runs") from error
    with process:
        try:
            out, said = process.communicate(stdin, timeout_seconds)
        except subprocess.TimeoutExpired:
            _end(process)
            raise GitFailed(f"{name} took longer than {timeout_seconds:g} seconds") from None
        except BaseException:
            _end(process)
            raise
    return Done(process.returncode, out, said.decode(errors="backslashreplace").strip())


def _end(process: "subprocess.Popen[bytes]") -> None:
    """End git and the filters that it started; what they hold open would keep us waiting."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
