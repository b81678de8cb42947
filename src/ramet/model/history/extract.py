"""A summary without a model: the beginnings of what was said, longer for what matters more. Always the same."""

from ramet.model.history.commit import estimate_tokens
from ramet.model.history.compilation import Piece
from ramet.model.history.content import TypeHints

_SHARE = 0.2
"""How long a summary is where nobody says, as a part of what it stands for."""
_SHORTEST = 24
_FRAME = 7
"""What a line has beside its role and its text: a dash, a colon, spaces, a mark where it was cut, its end."""


def extract(pieces: list[Piece], hints: dict[str, TypeHints], target_tokens: int | None) -> str:
    """One line for each piece, cut so that all of them together come to about the target."""
    total = sum(piece.tokens for piece in pieces)
    characters = 4 * (target_tokens or max(int(total * _SHARE), len(pieces) * 4))
    characters -= sum(len(piece.role) + _FRAME for piece in pieces)
    weights = [hints[piece.content_type].compression_priority + 1 for piece in pieces]
    lines = [
        f"- {piece.role}: {_cut(piece.text, int(characters * weight / sum(weights)))}"
        for piece, weight in zip(pieces, weights, strict=True)
    ]
    while target_tokens and len(lines) > 1 and estimate_tokens("\n".join(lines)) > target_tokens:
        lightest = min(range(len(lines)), key=lambda index: (weights[index], -len(lines[index]), index))
        del lines[lightest], weights[lightest]
    return "\n".join(lines)


def _cut(text: str, characters: int) -> str:
    """The beginning of a text on one line, to the end of a sentence or a word."""
    line = " ".join(text.split())
    room = max(characters, _SHORTEST)
    if len(line) <= room:
        return line
    head = line[:room]
    for end in (". ", "! ", "? ", "; "):
        if (found := head.rfind(end)) >= room // 2:
            return head[: found + 1]
    return head.rsplit(" ", 1)[0] + " …"
