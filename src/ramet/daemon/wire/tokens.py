"""Tokens: with one an agent's connection says whose it is, and may from then on do only what that session may.

A token is computed from the session's number and a key that only the user can read, so nothing has to be kept for it,
and it is as good after a restart of the daemon. It is bound to the daemon's socket: another database of the same user
has sessions of the same numbers. It ends with its session, which the engine checks, and when the key is replaced.
"""

import hashlib
import hmac
import os
import re
import secrets
import stat
from contextlib import suppress
from pathlib import Path
from typing import Self

from ramet.errors import KeyUnsafe

KEY_FILE = "agent.key"
_KEY_BYTES = 32
_TOKEN = re.compile(r"s([1-9][0-9]{0,18})\.[0-9a-f]{64}")


class Tokens:
    """Makes and checks the tokens of one daemon's sessions."""

    def __init__(self, key: bytes, socket: str, home: Path | None = None) -> None:
        """`home` has the key's file, if the key may be replaced."""
        self._key = key
        self._socket = socket
        self._home = home

    @classmethod
    def of_home(cls, home: Path, socket: str) -> Self:
        """With the key of a home."""
        return cls(read_key(home), socket, home)

    def rotate(self) -> None:
        """Make another key: no token that was made before is valid any more."""
        assert self._home is not None  # noqa: S101
        remove_key(self._home)
        self._key = read_key(self._home)

    def make(self, session_id: int) -> str:
        """The token of a session. The same every time."""
        said = f"{self._socket}\n{session_id}".encode(errors="surrogateescape")
        return f"s{session_id}.{hmac.new(self._key, said, hashlib.sha256).hexdigest()}"

    def check(self, token: str) -> int | None:
        """The session whose token it is; None where it is nobody's."""
        match = _TOKEN.fullmatch(token)
        if match is None or not hmac.compare_digest(self.make(int(match[1])), token):
            return None
        return int(match[1])


def read_key(home: Path) -> bytes:
    """The key of a home. It is put in place as a whole where there is none, whoever else does so at this moment. A key
    that another user may have read or written is refused.
    """
    path = home / KEY_FILE
    if not os.path.lexists(path):
        _make_key(path)
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError as error:
        raise _unsafe(path, f"cannot be read: {error.strerror}") from error
    with os.fdopen(descriptor, "rb") as file:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode) or status.st_uid != os.getuid():
            raise _unsafe(path, "is not a file of yours")
        if status.st_mode & 0o077:
            raise _unsafe(path, f"has mode {stat.S_IMODE(status.st_mode):04o}, so that other users may know it")
        key = file.read(_KEY_BYTES + 1)
    if len(key) != _KEY_BYTES:
        raise _unsafe(path, f"has {status.st_size} bytes instead of {_KEY_BYTES}")
    return key


def remove_key(home: Path) -> None:
    """Let the next daemon make another one."""
    (home / KEY_FILE).unlink(missing_ok=True)


def _make_key(path: Path) -> None:
    fresh = path.with_name(f".{KEY_FILE}.{secrets.token_hex(8)}")
    descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(secrets.token_bytes(_KEY_BYTES))
    with suppress(FileExistsError):
        path.hardlink_to(fresh)
    fresh.unlink()


def _unsafe(path: Path, why: str) -> KeyUnsafe:
    return KeyUnsafe(
        f"{path} {why}", field="key", value=str(path), fix=f"remove it, and another key is made: rm {path}"
    )
