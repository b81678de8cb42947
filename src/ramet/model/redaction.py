"""Secrets are taken out of a text before it is hashed and stored, so that no address ever depends on one.

The patterns are matched in linear time (RE2): this runs on everything that every agent says. A placeholder names
the kind of secret and eight digits of its hash, so that equal secrets stay recognisably equal.
"""

import hashlib
from typing import NamedTuple

import re2

_PATTERNS: dict[str, str] = {
    "private_key": r"-----BEGIN [A-Z ]*PRIVATE KEY-----[A-Za-z0-9+/=\s\\n]*-----END [A-Z ]*PRIVATE KEY-----",
    "anthropic": r"\bsk-ant-[A-Za-z0-9_-]{20,}",
    "openai": r"\bsk-(?:proj-|svcacct-|admin-)?[A-Za-z0-9_-]{32,}",
    "github": r"\b(?:gh[pousr]_[A-Za-z0-9]{36,}|github_pat_[A-Za-z0-9_]{50,})",
    "gitlab": r"\bglpat-[A-Za-z0-9_-]{20,}",
    "aws": r"\b(?:AKIA|ASIA)[A-Z0-9]{16}\b",
    "google": r"\bAIza[A-Za-z0-9_-]{35}",
    "slack": r"\bxox[abeoprs]-[A-Za-z0-9-]{10,}",
    "stripe": r"\b[rs]k_(?:live|test)_[A-Za-z0-9]{20,}",
    "npm": r"\bnpm_[A-Za-z0-9]{36}",
    "pypi": r"\bpypi-[A-Za-z0-9_-]{50,}",
    "jwt": r"\beyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}",
    "url_password": r"\b[a-z][a-z0-9+.-]{1,20}://[^\s/:@'\"]{0,100}:[^\s/@'\"]{1,200}@",
}

_PLACEHOLDER = re2.compile(r"\[REDACTED:[a-z_]+:[0-9a-f]{8}\]")


class Redacted(NamedTuple):
    """A text without its secrets, and how many there were."""

    text: str
    secrets: int


class Redactor:
    """Replaces what looks like a secret by a stable placeholder."""

    def __init__(self) -> None:
        self._kinds = tuple(_PATTERNS)
        self._pattern = re2.compile("|".join(f"({pattern})" for pattern in _PATTERNS.values()))

    def redact(self, text: str) -> Redacted:
        """The text with each secret replaced."""
        if self._pattern.search(text) is None:
            return Redacted(text, 0)
        replaced, count = self._pattern.subn(self._placeholder, text)
        return Redacted(replaced, count)

    def _placeholder(self, match: "re2._Match[str]") -> str:
        kind = next(name for name, group in zip(self._kinds, match.groups(), strict=True) if group is not None)
        secret = match.group()
        if kind == "url_password":
            before, _, password = secret[:-1].partition("://")[2].partition(":")
            scheme = secret.partition("://")[0]
            if _PLACEHOLDER.fullmatch(password):
                return str(secret)
            return f"{scheme}://{before}:{placeholder(kind, password)}@"
        return placeholder(kind, secret)


def placeholder(kind: str, secret: str) -> str:
    """What stands in a text where a secret stood."""
    digest = hashlib.sha256(b"ramet redaction\0" + secret.encode()).hexdigest()
    return f"[REDACTED:{kind}:{digest[:8]}]"
