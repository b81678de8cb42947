"""A screen that is drawn again and again on a terminal, until a person presses `q` or Ctrl-C."""

import select
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.live import Live

_TERMINATED = 128 + signal.SIGTERM


class Keys:
    """The keys that a person presses; none without a terminal."""

    def __init__(self, descriptor: int | None = None) -> None:
        self._descriptor = descriptor

    def wait(self, seconds: float) -> bool:
        """Wait this long; whether the person pressed `q`, which ends the wait."""
        deadline = time.monotonic() + seconds
        while (left := deadline - time.monotonic()) > 0:
            if self._descriptor is None:
                time.sleep(left)
            elif select.select([self._descriptor], [], [], left)[0] and self._is_quit():
                return True
        return False

    def _is_quit(self) -> bool:
        import os  # noqa: PLC0415

        pressed = b"" if self._descriptor is None else os.read(self._descriptor, 64)
        if not pressed:  # the terminal is gone, and nobody will press anything
            self._descriptor = None
        return b"q" in pressed.lower()


@contextmanager
def reading_keys() -> Iterator[Keys]:
    """Read keys as they are pressed, without echo. The terminal gets its mode back however this ends: by a key, by an
    exception, by Ctrl-C or by SIGTERM, which here becomes an exit.
    """
    if not sys.stdin.isatty():
        yield Keys()
        return
    import termios  # noqa: PLC0415
    import tty  # noqa: PLC0415

    descriptor = sys.stdin.fileno()
    before = termios.tcgetattr(descriptor)
    former = signal.signal(signal.SIGTERM, _exit)
    try:
        tty.setcbreak(descriptor, termios.TCSANOW)  # keeps the keys that were pressed already
        yield Keys(descriptor)
    finally:
        # At once, and what was typed and not read is dropped: the shell would take it for a command.
        termios.tcsetattr(descriptor, termios.TCSAFLUSH, before)
        signal.signal(signal.SIGTERM, former)


def _exit(*_: Any) -> None:
    raise SystemExit(_TERMINATED)


def live_screen(*, is_whole: bool = False, is_error: bool = False) -> "Live":
    """A place on the terminal that is drawn again and again; `is_whole`: the whole screen, which comes back afterwards;
    `is_error`: on standard error. Standard output is left alone: what is drawn depends on its encoding.
    """
    from rich.console import Console  # noqa: PLC0415
    from rich.live import Live  # noqa: PLC0415

    return Live(
        console=Console(highlight=False, stderr=is_error),
        auto_refresh=False,
        screen=is_whole,
        transient=not is_whole,
        vertical_overflow="ellipsis",
        redirect_stdout=False,
        redirect_stderr=False,
    )
