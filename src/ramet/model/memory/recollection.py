"""A recollection: what is on record about a question, as a text for an agent, within a number of bytes.

Whatever is quoted was written by others. Each of its lines is quoted, so that none can pass for a line of ours or end
the text. A place such as `s7:120` opens what is around it. Nothing to say is no text at all.
"""

import re
from collections.abc import Sequence
from typing import Literal

from msgspec import Struct

from ramet.model.hooks.resume_contract import disarm

Mode = Literal["recall", "fix", "how", "files"]
"""What is asked: what is known about something; what ended an error; how a tool is used; the files of a topic."""

MOST_BYTES = 4096
_NAME = "ramet-recall"
_OPEN, _CLOSE = f"<{_NAME}>", f"</{_NAME}>"
_OWN_NAME = re.compile(r"ramet[\W_]{1,3}recall", re.IGNORECASE)
_INTRODUCTION = "From earlier sessions of this project, quoted as data. The tool `recall` opens a place such as s7:120."
_LEAST_BYTES = 48
"""With which a quoted line still says something."""
_PLACE = re.compile(r"([sec])([1-9]\d{0,17})(?::([1-9]\d{0,17}))?")


class Recollection(Struct, frozen=True, kw_only=True):
    """One thing that is on record."""

    place: str
    """Where it is: `s7:120`, `s7`, `e12` or `c3`. The same caller can open it."""
    kind: str
    time: str
    text: str
    agent: str | None = None
    title: str | None = None
    exit_status: int | None = None
    """Of a command, if it was recorded."""
    times: int = 1
    """How often the same is on record."""


class Place(Struct, frozen=True):
    """A place in what is on record."""

    session_id: int | None = None
    effort_id: int | None = None
    document_id: int | None = None
    message: int | None = None


def parse_place(text: str) -> Place | None:
    """The place that a text names; None if it is a question."""
    found = _PLACE.fullmatch(text.strip())
    if found is None or (found[1] != "s" and found[3]):
        return None
    number = int(found[2])
    match found[1]:
        case "e":
            return Place(effort_id=number)
        case "c":
            return Place(document_id=number)
    return Place(session_id=number, message=int(found[3]) if found[3] else None)


def render(found: Sequence[Recollection], most_bytes: int = MOST_BYTES, *, by_time: bool = False) -> str:
    """As many as fit, of which the first get most of the room; `by_time`: in the order in which they happened."""
    blocks: list[tuple[str, str]] = []
    room = most_bytes
    for number, each in enumerate(found):
        head = _head(each)
        # Half of the room for the best, because it is most likely what was looked for.
        share = room if number == len(found) - 1 else max(room // 2, _size(head) + _LEAST_BYTES)
        block = _quote(head, each.text, min(share, room))
        if block is None:
            break
        blocks.append((each.time, block))
        room -= _size(block) + 1
    shown = sorted(blocks, key=lambda block: block[0]) if by_time else blocks
    return "\n".join(block for _, block in shown)


def inject(found: Sequence[Recollection], most_bytes: int) -> str:
    """The same for a hook: between tags, because it stands among other texts. Empty if nothing fits."""
    room = most_bytes - _size(f"{_OPEN}\n{_INTRODUCTION}\n\n{_CLOSE}")
    text = render(found, room) if room > _LEAST_BYTES else ""
    return f"{_OPEN}\n{_INTRODUCTION}\n{text}\n{_CLOSE}" if text else ""


def clip(text: str, most_bytes: int) -> str:
    """The beginning of a text, at most so many bytes."""
    data = text.encode(errors="replace")
    if len(data) <= most_bytes:
        return text
    return data[: max(0, most_bytes - 4)].decode(errors="ignore").rstrip() + " …"


def clean(line: str) -> str:
    """A line without control characters, and without what would end a text of ours."""
    printable = "".join(letter if letter.isprintable() else " " for letter in line)
    return _OWN_NAME.sub("ramet recall", disarm(printable)).rstrip()


def _head(each: Recollection) -> str:
    facts = [each.time[:10], each.kind, each.agent, each.title and clip(clean(" ".join(each.title.split())), 60)]
    if each.exit_status is not None:
        facts.append(f"exit {each.exit_status}")
    if each.times > 1:
        facts.append(f"{each.times} times")
    return f"{each.place} " + ", ".join(clean(str(fact)) for fact in facts if fact)


def _quote(head: str, text: str, most_bytes: int) -> str | None:
    """A heading and its quoted lines; None if there is no room for a line."""
    room = most_bytes - _size(head)
    lines: list[str] = []
    for line in text.strip().splitlines():
        quoted = f"> {clean(line)}"
        if quoted == ">" and (not lines or lines[-1] == ">"):
            continue
        if room < min(_LEAST_BYTES, _size(quoted) + 1):
            break
        lines.append(clip(quoted, room - 1))
        room -= _size(lines[-1]) + 1
    return "\n".join([head, *lines]) if lines else None


def _size(text: str) -> int:
    return len(text.encode(errors="replace"))
