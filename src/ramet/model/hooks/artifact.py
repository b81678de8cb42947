"""An artifact: a markdown file that an effort leaves in its task's directory, such as its log or its debrief.

Its text can hold tags (`#needs-review`), which say what is still to be done, and answers to the checklists of the
directories that the effort worked in. A request file asks an effort for something. Nothing in code counts.
"""

import re
from collections.abc import Mapping
from typing import NamedTuple

from ramet.model.hooks.directive import lines_outside_code

CHECKLIST = "CHECKLIST.md"
"""A directive of this name has items that an effort has to answer."""
REQUEST_FILES = "request_files"
"""Which of an effort's metadata names the files that it responds to."""

_TAG = re.compile(r"(?<![\w#/&])#(?:needs|delegated|claimed|done)-\w[\w-]*")
_TAGS_LINE = re.compile(r"\s*\*\*Tags\*\*:")
_NEEDS = "#needs-"
_REQUEST = "REQUEST"
_HEADING = re.compile(r" {0,3}(#{1,6})\s+(?=\S)")
_STAMP = re.compile(r"\[[^\]]*\]\s*")
_ANSWERS = re.compile(r"CHECKLIST:\s*(\S.*)")
_ITEM = re.compile(r"\s*(?:[-*+]|\d+[.)])\s+\[([ xX])\]\s+(\S.*)")
_RESPONSE = "response"
_SECTION_LEVEL = 2


class Tag(NamedTuple):
    """A tag and its line."""

    line: int
    name: str


def find_bare_tags(text: str) -> list[Tag]:
    """The tags of a text that are neither in code nor on its line of tags."""
    lines = ((number, line) for number, line in lines_outside_code(text) if not _TAGS_LINE.match(line))
    return [tag for number, line in lines for tag in _tags(number, line)]


def find_needs(text: str) -> list[Tag]:
    """The tags of a request that say that something is still needed, its line of tags included."""
    found = (tag for number, line in lines_outside_code(text) for tag in _tags(number, line))
    return [tag for tag in found if tag.name.startswith(_NEEDS)]


def asks_for_response(name: str) -> bool:
    """Whether a file of this name is a formal request, which is answered in the file itself."""
    return _REQUEST in name


def has_response(text: str) -> bool:
    """Whether a request has a section with the response."""
    headings = (_read_heading(line) for _, line in lines_outside_code(text))
    return any(heading is not None and heading.title.lower() == _RESPONSE for heading in headings)


def list_items(text: str) -> list[str]:
    """The items of a checklist, each once, in order."""
    found = (_ITEM.fullmatch(line) for _, line in lines_outside_code(text))
    return list(dict.fromkeys(_normal(item[2]) for item in found if item is not None))


def find_answers(text: str) -> Mapping[str, Mapping[str, bool]]:
    """The checklists that a text answers, by the path in the heading `## CHECKLIST: PATH`: each item, and whether it is
    ticked. A note has its time before its heading.
    """
    answers: dict[str, dict[str, bool]] = {}
    current: dict[str, bool] | None = None
    for _, line in lines_outside_code(text):
        if heading := _read_heading(line):
            if named := _ANSWERS.fullmatch(heading.title):
                current = answers.setdefault(named[1], {})
            elif heading.level <= _SECTION_LEVEL:
                current = None
        elif current is not None and (item := _ITEM.fullmatch(line)):
            current[_normal(item[2])] = item[1] != " "
    return answers


class _Heading(NamedTuple):
    """The level of a heading, and its text without the time of a note."""

    level: int
    title: str


def _read_heading(line: str) -> _Heading | None:
    mark = _HEADING.match(line)
    if mark is None:
        return None
    title = line[mark.end() :].strip().rstrip("#").strip()
    stamp = _STAMP.match(title)
    return _Heading(len(mark[1]), title[stamp.end() :] if stamp else title)


def _tags(number: int, line: str) -> list[Tag]:
    return [Tag(number, match[0]) for match in _TAG.finditer(line)]


def _normal(text: str) -> str:
    return " ".join(text.split())
