"""Secrets are taken out of a text before it is hashed and stored, so that no address ever depends on one.

The patterns are matched in linear time (RE2): this runs on everything that every agent says. A placeholder names
the kind of secret and eight digits of its hash, so that equal secrets stay recognisably equal; a text without secrets,
which a redacted one is, stays as it is.
"""

import hashlib
from collections.abc import Iterable, Sequence
from functools import cache
from typing import Any, NamedTuple

import re2

from ramet.errors import InvalidSetting

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
    "ramet": r"\bs[1-9][0-9]{0,18}\.[0-9a-f]{64}\b",
    "pypi": r"\bpypi-[A-Za-z0-9_-]{50,}",
    "jwt": r"\beyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}",
    "url_password": r"\b[a-z][a-z0-9+.-]{1,20}://[^\s/:@'\"]{0,100}:[^\s/@'\"]{1,200}@",
}
_PLACEHOLDER = r"\[REDACTED:[a-z_]+:[0-9a-f]{8}\]"
_VALUE = "environment"
_OWN = "configured"

_MATCHER_BYTES = 32 * 1024 * 1024
"""How much a matcher may remember; with less, a dozen known values make it forget and start over all the time."""

_ROUNDS = 4
"""A secret that stood right behind another may only show once that is gone; a round finds nothing or is the last."""


class Redacted(NamedTuple):
    """A text without its secrets, and how many there were."""

    text: str
    secrets: int


class Redactor:
    """Replaces what looks like a secret by a stable placeholder.

    `patterns` are regular expressions of the user's own, `values` are secrets that are known as they are.
    """

    def __init__(self, patterns: Sequence[str] = (), values: Iterable[str] = (), *, is_enabled: bool = True) -> None:
        self._is_enabled = is_enabled
        self._values = {value: _find_kind(value) or _VALUE for value in values if value}
        longest_first = sorted(self._values, key=len, reverse=True)
        parts = [*map(re2.escape, longest_first), *_PATTERNS.values(), *map(_checked, patterns)]
        self._secrets = _compile(parts)
        self._secrets_or_placeholders = _compile([_PLACEHOLDER, *parts])

    def redact(self, text: str) -> Redacted:
        """The text with each secret replaced."""
        if not self._is_enabled or self._secrets.search(text) is None:
            return Redacted(text, 0)
        secrets = 0
        for _ in range(_ROUNDS):
            found: list[str] = []
            text = self._secrets_or_placeholders.sub(lambda match: self._replace(match, found), text)  # noqa: B023
            if not found:
                break
            secrets += len(found)
        return Redacted(text, secrets)

    def redact_value(self, value: Any) -> tuple[Any, int]:
        """The same for everything that is text in a JSON value, and how many secrets there were."""
        if isinstance(value, str):
            return self.redact(value)
        if isinstance(value, list):
            items = [self.redact_value(item) for item in value]
            return [item for item, _ in items], sum(count for _, count in items)
        if isinstance(value, dict):
            pairs = [(self.redact_value(key), self.redact_value(item)) for key, item in value.items()]
            return {key: item for (key, _), (item, _) in pairs}, sum(a + b for (_, a), (_, b) in pairs)
        return value, 0

    def _replace(self, match: "re2._Match[str]", found: list[str]) -> str:
        whole: str = match.group()
        if _is_placeholder(whole):
            return whole
        kind = self._values.get(whole) or _find_kind(whole) or _OWN
        before, secret, after = _split_url(whole) if kind == "url_password" else ("", whole, "")
        if _is_placeholder(secret):
            return whole
        found.append(kind)
        return f"{before}{placeholder(self._values.get(secret, kind), secret)}{after}"


def _compile(parts: Sequence[str]) -> "re2._Regexp[str]":
    """One expression without groups of its own, because finding groups is what takes time."""
    options = re2.Options()
    options.max_mem = _MATCHER_BYTES
    return re2.compile("|".join(f"(?:{part})" for part in parts), options=options)


@cache
def _placeholders() -> "re2._Regexp[str]":
    return re2.compile(_PLACEHOLDER)


def _is_placeholder(text: str) -> bool:
    return text.startswith("[") and _placeholders().fullmatch(text) is not None


@cache
def _shapes() -> dict[str, "re2._Regexp[str]"]:
    return {kind: re2.compile(pattern) for kind, pattern in _PATTERNS.items()}


def _find_kind(secret: str) -> str | None:
    """The known shape that a secret has, so that it looks the same however it was found."""
    return next((kind for kind, shape in _shapes().items() if shape.fullmatch(secret)), None)


def _split_url(url: str) -> tuple[str, str, str]:
    scheme, _, rest = url[:-1].partition("://")
    user, _, password = rest.partition(":")
    return f"{scheme}://{user}:", password, "@"


def _checked(pattern: str) -> str:
    options = re2.Options()
    options.log_errors = False
    try:
        compiled = re2.compile(pattern, options=options)
    except re2.error as error:
        reason = error.args[0].decode() if isinstance(error.args[0], bytes) else str(error)
        raise _invalid(pattern, f"cannot be read: {reason}") from error
    if compiled.groupindex:
        raise _invalid(pattern, "names a group, which is not allowed")
    if compiled.search("") is not None:
        raise _invalid(pattern, "matches the empty string, and so every text")
    return pattern


def _invalid(pattern: str, reason: str) -> InvalidSetting:
    return InvalidSetting(
        f"the pattern {pattern!r} in redaction.patterns {reason}",
        field="redaction.patterns",
        value=pattern,
        fix="write an RE2 regular expression that matches only the secret",
    )


def placeholder(kind: str, secret: str) -> str:
    """What stands in a text where a secret stood."""
    digest = hashlib.sha256(b"ramet redaction\0" + secret.encode()).hexdigest()
    return f"[REDACTED:{kind}:{digest[:8]}]"
