"""A text as its reader would see it, with the way back to the text as it is.

Colour codes, characters of no width and line numbers are left out; backslash, percent and HTML escapes become the
characters that they mean. So one pattern finds a secret in any of these wrappings, and `to_raw` says which characters
of the text to replace. Escaped quotes and backslashes stay, because they say where a quoted value ends.
"""

import re
from bisect import bisect_right
from functools import cache

INVISIBLE = (
    "\x00-\x08\x0b\x0c\x0e-\x1a\x1c-\x1f\x7f-\x84\x86-\x9a\x9c-\x9f\xad\u034f\u061c\u180e\u200b-\u200f"
    "\u202a-\u202e\u2060-\u2069\ufe00-\ufe0f\ufeff"
)
"""Characters that take no room, as a class of a pattern."""

# Every repetition has a bound or is consumed, so that no text is read from each of its characters to its end.
_CODE = r"\[[0-?]{0,64}[ -/]{0,8}[@-~]|\][^\x07\x1b]{0,256}(?:\x07|\x1b\\)|[()*+][0-9A-Z]"
_HIGH = "[89a-fA-F][0-9a-fA-F]"
_GUTTER = r"[ \t]{0,20}(?:[0-9]{1,7}(?:→|\t|[ ]?[|│:]|-)|[\w./-]{1,200}:[0-9]{1,7}:|[|│>+#*](?= ))[ ]?"

_LETTERS = {"n": "\n", "r": "\r", "t": "\t", "/": "/"}
_QUOTES = ('"', "'", "\\")
_QUOTE = "\N{PRIME}"
"""What stands for a quote that is a code of a string, and so does not end it."""
_ENTITIES = {"quot": '"', "apos": "'", "lt": "<", "gt": ">", "amp": "&"}


def _compile(gutter: str) -> re.Pattern[str]:
    """Everything that does not mean itself.

    The pattern starts with one class, behind which each kind looks back at its own character: `re` skips to the next
    character of a class many times faster than to the next match of an alternative.
    """
    newline = f"n(?:{gutter})?" if gutter else "n"
    backslashed = (
        rf"(?:u001[bB]|x1[bB]|033|e(?=\[))(?:{_CODE})?",
        rf"u[0-9a-fA-F]{{4}}|x[0-9a-fA-F]{{2}}|{newline}|[rt/]|\n[ \t]*",
    )
    kinds = (
        rf"(?<=\\)\\{{0,7}}(?:{'|'.join(backslashed)})",
        rf"(?<=%)(?:25){{0,4}}(?:[0-7][0-9a-fA-F]|{_HIGH}(?:%(?:25){{0,4}}{_HIGH})*)",
        r"(?<=&)(?:amp;){0,4}(?:quot|apos|lt|gt|amp|#[0-9]{2,5}|#[xX][0-9a-fA-F]{2,4});",
        rf"(?<=\x1b)(?:{_CODE})?",
        r"(?<=\x9b)[0-?]{0,64}[ -/]{0,8}[@-~]",
        r"(?<=\^)\[\[[0-9;]{0,64}[mK]",
        rf"(?<=[{INVISIBLE}])[{INVISIBLE}]*",
        *([rf"(?<=\n)(?:{gutter})"] if gutter else []),
    )
    first = rf"[\\%&^\x1b\x9b{INVISIBLE}{chr(10) if gutter else ''}]"
    return re.compile(f"{first}(?:{'|'.join(kinds)})")


@cache
def _escapes() -> re.Pattern[str]:
    return _compile("")


@cache
def _escapes_and_gutters() -> re.Pattern[str]:
    return _compile(_GUTTER)


@cache
def _gutter() -> re.Pattern[str]:
    return re.compile(_GUTTER)


@cache
def _invisible() -> re.Pattern[str]:
    return re.compile(f"[{INVISIBLE}]")


class View:
    """A text as it is seen; each position in it belongs to one in the text that it was made from."""

    def __init__(self, raw: str, *, without_gutters: bool = False) -> None:
        """`without_gutters`: leave out what programs print before each line, which matters if a secret has several."""
        pieces: list[str] = []
        self._starts: list[int] = []
        """Where in the view each piece starts."""
        self._raws: list[int] = []
        """Where that is in the text."""
        self._widths: list[int] = []
        """How much of the text each character of the piece stands for."""
        seen = end = 0
        if without_gutters and (before := _gutter().match(raw)):
            end = before.end()
        for match in (_escapes_and_gutters() if without_gutters else _escapes()).finditer(raw, end):
            start, after = match.span()
            if start > end:
                self._note(seen, end, 1)
                pieces.append(raw[end:start])
                seen += start - end
            if meant := _meaning(match.group()):
                self._note(seen, start, after - start)
                pieces.append(meant)
                seen += 1
            end = after
        self.is_raw = end == 0
        """Whether every character means itself."""
        self._note(seen, end, 1)
        pieces.append(raw[end:])
        self.text = "".join(pieces)

    def _note(self, seen: int, raw: int, width: int) -> None:
        self._starts.append(seen)
        self._raws.append(raw)
        self._widths.append(width)

    def to_raw(self, start: int, end: int) -> tuple[int, int]:
        """The part of the text that a part of the view, which must not be empty, was made from."""
        first = bisect_right(self._starts, start) - 1
        last = bisect_right(self._starts, end - 1) - 1
        return (
            self._raws[first] + start - self._starts[first],
            self._raws[last] + end - 1 - self._starts[last] + self._widths[last],
        )


def _meaning(escape: str) -> str:
    """The one character that is meant, if any."""
    match escape[0]:
        case "\\":
            return _backslashed(escape.lstrip("\\"))
        case "%":
            code = int(escape[-2:], 16)
            return _visible(code) if code < 0x80 else ""
        case "&":
            return _entity(escape[1:-1].rpartition(";")[2])
        case "\n":
            return "\n"
    return ""


def _backslashed(escape: str) -> str:
    kind = escape[0]
    if kind in _LETTERS:
        return _LETTERS[kind]
    is_code = (kind == "u" and len(escape) == 5) or (kind == "x" and len(escape) == 3)
    character = _visible(int(escape[1:], 16)) if is_code else ""
    return _QUOTE if character in _QUOTES else character


def _entity(name: str) -> str:
    if name in _ENTITIES:
        return _ENTITIES[name]
    digits = name[1:]
    return _visible(int(digits[1:], 16) if digits[0] in "xX" else int(digits))


def _visible(code: int) -> str:
    """The character of a code; none if it takes no room or is half of one."""
    if 0xD800 <= code < 0xE000 or code == 0x1B:
        return ""
    character = chr(code)
    return "" if _invisible().match(character) else character
