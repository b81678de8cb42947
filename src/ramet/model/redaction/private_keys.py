"""Private keys, whole: in PEM, OpenSSH, PGP, PuTTY, SSH2 and XML, cut off at either end or not.

A key is looked for in the canonical view, which has no line numbers. What may be between its lines is generous (quotes,
commas, comment signs), so the text between a start and an end counts as a key only if some of it is encoded data.
Each part of a text belongs to one mark, so that many marks without keys take no longer than one.
"""

import re
from collections.abc import Iterator
from functools import cache
from itertools import pairwise

import re2

_MARK = r"-{4,5} ?(?:BEGIN|END) [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)? ?-{4,5}"
_PUTTY = r"PuTTY-User-Key-File-[0-9]:|Private-Lines: ?[0-9]+|Private-(?:MAC|Hash): ?[0-9a-f]{8,}"
_XML = r"<D>[A-Za-z0-9+/=\s]{40,}</D>"
_BETWEEN = r"[A-Za-z0-9+/=\s\"'`,.;:_|>#*()\\<&-]*"
_HEADERS = r"(?:[A-Za-z-]{4,20}: [^\n]{0,100}\n\s*)*"
_JOINTS = r"[\s\"',+\\;]*"
_DATA = rf"(?:[A-Za-z0-9+/]{{16,}}={{0,2}}{_JOINTS})+(?:[A-Za-z0-9+/]{{1,15}}={{0,2}}(?:\s|$))?(?:=[A-Za-z0-9+/]{{4}})?"
"""Lines of encoded data, the last of which may be short, and the checksum of PGP."""

HINT = r"(?:BEGIN|END) [A-Z0-9 ]*PRIVATE KEY|PuTTY-User-Key-File|Private-Lines: |<D>[A-Za-z0-9+/=\s]{40}"
"""What at least is in a text that holds one."""


@cache
def _marks() -> re.Pattern[str]:
    return re.compile(f"{_MARK}|{_PUTTY}|{_XML}")


@cache
def _between() -> re.Pattern[str]:
    return re.compile(_BETWEEN)


@cache
def _encoded() -> re.Pattern[str]:
    """Some encoded data, or nothing else."""
    return re.compile(r"[A-Za-z0-9+/]{16}|\A[A-Za-z0-9+/=\s]*\Z")


@cache
def _cut() -> "re2._Regexp[str]":
    return re2.compile(f"{_JOINTS}{_HEADERS}{_DATA}")


@cache
def _line_before() -> re.Pattern[str]:
    """A line of data, read from its end."""
    return re.compile(r"[ \t\r\"',+]*={0,2}[A-Za-z0-9+/]{4,100}[ \t\"',+]*")


def find(text: str) -> Iterator[tuple[int, int]]:
    """Where the private keys in a text are."""
    if "PRIVATE KEY" not in text and "Private-" not in text and "<D>" not in text:
        return
    marks = [match.span() for match in _marks().finditer(text)]
    done = 0
    for (start, end), (following, after) in pairwise([*marks, (len(text), len(text))]):
        if start < done:
            continue
        found = _at(text, (start, end), (following, after), done)
        if found is not None:
            done = found[1]
            yield found


def _at(text: str, mark: tuple[int, int], following: tuple[int, int], done: int) -> tuple[int, int] | None:
    """The key of a mark: to the next mark, if that is its end; else as far as there is data."""
    (start, end), (stop, after) = mark, following
    kind = text[start:end].lstrip("- ")
    if kind.startswith("<"):
        return start, end
    if kind.startswith(("END", "Private-MAC", "Private-Hash")):
        return _ending(text, start, end, done)
    body, is_closed = text[end:stop], text[stop:after].lstrip("- ").startswith(("END", "Private-MAC", "Private-Hash"))
    if is_closed and _between().fullmatch(body) and _encoded().search(body):
        return start, after
    if kind.startswith("PuTTY"):
        return None  # its data is behind the next mark
    data = _cut().match(body.encode(errors="replace").decode())
    return (start, end + data.end()) if data else None


def _ending(text: str, start: int, end: int, done: int) -> tuple[int, int] | None:
    """A key of which only the end was shown: its lines reach back as far as they hold nothing but data."""
    first = start
    while first > done:
        # No line of data is longer. Without a bound, a long line with many marks would be searched for each of them.
        line = max(text.rfind("\n", max(first - 200, 0), first - 1) + 1, done)
        if first - line > 200 or _line_before().fullmatch(text[line:first].rstrip("\n")[::-1]) is None:
            break
        first = line
    return (first, end) if start - first >= 20 else None
