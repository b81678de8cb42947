"""What stands in a text in place of a secret: its kind, and enough of its hash to see that two were equal."""

import hashlib
from functools import cache

import re2

PLACEHOLDER = r"\[REDACTED:[a-z_]+:[0-9a-f]{8}\]"


def placeholder(kind: str, secret: str) -> str:
    """What replaces a secret. The same secret of the same kind always gives the same text."""
    digest = hashlib.sha256(b"ramet redaction\0" + secret.encode(errors="replace")).hexdigest()
    return f"[REDACTED:{kind}:{digest[:8]}]"


@cache
def _placeholders() -> "re2._Regexp[str]":
    return re2.compile(PLACEHOLDER)


def is_placeholder(text: str) -> bool:
    """Whether this is a placeholder and nothing else."""
    return text.startswith("[REDACTED:") and _placeholders().fullmatch(text) is not None
