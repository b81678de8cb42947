"""The blocks of an Aider history: lines with `#### ` are the user's, with `> ` the program's, all others the agent's.

The program marks only the first line of what it says, so a cost behind many tokens is on a line without a mark.
An agent that quotes or writes a heading of that depth is misread, by Aider itself too: nothing in the file tells it
apart.
"""

import re
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import BinaryIO, Literal, NamedTuple, TypedDict

from ramet.vendors.contract.transcript_lines import LONGEST_LINE

START = "# aider chat started at "
Role = Literal["user", "assistant", "system"]
_MARKS = {"user": "#### ", "system": "> "}
_TOKENS = re.compile(
    r"Tokens: (?P<sent>[\d.,]+k?) sent(?:, (?P<written>[\d.,]+k?) cache write)?(?:, (?P<cached>[\d.,]+k?) cache hit)?"
    r", (?P<said>[\d.,]+k?) received\.(?:\s+Cost: \$(?P<cost>[\d.]+) message)?"
)
_MODEL = re.compile(r"^> (?:Main m|M)odel: (\S+)", re.MULTILINE)
_VERSION = re.compile(r"^> Aider v(\S+)", re.MULTILINE)
_HEAD_BYTES = 16 * 1024


class Block(NamedTuple):
    """Lines that one side said without a break."""

    role: Role
    text: str
    end: int
    """Where it ends in the file."""


class Description(TypedDict):
    """What the first lines of a run say of it."""

    model: str | None
    version: str | None


def instant(started: str) -> datetime | None:
    """A time in this machine's zone: the file does not say in which it was written."""
    try:
        return datetime.fromisoformat(started).astimezone().astimezone(UTC)
    except (ValueError, OverflowError, OSError):
        return None


def describe(file: BinaryIO, offset: int) -> Description:
    """The model and the version of a run."""
    file.seek(offset)
    text = file.read(_HEAD_BYTES).decode(errors="replace")
    start, _, rest = text.partition("\n")
    text = start + rest.partition(f"\n{START}")[0]
    model, version = _MODEL.search(text), _VERSION.search(text)
    return {"model": model[1] if model else None, "version": version[1] if version else None}


def split(file: BinaryIO, offset: int, end: int) -> Iterator[Block]:
    """The blocks between two places. A last line without its end is left for the next time."""
    file.seek(offset)
    role: Role | None = None
    lines: list[str] = []
    place = offset
    is_start = False  # before its first prompt a run tells how it was started, and not every line of that has a mark
    while place < end and (line := file.readline(LONGEST_LINE)).endswith(b"\n"):
        text = line.decode(errors="replace").rstrip()
        is_start = text.startswith(START) or is_start
        is_cost = bool(lines) and lines[-1].startswith("Tokens: ") and text.startswith("Cost: $")
        side = _side(text, is_programs=is_start or is_cost)
        is_start = is_start and side != "user"
        if side not in (None, role) and role is not None:
            yield from _block(role, lines, place)
            lines = []
        role = side or role
        place += len(line)
        lines.append(text.removeprefix(_MARKS.get(side or "assistant", "")) if not text.startswith(START) else "")
    if role is not None:
        yield from _block(role, lines, place)


def _side(line: str, *, is_programs: bool) -> Role | None:
    """Whose a line is; None if it is empty, and belongs to the block that it is in."""
    if line.startswith("#### "):
        return "user"
    if line.startswith("> ") or line == ">" or (line and is_programs):
        return "system"
    return "assistant" if line else None


def _block(role: Role, lines: list[str], end: int) -> Iterator[Block]:
    if text := "\n".join(lines).strip():
        yield Block(role, text, end)


def usage(block: Block) -> Iterator[dict[str, int | float]]:
    """What the calls of one answer used, rounded as in the file. What came from the cache is counted as sent too."""
    if block.role != "system":
        return
    for found in _TOKENS.finditer(block.text):
        sent, said, cached, written = (_count(found[name]) for name in ("sent", "said", "cached", "written"))
        used: dict[str, int | float] = {
            "input_tokens": max(0, sent - cached - written),
            "output_tokens": said,
            "cache_read_tokens": cached,
            "cache_write_tokens": written,
            "context_tokens": sent,
        }
        used |= {"cost_usd": float(found["cost"])} if found["cost"] else {}
        yield used


def _count(text: str | None) -> int:
    """A number of tokens, which may be in thousands: `5.3k`."""
    if not text:
        return 0
    digits = text.removesuffix("k").replace(",", "")
    try:
        return min(round(float(digits) * (1000 if text.endswith("k") else 1)), 2**53)
    except (ValueError, OverflowError):
        return 0
