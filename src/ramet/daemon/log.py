"""The daemon's log: one line per record, in UTC, in a file that only its user can read.

It says what happened to the daemon, never what it was asked: no content, no parameters, no secrets. That is also
why a traceback shows where an error came from and of which kind it is, but not its message, which may quote a
request.
"""

import logging
import os
import traceback
from io import TextIOWrapper
from logging.handlers import RotatingFileHandler
from pathlib import Path

from ramet.config.places import make_private
from ramet.config.settings import DaemonSettings
from ramet.errors import DaemonFailed
from ramet.model.instant import to_iso
from ramet.model.redaction import Redactor

_LOGGERS = ("ramet", "asyncio")


class LineFormatter(logging.Formatter):
    """`2026-11-15T08:14:02.123Z INFO daemon started pid=7`, on one line whatever is in it, without secrets."""

    def __init__(self, redactor: Redactor) -> None:
        super().__init__()
        self._redactor = redactor

    def format(self, record: logging.LogRecord) -> str:
        line = f"{to_iso(int(record.created * 1000))} {record.levelname} {record.getMessage()}"
        if record.exc_info and record.exc_info[1] is not None:
            line = f"{line} {describe_error(record.exc_info[1])}"
        return self._redactor.redact(" | ".join(part.strip() for part in line.splitlines())).text


def describe_error(error: BaseException) -> str:
    """Where an error came from and of which kind it is, without its message."""
    frames = traceback.extract_tb(error.__traceback__)
    steps = " < ".join(f"{frame.name} {Path(frame.filename).name}:{frame.lineno}" for frame in reversed(frames))
    return f"error={type(error).__name__} at {steps}" if steps else f"error={type(error).__name__}"


class PrivateFileHandler(RotatingFileHandler):
    """A rotated file of mode 0600, whatever the umask."""

    def _open(self) -> TextIOWrapper:
        return open(self.baseFilename, "a", encoding=self.encoding, errors=self.errors, opener=_open_private)


def _open_private(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK, 0o600)


def open_log(path: Path, settings: DaemonSettings, redactor: Redactor) -> PrivateFileHandler:
    """Send the daemon's records to the file, which is made with the first of them."""
    make_private(path.parent)
    if path.is_symlink() or (path.exists() and not path.is_file()):
        raise DaemonFailed(
            f"the log {path} is not a regular file, and a link is not followed",
            value=str(path),
            fix=f"remove it: rm {path}",
        )
    handler = PrivateFileHandler(
        path,
        maxBytes=settings.log_max_bytes,
        backupCount=settings.log_files,
        encoding="utf-8",
        errors="backslashreplace",
        delay=True,
    )
    handler.setFormatter(LineFormatter(redactor))
    for name in _LOGGERS:
        logger = logging.getLogger(name)
        logger.setLevel(logging.INFO)
        logger.propagate = False
        logger.addHandler(handler)
    return handler


def close_log(handler: PrivateFileHandler) -> None:
    """Let go of the file."""
    for name in _LOGGERS:
        logging.getLogger(name).removeHandler(handler)
    handler.close()
