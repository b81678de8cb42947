"""A directive: a file in which a project tells agents how to work there, such as `AGENTS.md`.

Agent programs may have names of their own for such files; the vendors' folders know them.

A directive may import other files: `@docs/style.md` outside of code names one, seen from the file that says it.
"""

import hashlib
import re
from collections.abc import Iterator
from typing import NamedTuple

from msgspec import Struct

FILE_NAME = "AGENTS.md"
"""What a directive is called, in any folder of a project, whichever program reads it."""
FOLDER = ".directives"
"""Or it is a markdown file in a folder of this name."""

STANDARDS = ("COMMANDS.md", "INVARIANTS.md", "SIGILS.md")
"""A project's standards: directives of these names, in such a folder of the project's own. Each context window gets
them first, wherever in the project it works.
"""

_FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,})")
_TICKS = re.compile(r"(`+)")
_IMPORT = re.compile(r"(?<![\w@./`])@([^\s@`]+)")
_PUNCTUATION = ".,;:!?)]}>\"'*_"
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_NOT_IN_A_LINE = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")


class Directive(Struct, frozen=True, kw_only=True):
    """A directive on disk."""

    path: str
    text: str
    hash: str
    """Identifies the version of the directive that an agent has read."""


class OwnDirectives(NamedTuple):
    """Which directives an agent program reads by itself on the way down to where it works; nobody has to tell them."""

    name: str
    with_imports: bool
    """Also what they import."""
    below: bool
    """Also those further down, when it gets there."""


def make(path: str, text: str) -> Directive:
    """The directive of a file, without what a terminal would obey."""
    plain = _CONTROL.sub("", text)
    return Directive(path=path, text=plain, hash=hashlib.sha256(plain.encode(errors="surrogatepass")).hexdigest())


def is_plain(path: str) -> bool:
    """Whether a path can be told as it is: in one line, as text, and with nothing in it that a terminal obeys."""
    return not _NOT_IN_A_LINE.search(path)


def find_imports(text: str) -> list[str]:
    """The paths that a text imports, each once, in order. What stands in code is an example, and imports nothing."""
    found: dict[str, None] = {}
    for _, line in lines_outside_code(text):
        found |= dict.fromkeys(_imports_of(line))
    return list(found)


def lines_outside_code(text: str) -> Iterator[tuple[int, str]]:
    """The lines of a markdown text with their numbers, without what stands in code."""
    fence = None
    for number, line in enumerate(text.splitlines(), 1):
        mark = _FENCE.match(line)
        if fence is None and mark is None:
            yield number, _without_code(line)
        elif mark is not None and fence is None:
            fence = mark[1]
        elif mark is not None and fence is not None and mark[1].startswith(fence):
            fence = None


def _imports_of(line: str) -> list[str]:
    named = (match[1].rstrip(_PUNCTUATION) for match in _IMPORT.finditer(line))
    return [path for path in named if path]


def _without_code(line: str) -> str:
    """What stands outside of code, which begins and ends with the same number of backticks."""
    parts = _TICKS.split(line)
    following: dict[str, int] = {}
    ends: dict[int, int] = {}
    for place in range(len(parts) - 2, 0, -2):
        ends[place] = following.get(parts[place], place)
        following[parts[place]] = place
    outside, place = [], 0
    while place < len(parts):
        outside.append(parts[place] if ends.get(place, place) == place else "")
        place = ends.get(place, place) + 1
    return "".join(outside)
