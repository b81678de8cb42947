"""Passwords in URLs, with whatever characters people put into them: `p4ss@w0rd`, `pa/ss`."""

import re
from functools import cache

_SCHEME = r"[A-Za-z][A-Za-z0-9+.-]+://"
_USER = r"[^\s/:@'\"<>\\`]*"

PATTERNS = (
    rf"{_SCHEME}{_USER}:[^\s/'\"<>\\`]+@",
    rf"{_SCHEME}{_USER}:[^\s'\"<>\\`]+?@[A-Za-z0-9]",
    rf"{_SCHEME}[A-Za-z0-9_.~-]{{20,}}@[A-Za-z0-9]",
)
"""As RE2 patterns, in this order: to the last @ before the path; with a slash in the password; only a token."""

HINT = r":(?:\\*/){2}[^\s/:@'\"<>\\`]*(?::[^\s'\"<>`]+?|[A-Za-z0-9_.~-]{20})@"
"""What at least is in a text that holds one."""


@cache
def _ports() -> re.Pattern[str]:
    return re.compile(r"[0-9]{1,5}[/,?#]|[$<{%\[]|(?i:port)\b")


@cache
def _hosts() -> re.Pattern[str]:
    return re.compile(r"[A-Za-z0-9.-]*(?:\.[A-Za-z0-9-]+|localhost)(?::[0-9]+)?(?:[/?#\s]|$)")


def extent(text: str, start: int, end: int) -> tuple[int, int] | None:
    """Where the password lies in a URL that was matched from `start` to `end`; None if there is none."""
    user = text.index("://", start, end) + 3
    last = text.rindex("@", start, end)
    colon = text.find(":", user, last)
    if colon < 0:
        return (user, last) if _is_token(text[user:last]) else None
    first = colon + 1
    password = text[first:last]
    if _ports().match(password):
        return None
    if "/" in password and not _hosts().match(text, last + 1):
        return None
    return first, last


def _is_token(user: str) -> bool:
    """Whether what stands for a user is made by a machine."""
    digits = sum(character.isdigit() for character in user)
    return digits >= 3 and len(user) - digits >= 3
