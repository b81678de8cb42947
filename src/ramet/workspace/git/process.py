"""Starting git: one process, in a bounded time, and an end for everything that it started."""

import os
import signal
import subprocess
import tempfile
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import IO, NamedTuple

from ramet.errors import GitFailed

_SAID_BYTES = 100_000


class Done(NamedTuple):
    """How git ended, and what it printed."""

    status: int
    out: bytes
    said: str


class Sample(NamedTuple):
    """The first bytes that git printed."""

    status: int
    out: bytes
    said: str
    is_cut: bool
    """Whether it had more to print, and was ended."""


def execute(
    arguments: Sequence[str], environ: Mapping[str, str], stdin: bytes, timeout_seconds: float, name: str = "git"
) -> Done:
    """Run git with these arguments and exactly this environment. `name` is for the error."""
    process = _start(arguments, environ, stdin=subprocess.PIPE, stderr=subprocess.PIPE)
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


def sample(
    arguments: Sequence[str], environ: Mapping[str, str], timeout_seconds: float, most_bytes: int, name: str = "git"
) -> Sample:
    """Run git as `execute` does, but read no more than so many bytes of what it prints."""
    with tempfile.TemporaryFile() as said:
        process = _start(arguments, environ, stdin=subprocess.DEVNULL, stderr=said)
        has_expired = threading.Event()

        def expire() -> None:
            has_expired.set()
            _end(process)

        timer = threading.Timer(timeout_seconds, expire)
        timer.start()
        with process:
            assert process.stdout is not None  # noqa: S101
            try:
                out = process.stdout.read(most_bytes + 1)
                if len(out) > most_bytes:
                    _end(process)
                process.wait()
            except BaseException:
                _end(process)
                raise
            finally:
                timer.cancel()
        if has_expired.is_set():
            raise GitFailed(f"{name} took longer than {timeout_seconds:g} seconds")
        said.seek(0)
        text = said.read(_SAID_BYTES).decode(errors="backslashreplace").strip()
    return Sample(process.returncode, out[:most_bytes], text, is_cut=len(out) > most_bytes)


def _start(
    arguments: Sequence[str], environ: Mapping[str, str], *, stdin: int, stderr: int | IO[bytes]
) -> "subprocess.Popen[bytes]":
    try:
        return subprocess.Popen(
            ["git", *arguments],  # noqa: S607  the git that the user has
            env=environ,
            stdin=stdin,
            stdout=subprocess.PIPE,
            stderr=stderr,
            start_new_session=True,
        )
    except FileNotFoundError:
        raise GitFailed("git is not installed, or not in PATH", fix="install git 2.32 or newer") from None
    except OSError as error:
        raise GitFailed(f"git could not be started: {error.strerror}", fix="try again when less runs") from error


def _end(process: "subprocess.Popen[bytes]") -> None:
    """End git and the filters that it started; what they hold open would keep us waiting."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
