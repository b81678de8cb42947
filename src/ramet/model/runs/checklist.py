"""A markdown checklist as items: boxes, numbers, texts, and what is noted about each. What the numbers and notes mean
is `task_file`'s affair.

It is read as CommonMark reads a list: what is indented below an item belongs to it, a line that only goes on with a
paragraph too, and a code block or a comment hides what looks like an item in it.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple, NoReturn

from ramet.errors import TaskFileInvalid

_TAB = 4
_BULLET = r"(?:[-*+]|(?P<ordinal>[0-9]{1,9})[.)])"
_ITEM = re.compile(_BULLET + r"[ \t]*\[(?:[ \t]+|[ \t]*(?P<done>[xX])[ \t]*)\](?=[ \t0-9]|$)[ \t]*(?P<rest>.*)")
_OTHER_BOX = re.compile(_BULLET + r"[ \t]+(?P<box>\[[^\w\s\[\]]\])[ \t]")
_DOTTED = r"(?P<dotted>[0-9]{1,9}(?:\.[0-9]{1,9})+)(?:[.):](?![0-9])|(?=[ \t]|$))"
_NUMBER = re.compile(rf"(?:{_DOTTED}|(?P<plain>[0-9]{{1,9}})[.):](?![0-9]))[ \t]*")
_NAMES = r"(?P<name>agent|skill|model|timeout|accept|depends(?:[ \t_-]*on)?|dependencies)"
_NOTE = re.compile(rf"[-*+][ \t]+[*_`]*{_NAMES}[*_`]*[ \t]*:[*_`]*(?P<value>.*)", re.IGNORECASE)
_COMMENT_NOTE = re.compile(rf"\s*{_NAMES}\s*:(?P<value>.*)", re.IGNORECASE | re.DOTALL)
_DEFAULT = re.compile(r"(?P<name>agent|skill|model|timeout|accept)[ \t]*:(?P<value>.*)", re.IGNORECASE)
_DIRECTIVES = ("agent", "skill", "model", "timeout", "accept", "depends", "depends on", "dependencies")
_WORD = r"(?P<name>[A-Za-z][A-Za-z_-]{3,19}(?:[ \t][A-Za-z]{1,4})?)"
"""What may be a misspelt directive: a shorter word would be similar to too much."""
_LIKE_NOTE = re.compile(rf"[-*+][ \t]+[*_`]*{_WORD}[*_`]*[ \t]*:[*_`]*[ \t]*(?P<value>.*)")
_LIKE_COMMENT_NOTE = re.compile(rf"\s*{_WORD}\s*:\s*(?P<value>\S+)\s*$")
_LIKE_DEFAULT = re.compile(rf"{_WORD}[ \t]*:(?P<value>.*)")
_MOST_EDITS = 2
_AS_TEXT = "; if the line is part of the task's text, put an empty line before it"
_HEADING = re.compile(r"#{1,6}[ \t]+(?P<title>.+)")
_MARK = re.compile(r"`+|<!--|-->")
_FENCE = re.compile(r"[ \t]*(?P<fence>`{3,}(?=[^`]*$)|~{3,})")
_BULLETED = re.compile(r"[-*+][ \t]")
_BLOCK = re.compile(r"[-*+][ \t]|[0-9]{1,9}[.)][ \t]|#{1,6}[ \t]|>|(?:[-*_][ \t]*){3,}$|=+$")
"""What begins a block of its own, and so does not go on with the paragraph before it."""


class Note(NamedTuple):
    """Something said about an item, or about all: `Agent: @name`."""

    name: str
    value: str
    row: int
    raw: str
    """The whole line, to say where in it something is wrong."""

    def refuse(self, message: str, fix: str, part: str) -> NoReturn:
        """Say what is wrong with it, and with which part of its value."""
        column = self.raw.find(part, self.raw.find(self.value)) + 1
        raise TaskFileInvalid(message, line=self.row, column=column, value=part, fix=fix)


class _Piece(NamedTuple):
    """A line of an item's text; one that goes on with a paragraph has no indentation of its own."""

    margin: str | None
    body: str


@dataclass(eq=False)
class Item:
    """One box, as it stands in the file."""

    row: int
    raw: str
    indent: int
    parent: "Item | None"
    section: str | None
    number: str | None
    """As it was written."""
    done: bool
    pieces: list[_Piece]
    notes: list[Note] = field(default_factory=list)

    @property
    def has_list(self) -> bool:
        """Whether a list is part of its text so far."""
        return any(_BULLETED.match(piece.body) for piece in self.pieces[1:])

    @property
    def text(self) -> str:
        """What is to be done: the line, and what stands below it with its indentation taken off."""
        start = next((place for place, piece in enumerate(self.pieces) if piece.body), 0)
        below = "\n".join(_dedented(self.pieces[start + 1 :]))
        return f"{self.pieces[start].body.strip()}\n{below}".strip()


class Checklist(NamedTuple):
    """The items in their order, and what the front matter says of all of them."""

    items: list[Item]
    defaults: list[Note]


class _Fence(NamedTuple):
    mark: str
    owner: Item | None
    row: int


def read_checklist(text: str) -> Checklist:
    """The items of a markdown text. A comment or a code block without an end is refused: it would hide items."""
    rows = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    body = _body_start(rows)
    defaults = [
        Note(match["name"], match["value"], row, raw)
        for row, raw in enumerate(rows[:body], 1)
        if (match := _DEFAULT.match(raw))
    ]
    for row, raw in enumerate(rows[:body], 1):
        if (match := _LIKE_DEFAULT.match(raw)) and not _DEFAULT.match(raw):
            _refuse_misspelt(Note(match["name"], match["value"], row, raw), "")
    reader = _Reader()
    for row, raw in enumerate(rows[body:], body + 1):
        reader.read(row, raw.rstrip())
    reader.finish()
    return Checklist(reader.items, defaults)


def is_fence(line: str) -> bool:
    """Whether a line begins a code block."""
    return _FENCE.match(line) is not None


def _is_directive(note: Note) -> bool:
    """Whether a comment is a directive; one that is nearly one is refused, and any other is prose."""
    if re.fullmatch(_NAMES, note.name, re.IGNORECASE):
        return True
    _refuse_misspelt(note, "; if the comment is prose, write more than one word after the colon")
    return False


def _refuse_misspelt(note: Note, otherwise: str) -> None:
    """Refuse a word that is nearly a directive: as part of the text, it would silently change what runs."""
    word = re.sub(r"[\s_-]+", " ", note.name).lower()
    distance, meant = min((_count_edits(word, each), each) for each in _DIRECTIVES)
    if distance <= _MOST_EDITS:
        name = meant.capitalize()
        raise TaskFileInvalid(
            f"there is no directive {note.name!r}; did you mean {name}?",
            line=note.row,
            column=note.raw.find(note.name) + 1,
            value=note.name,
            fix=f"write `{name}: {note.value.strip()[:40]}`{otherwise}",
        )


def _count_edits(word: str, other: str) -> int:
    """How many letters have to be added, removed or replaced to make one word of the other."""
    row = list(range(len(other) + 1))
    for place, letter in enumerate(word, 1):
        above, row[0] = row[0], place
        for column, each in enumerate(other, 1):
            above, row[column] = row[column], min(row[column] + 1, row[column - 1] + 1, above + (letter != each))
    return row[-1]


def _body_start(rows: list[str]) -> int:
    """The number of lines that the front matter takes, where there is one."""
    if rows[0].rstrip() != "---":
        return 0
    return next((place + 1 for place, row in enumerate(rows[1:], 1) if row.rstrip() in ("---", "...")), 0)


class _Reader:
    """Takes one line after the other, and knows which items are still open."""

    def __init__(self) -> None:
        self.items: list[Item] = []
        self._open: list[Item] = []
        """The items that a line may still belong to, each indented deeper than the one before it."""
        self._last: Item | None = None
        """The item that the last line belonged to."""
        self._section: str | None = None
        self._fence: _Fence | None = None
        self._comment: tuple[int, int] | None = None
        """Where a comment began that has not ended."""
        self._is_paragraph = False
        """Whether a line without indentation would go on with the last item's text."""
        self._is_after_blank = False

    def read(self, row: int, raw: str) -> None:
        if self._fence is not None:
            self._read_code(raw)
        elif self._comment is None and (match := _FENCE.match(raw)):
            owner = self._owner(_width(raw))
            self._take(owner, raw) if owner else self._leave()
            self._is_paragraph = False
            self._fence = _Fence(match["fence"], owner, row)
        else:
            self._read_line(row, raw)

    def finish(self) -> None:
        """Nothing may be left open."""
        if self._fence is not None:
            fix = f"end it with a line {self._fence.mark}"
            raise TaskFileInvalid("this code block never ends", line=self._fence.row, column=1, fix=fix)
        if self._comment is not None:
            line, column = self._comment
            raise TaskFileInvalid("this comment never ends", line=line, column=column, fix="end it with -->")

    def _read_code(self, raw: str) -> None:
        assert self._fence is not None  # noqa: S101
        mark, owner, _ = self._fence
        if owner:
            owner.pieces.append(_piece(raw))
        body = raw.strip()
        if len(body) >= len(mark) and set(body) == {mark[0]}:
            self._fence = None

    def _read_line(self, row: int, raw: str) -> None:
        line, notes = self._without_comments(row, raw)
        body = line.strip()
        indent = _width(line)
        if match := _ITEM.match(body):
            self._begin(row, raw, indent, match)
        elif match := _OTHER_BOX.match(body):
            column = raw.find(match["box"]) + 1
            fix = "write [ ] for an open task and [x] for a finished one"
            raise TaskFileInvalid(
                f"{match['box']} is not a checkbox", line=row, column=column, value=match["box"], fix=fix
            )
        elif not body:
            self._is_paragraph = False
            self._is_after_blank |= not raw.strip()
        elif (match := _NOTE.match(body)) and (owner := self._owner(indent) or self._last):
            owner.notes.append(Note(match["name"], match["value"], row, raw))
            self._is_paragraph = False
        else:
            owner = self._owner(indent)
            if owner and not self._is_after_blank and (match := _LIKE_NOTE.match(body)) and not owner.has_list:
                _refuse_misspelt(Note(match["name"], match["value"], row, raw), _AS_TEXT)
            self._read_text(line, body, indent)
        if self._last:
            self._last.notes.extend(note for note in notes if _is_directive(note))

    def _begin(self, row: int, raw: str, indent: int, match: re.Match[str]) -> None:
        while self._open and self._open[-1].indent >= indent:
            self._open.pop()
        rest, number = match["rest"], match["ordinal"]
        if written := _NUMBER.match(rest):
            number, rest = written["dotted"] or written["plain"], rest[written.end() :]
        item = Item(
            row=row,
            raw=raw,
            indent=indent,
            parent=self._open[-1] if self._open else None,
            section=self._section,
            number=number,
            done=match["done"] is not None,
            pieces=[_Piece(None, rest)],
        )
        self.items.append(item)
        self._open.append(item)
        self._last = item
        self._is_paragraph, self._is_after_blank = bool(rest), False
        if fence := _FENCE.match(rest):
            self._fence = _Fence(fence["fence"], item, row)

    def _read_text(self, line: str, body: str, indent: int) -> None:
        owner = self._owner(indent)
        if self._is_paragraph and self._last and owner is not self._last and not _BLOCK.match(body):
            self._last.pieces.append(_Piece(None, body))
        elif owner:
            self._take(owner, line)
        else:
            self._leave()
            if heading := _HEADING.match(body):
                self._section = _title(heading["title"])

    def _owner(self, indent: int) -> Item | None:
        """The innermost open item that is indented less."""
        return next((item for item in reversed(self._open) if item.indent < indent), None)

    def _take(self, owner: Item, line: str) -> None:
        """The line is part of the item's text, and ends the items below it."""
        while self._open[-1] is not owner:
            self._open.pop()
        if self._is_after_blank:
            owner.pieces.append(_Piece(None, ""))
        owner.pieces.append(_piece(line))
        self._last = owner
        self._is_paragraph, self._is_after_blank = True, False

    def _leave(self) -> None:
        """The line belongs to no item, and neither does what follows it."""
        self._open.clear()
        self._last = None
        self._is_paragraph = self._is_after_blank = False

    def _without_comments(self, row: int, raw: str) -> tuple[str, list[Note]]:
        """The line with a space in the place of each comment, and what the comments note."""
        begin = 0
        if self._comment is not None:
            begin = raw.find("-->") + 3
            if begin < 3:
                return "", []
            self._comment = None
        kept, comments, unclosed = _cut_comments(raw[begin:])
        if unclosed is not None:
            self._comment = (row, begin + unclosed + 1)
        matches = [
            match
            for comment in comments
            if (match := _COMMENT_NOTE.match(comment) or _LIKE_COMMENT_NOTE.match(comment))
        ]
        return " ".join(kept).rstrip(), [Note(match["name"], match["value"], row, raw) for match in matches]


def _cut_comments(text: str) -> tuple[list[str], list[str], int | None]:
    """What stands outside of comments and what inside; and where one begins that does not end. Code has no comments."""
    marks = list(_MARK.finditer(text))
    partners = _code_ends(marks)
    kept: list[str] = []
    comments: list[str] = []
    outside = place = 0
    while place < len(marks):
        mark = marks[place]
        if mark[0] == "<!--":
            kept.append(text[outside : mark.start()])
            place = next((later for later in range(place + 1, len(marks)) if marks[later][0] == "-->"), len(marks))
            if place == len(marks):
                return kept, comments, mark.start()
            comments.append(text[mark.end() : marks[place].start()])
            outside = marks[place].end()
        else:
            place = partners.get(place, place)
        place += 1
    return [*kept, text[outside:]], comments, None


def _code_ends(marks: list[re.Match[str]]) -> dict[int, int]:
    """For each run of backticks, the next one of the same length, which ends the code that it begins."""
    later: dict[str, int] = {}
    ends = {}
    for place in reversed(range(len(marks))):
        run = marks[place][0]
        if run[0] == "`":
            if run in later:
                ends[place] = later[run]
            later[run] = place
    return ends


def _title(text: str) -> str:
    """A heading without the signs that may close it."""
    words = text.split()
    while len(words) > 1 and not words[-1].strip("#"):
        words.pop()
    return " ".join(words)


def _piece(line: str) -> _Piece:
    body = line.lstrip(" \t")
    return _Piece(line[: len(line) - len(body)], body)


def _width(line: str) -> int:
    """How far a line is indented; a tab is four columns wherever it stands, so that widths can be added."""
    margin = _piece(line).margin or ""
    return len(margin) + (_TAB - 1) * margin.count("\t")


def _dedented(pieces: list[_Piece]) -> Iterator[str]:
    """The lines without the indentation that all of them have."""
    shared = min((_width(piece.margin) for piece in pieces if piece.body and piece.margin is not None), default=0)
    for piece in pieces:
        yield f"{_cut_margin(piece.margin, shared)}{piece.body}" if piece.body and piece.margin else piece.body


def _cut_margin(margin: str, width: int) -> str:
    """An indentation without its first columns; of a tab that is cut, spaces remain."""
    while width > 0:
        width -= _TAB if margin[0] == "\t" else 1
        margin = margin[1:]
    return " " * -width + margin
