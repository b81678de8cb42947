"""Texts that come in pieces: how much of the end has to wait for the next piece, because a secret may be cut there.

An unfinished word may be the start of a token. An unfinished line with the name of a secret in it waits as a whole,
and so do the lines of a private key that has no end yet, and a line that ends with a name whose value may be next.
"""

import re
from functools import cache

from ramet.model.redaction.redactor import Redactor

MOST_HELD = 64 * 1024
"""Characters. A text that waits longer is cut where no secret is."""
_OVERLAP = 4096
"""How much of it goes on waiting then."""
_LONGEST_LINE = 8192


@cache
def _telling() -> re.Pattern[str]:
    """What in an unfinished line says that the rest of it matters."""
    return re.compile(
        r"(?i)pass|secret|token|credential|key|auth|cookie|session|bearer|basic|pwd|pin\b|jwt|otp|login|://|-u\b|---|putty"
    )


@cache
def _waiting_name() -> re.Pattern[str]:
    """A line that ends with a name, or names one of which the value is in the next line."""
    return re.compile(
        r"(?i)(?:(?:pass\w*|secret|token|credentials?|key|authorization|bearer)[\"'`]?[ \t]*[:=]?[ \t]*[>|\\]?"
        r"|\bname[\"']?[ \t]*:.*|\blogin[ \t]+\S+|\\)[ \t\r]*,?\Z"
    )


@cache
def _open_key() -> re.Pattern[str]:
    return re.compile(r"-{4,5} ?BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY|PuTTY-User-Key-File-[0-9]|Private-Lines:")


@cache
def _closed_key() -> re.Pattern[str]:
    return re.compile(r"-{4,5} ?END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)? ?-{4,5}|Private-(?:MAC|Hash): ?[0-9a-f]{8,}")


def split(text: str, redactor: Redactor) -> tuple[str, str]:
    """What of a text can be passed on, and what has to wait for its next piece."""
    cut = min(_unfinished(text), _in_key(text))
    if len(text) - cut > MOST_HELD:
        cut = redactor.cut(text, len(text) - _OVERLAP)
    return text[:cut], text[cut:]


def _unfinished(text: str) -> int:
    """Where the unfinished part of the last line starts."""
    line = text.rfind("\n") + 1
    if line == len(text):
        before = text.rfind("\n", 0, max(line - 1, 0)) + 1
        last = text[max(before, line - _LONGEST_LINE) : line].rstrip("\n")
        return before if _waiting_name().search(last) else line
    if len(text) - line <= _LONGEST_LINE and _telling().search(text, line):
        return line
    word = max(text.rfind(" ", line), text.rfind("\t", line)) + 1
    return max(word, line)


def _in_key(text: str) -> int:
    """Where a private key starts that has no end yet."""
    marks = list(_open_key().finditer(text))
    if not marks:
        return len(text)
    ends = [match.end() for match in _closed_key().finditer(text)]
    last = ends[-1] if ends else -1
    return next((mark.start() for mark in marks if mark.start() > last), len(text))
