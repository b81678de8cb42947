"""Lines as recorded edits keep them: hashes of their normalised text, in the order of the text around them.

A line is compared without its white space, so that a new indentation or a formatter's spaces change nothing. Blank
lines are left out: they say nothing about who wrote them. A hunk is a run of lines of which some were added; the
others are the context that tells the place of an edit from other places with the same line.
"""

import hashlib
import struct
from collections import Counter
from collections.abc import Iterable, Sequence
from difflib import SequenceMatcher
from typing import NamedTuple

MOST_LINES = 5000
"""Lines of one edit of one file that are kept. What is longer was generated, and its effort answers for it."""
_MOST_COMPARISONS = 4_000_000
_SEPARATOR = b"\0" * 8


class Line(NamedTuple):
    """A line of a hunk."""

    hash: int
    is_added: bool


Hunk = tuple[Line, ...]


def normalise(line: str) -> str:
    """A line without its white space."""
    return "".join(line.split())


def hash_line(line: str) -> int:
    """The hash of a line, an even number; 0 for a blank line."""
    text = normalise(line)
    if not text:
        return 0
    digest = hashlib.blake2b(text.encode(errors="surrogateescape"), digest_size=8).digest()
    return (int.from_bytes(digest) & ~1) or 2


def weigh(line: str) -> int:
    """How much a line says: its letters and digits. `}` says nothing, `return None` little."""
    return sum(character.isalnum() for character in line)


def compare(old: str, new: str) -> list[Hunk]:
    """What an edit that replaced `old` by `new` added, with the lines around it that it kept."""
    after = hash_lines(new)[:MOST_LINES]
    added = _added(hash_lines(old), after)
    hunk = tuple(Line(hashed, place in added) for place, hashed in enumerate(after))
    return [hunk] if added else []


def hash_lines(text: str) -> list[int]:
    """The hashes of the lines of a text that are not blank."""
    return [hashed for line in text.split("\n") if (hashed := hash_line(line))]


def compare_files(before: Sequence[int], after: Sequence[int], context: int = 3) -> list[Hunk]:
    """What was added to a whole file, by the hashes of its lines: only the places that changed."""
    added = _added(before, after)
    shown = sorted({near for place in added for near in range(place - context, place + context + 1)})
    hunks: list[list[Line]] = []
    last = -2
    for place in shown:
        if not 0 <= place < len(after):
            continue
        if place != last + 1:
            hunks.append([])
        hunks[-1].append(Line(after[place], place in added))
        last = place
    return [tuple(hunk) for hunk in hunks]


def pack_hashes(hashes: Sequence[int]) -> bytes:
    """The hashes of lines, eight bytes each."""
    return struct.pack(f">{len(hashes)}Q", *hashes)


def unpack_hashes(data: bytes) -> list[int]:
    """The hashes back."""
    return [word for (word,) in struct.iter_unpack(">Q", data[: len(data) // 8 * 8])]


def _added(before: Sequence[int], after: Sequence[int]) -> set[int]:
    if len(before) * len(after) > _MOST_COMPARISONS:
        left = Counter(before)
        found = set()
        for place, hashed in enumerate(after):
            if left[hashed] > 0:
                left[hashed] -= 1
            else:
                found.add(place)
        return found
    matcher = SequenceMatcher(None, before, after, autojunk=False)
    kept = {place for block in matcher.get_matching_blocks() for place in range(block.b, block.b + block.size)}
    return set(range(len(after))) - kept


def pack(hunks: Iterable[Hunk]) -> bytes:
    """Hunks as the database keeps them: eight bytes for each line, whose lowest bit says that it was added."""
    parts = [b"".join(struct.pack(">Q", line.hash | line.is_added) for line in hunk) for hunk in hunks]
    return _SEPARATOR.join(parts)[: 8 * MOST_LINES]


def unpack(data: bytes) -> list[Hunk]:
    """The hunks back."""
    hunks: list[Hunk] = []
    lines: list[Line] = []
    for (word,) in struct.iter_unpack(">Q", data[: len(data) // 8 * 8]):
        if word == 0:
            hunks.append(tuple(lines))
            lines = []
        else:
            lines.append(Line(word & ~1, bool(word & 1)))
    return [hunk for hunk in (*hunks, tuple(lines)) if hunk]
