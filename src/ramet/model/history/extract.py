"""A summary without a model: the beginnings of what was said, longer for what matters more. Always the same.

Nobody reads the texts before they are cut, so two rules have to do. What a text does not need of its share is left to
the others; and unless a size is asked for, no text loses its first sentence. Data counts for little and is told by its
values.
"""

import json
import re
from collections.abc import Iterator, Sequence
from typing import Any

from ramet.model.history.commit import estimate_tokens
from ramet.model.history.compilation import Piece
from ramet.model.history.content import TypeHints

_SHARE = 0.2
"""How long a summary is where nobody says, as a part of what it stands for."""
_SHORTEST = 24
_LONGEST_SENTENCE = 200
_DATA_WEIGHT = 5
"""Of a text that is data, such as the arguments of a tool."""
_FRAME = 7
"""What a line has beside its role and its text: a dash, a colon, spaces, a mark where it was cut, its end."""
_SENTENCE = re.compile(r".+?[.!?;](?= |$)")


def extract(pieces: list[Piece], hints: dict[str, TypeHints], target_tokens: int | None) -> str:
    """One line for each piece, cut so that all of them together come to about the target."""
    values = [_read_data(piece.text) for piece in pieces]
    texts = [
        " ".join((piece.text if data is None else data).split()) for piece, data in zip(pieces, values, strict=True)
    ]
    weights = [
        hints[piece.content_type].compression_priority + 1 if data is None else _DATA_WEIGHT
        for piece, data in zip(pieces, values, strict=True)
    ]
    total = sum(piece.tokens for piece in pieces)
    characters = 4 * (target_tokens or max(int(total * _SHARE), len(pieces) * 4))
    characters -= sum(len(piece.role) + _FRAME for piece in pieces)
    rooms = _share([len(text) for text in texts], weights, max(characters, 0))
    if target_tokens is None:
        needed = (0 if data is not None else _first_sentence(text) for text, data in zip(texts, values, strict=True))
        rooms = [max(room, least) for room, least in zip(rooms, needed, strict=True)]
    lines = [f"- {piece.role}: {_cut(text, room)}" for piece, text, room in zip(pieces, texts, rooms, strict=True)]
    while target_tokens and len(lines) > 1 and estimate_tokens("\n".join(lines)) > target_tokens:
        lightest = min(range(len(lines)), key=lambda index: (weights[index], -len(lines[index]), index))
        del lines[lightest], weights[lightest]
    return "\n".join(lines)


def _share(needs: Sequence[int], weights: Sequence[int], room: int) -> list[int]:
    """How much room each gets: by its weight, but never more than it needs."""
    rooms, open_ones = [0] * len(needs), list(range(len(needs)))
    while open_ones:
        unit = room / sum(weights[index] for index in open_ones)
        served = {index for index in open_ones if needs[index] <= unit * weights[index]}
        for index in served or open_ones:
            rooms[index] = needs[index] if served else int(unit * weights[index])
        if not served:
            break
        room -= sum(needs[index] for index in served)
        open_ones = [index for index in open_ones if index not in served]
    return rooms


def _first_sentence(text: str) -> int:
    """The length of the first sentence, or as much as a long one may have."""
    found = _SENTENCE.match(text)
    return min(found.end() if found else len(text), _LONGEST_SENTENCE)


def _read_data(text: str) -> str | None:
    """What a text that is JSON says, without its names and brackets; None for any other text."""
    if not text.lstrip().startswith(("{", "[")):
        return None
    try:
        return ", ".join(_values(json.loads(text)))
    except (ValueError, RecursionError):
        return None


def _values(data: Any) -> Iterator[str]:
    match data:
        case dict():
            for value in data.values():
                yield from _values(value)
        case list():
            for value in data:
                yield from _values(value)
        case _:
            yield str(data)


def _cut(line: str, characters: int) -> str:
    """The beginning of a text, to the end of a sentence or a word."""
    room = max(characters, _SHORTEST)
    if len(line) <= room:
        return line
    head = line[:room]
    for end in (". ", "! ", "? ", "; "):
        if (found := line[: room + 1].rfind(end)) >= room // 2:
            return head[: found + 1]
    return head.rsplit(" ", 1)[0] + " …"
