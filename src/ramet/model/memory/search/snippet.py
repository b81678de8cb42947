"""Snippets: the part of a text that answers a query, short, on one line, with the places of the words."""

from collections.abc import Sequence
from functools import lru_cache
from typing import Protocol

from msgspec import Struct

WIDTH = 240
"""Characters of a snippet."""
_BEFORE = 60
"""How much stands before the first word that was looked for."""


class Word(Protocol):
    """A word of a text, and where it stands, in bytes."""

    @property
    def start(self) -> int: ...
    @property
    def end(self) -> int: ...
    @property
    def stem(self) -> str: ...


class Snippet(Struct, frozen=True):
    """A part of a text, and the places of the words in it."""

    text: str
    highlights: list[tuple[int, int]]


def count_matches(words: Sequence[Word], stems: frozenset[str]) -> tuple[int, int]:
    """How many different words of a query a text has, and how many in all."""
    found = [word.stem for word in words if is_match(word.stem, stems)]
    return len(set(found)), len(found)


def is_match(stem: str, stems: frozenset[str]) -> bool:
    """Whether a word is one of the query's. One that ends with `*` is the beginning of words."""
    return stem in stems or stem.startswith(_prefixes(stems))


@lru_cache(maxsize=64)
def _prefixes(stems: frozenset[str]) -> tuple[str, ...]:
    return tuple(each[:-1] for each in stems if each.endswith("*"))


def cut(text: str, words: Sequence[Word], stems: frozenset[str], width: int = WIDTH) -> Snippet:
    """The window of a text that has the most different words of the query."""
    data = text.encode(errors="replace")
    hits = [word for word in words if is_match(word.stem, stems)]
    start = _best_start(hits, width)
    begin = max(start - _BEFORE, 0) if hits else 0
    if begin:  # not in the middle of a word
        space = max(data.find(b" ", begin, start + 1), data.find(b"\n", begin, start + 1))
        begin = space + 1 if space >= 0 else begin
    piece = data[begin : begin + 4 * width].decode(errors="ignore")
    is_cut = len(piece) > width or begin + 4 * width < len(data)
    piece = piece[:width]
    spans = _spans(piece, begin, hits)
    lead = "…" if begin else ""
    return _on_one_line(lead + piece + ("…" if is_cut else ""), [(a + len(lead), b + len(lead)) for a, b in spans])


def _best_start(hits: Sequence[Word], width: int) -> int:
    best, best_count = 0, 0
    for index, first in enumerate(hits):
        stems = set()
        for word in hits[index : index + 50]:
            if word.end - first.start > width - _BEFORE:
                break
            stems.add(word.stem)
        if len(stems) > best_count:
            best, best_count = first.start, len(stems)
    return best


def _spans(piece: str, begin: int, hits: Sequence[Word]) -> list[tuple[int, int]]:
    """The places of the words, in characters of the piece."""
    size = len(piece.encode())
    inside = [
        (word.start - begin, word.end - begin) for word in hits if begin <= word.start and word.end <= begin + size
    ]
    if piece.isascii():
        return inside
    data = piece.encode()
    return [(len(data[:a].decode(errors="ignore")), len(data[:b].decode(errors="ignore"))) for a, b in inside]


def _on_one_line(text: str, spans: list[tuple[int, int]]) -> Snippet:
    """Line ends and other control characters become spaces, of which several become one; the places follow."""
    if text.isprintable() and "  " not in text:
        return Snippet(text.rstrip(), spans)
    kept: list[str] = []
    places: list[int] = []
    for letter in text:
        places.append(len(kept))
        plain = " " if letter.isspace() or not letter.isprintable() else letter
        if not (plain == " " and kept and kept[-1] == " "):
            kept.append(plain)
    places.append(len(kept))
    return Snippet("".join(kept).rstrip(), [(places[a], places[b]) for a, b in spans])
