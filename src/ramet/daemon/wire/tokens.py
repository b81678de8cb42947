"""Tokens: with one an agent's connection says whose it is, and may from then on do only what that session may.

A token is worked out from the session's number and a key that only the user can read, so nothing has to be kept for it,
and it is as good after a restart of the daemon. It is bound to the daemon's socket: another database of the same user
has sessions of the same numbers.
"""

import hashlib
import hmac
import os
import re
import secrets
from contextlib import suppress
from pathlib import Path

KEY_FILE = "agent.key"
_KEY_BYTES = 32
_TOKEN = re.compile(r"s([1-9][0-9]{0,18})\.[0-9a-f]{64}")


class Tokens:
    """Makes and checks the tokens of one daemon's sessions."""

    def __init__(self, key: bytes, socket: str) -> None:
        self._key = key
        self._socket = socket

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
    """The key of a home. It is put in place as a whole where there is none, whoever else does so at this moment."""
    path = home / KEY_FILE
    if not path.exists():
        fresh = home / f".{KEY_FILE}.{secrets.token_hex(8)}"
        descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            file.write(secrets.token_bytes(_KEY_BYTES))
        with suppress(FileExistsError):
            path.hardlink_to(fresh)
        fresh.unlink()
    return path.read_bytes()
