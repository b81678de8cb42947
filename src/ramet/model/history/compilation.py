"""From commits to what a model reads: edits replace, skips vanish, compressed ranges show their summary.

Everything here is a function of the commits in their order, one at a time: what has been compiled up to a commit can be
kept and continued with the next one, and costs the next one only.
"""

from typing import Any, Self

import msgspec
from msgspec import Struct

from ramet.model.history.content import (
    COMPRESSES,
    PAYLOAD,
    Priority,
    TypeHints,
    render_session,
)

_RANK: dict[Priority, int] = {"pinned": 0, "important": 1, "normal": 2}


class PlacedText(Struct, frozen=True):
    """What a commit says, and where it stands."""

    text: str
    commit_id: int
    content_hash: bytes
    """Of the text as it was committed; what a model reads follows from it, the role and the payload."""
    seq: int
    content_type: str
    role: str


class CommitText(PlacedText, frozen=True):
    """What compiling needs of a commit."""

    target_id: int | None
    tokens: int
    metadata: str | None
    priority: Priority | None


class Piece(PlacedText, frozen=True):
    """A commit that a model reads, in its place."""

    tokens: int
    priority: Priority
    payload: dict[str, Any] | None
    last_seq: int | None = None
    """The end of the range whose place a summary takes; its beginning is `seq`."""
    text_seq: int = 0
    """The seq of the commit that has its text: its own, or its last edit's."""

    def with_text(self, text: str, content_hash: bytes) -> "Piece":
        """This piece with its text, which was read later than the rest."""
        readable = _readable(self.content_type, text, self.payload)
        return msgspec.structs.replace(self, text=readable, content_hash=content_hash)

    def lies_within(self, first: int, last: int) -> bool:
        """Whether all that it stands for lies in a range."""
        return first <= self.seq and (self.last_seq or self.seq) <= last


class Context:
    """What has been compiled so far. `extended` gives the next one and leaves this one as it is."""

    __slots__ = ("_hints", "_places", "is_rewritten", "pieces")

    def __init__(self, hints: dict[str, TypeHints]) -> None:
        self._hints = hints
        self._places: dict[int, int] = {}
        self.pieces: list[Piece | None] = []
        """In order; None where something was hidden since."""
        self.is_rewritten = False
        """Whether the last extension changed a piece that was there before it."""

    def extended(self, commits: list[CommitText]) -> Self:
        """This context with more commits behind it."""
        longer = type(self)(self._hints)
        longer._places = dict(self._places)
        longer.pieces = list(self.pieces)
        for commit in commits:
            longer._add(commit)
        return longer

    def visible(self) -> list[Piece]:
        """The pieces that a model reads."""
        return self.visible_from(0)

    def visible_from(self, place: int) -> list[Piece]:
        """The pieces that a model reads, from a place on."""
        return [piece for piece in self.pieces[place:] if piece is not None]

    def _add(self, commit: CommitText) -> None:
        hints = self._hints.get(commit.content_type)
        if hints is None or not hints.compiles:
            return
        if commit.target_id is not None:
            self._edit(commit)
            return
        piece, span = read_piece(commit, hints)
        if span is not None:
            self._compress(piece, span[0], span[1])
        elif piece.priority != "skip":
            self._places[commit.commit_id] = len(self.pieces)
            self.pieces.append(piece)

    def _edit(self, commit: CommitText) -> None:
        """Put another text in the place of the target's; an edit of what is hidden changes nothing."""
        place = self._places.get(commit.target_id or 0)
        target = self.pieces[place] if place is not None else None
        # A summary may have taken the place of the target.
        if place is not None and target is not None and target.commit_id == commit.target_id:
            self.pieces[place] = edited(target, commit)
            self.is_rewritten = True

    def _compress(self, summary: Piece, first: int, last: int) -> None:
        """Put the summary in the place of what may be compressed; what is pinned stays where it is."""
        place = len(self.pieces)
        for index, piece in enumerate(self.pieces):
            if piece is None or not piece.lies_within(first, last) or is_protected(piece, self._hints):
                continue
            self.pieces[index] = None
            place = min(place, index)
        self.is_rewritten = True
        shown = msgspec.structs.replace(summary, seq=first, last_seq=last)
        if summary.priority == "skip":
            return
        self._places[summary.commit_id] = place
        if place == len(self.pieces):
            self.pieces.append(shown)
        else:
            self.pieces[place] = shown


def is_protected(piece: Piece, hints: dict[str, TypeHints]) -> bool:
    """Whether a piece stays out of compression: pinned, or of a kind that is never compressed."""
    return piece.priority == "pinned" or hints[piece.content_type].is_protected


def _readable(content_type: str, text: str, payload: dict[str, Any] | None) -> str:
    return render_session(text, payload) if content_type == "session" and payload else text


def read_piece(commit: CommitText, hints: TypeHints) -> tuple[Piece, list[int] | None]:
    """A commit as a piece, skipped or not; and the range that it compresses, if it is a summary."""
    metadata = msgspec.json.decode(commit.metadata, type=dict[str, Any]) if commit.metadata else {}
    payload = metadata.get(PAYLOAD)
    piece = Piece(
        _readable(commit.content_type, commit.text, payload),
        commit.commit_id,
        commit.content_hash,
        commit.seq,
        commit.content_type,
        commit.role,
        commit.tokens,
        commit.priority or hints.default_priority,
        payload,
        text_seq=commit.seq,
    )
    return piece, metadata.get(COMPRESSES)


def edited(piece: Piece, edit: CommitText) -> Piece:
    """A piece as an edit changes it."""
    return msgspec.structs.replace(
        piece,
        text=_readable(piece.content_type, edit.text, piece.payload),
        content_hash=edit.content_hash,
        tokens=edit.tokens,
        text_seq=edit.seq,
    )


def within_window(pieces: list[Piece], first: int, last: int) -> list[Piece]:
    """The first and the last so many, and whatever is pinned between them."""
    if first + last >= len(pieces):
        return pieces
    middle = pieces[first : len(pieces) - last]
    kept = [piece for piece in middle if piece.priority == "pinned"]
    return [*pieces[:first], *kept, *pieces[len(pieces) - last :]]


def within_budget(pieces: list[Piece], max_tokens: int) -> list[Piece]:
    """What fits: everything pinned whatever it costs, then what is important, then the rest, each newest first.

    A tool's call and its result stay or go together.
    """
    groups = _groups(pieces)
    order = sorted(range(len(groups)), key=lambda index: (_rank(groups[index]), -index))
    left, kept = max_tokens, set()
    for index in order:
        cost = sum(piece.tokens for piece in groups[index])
        if _rank(groups[index]) == 0 or cost <= left:
            left -= cost
            kept.add(index)
        elif _rank(groups[index]) == _RANK["normal"]:
            break
    return [piece for index, group in enumerate(groups) if index in kept for piece in group]


def _rank(group: list[Piece]) -> int:
    return min(_RANK[piece.priority] for piece in group)


def _groups(pieces: list[Piece]) -> list[list[Piece]]:
    """Pieces that stay or go together: calls with their results, everything else alone."""
    groups: list[list[Piece]] = []
    open_calls: dict[str, int] = {}
    for piece in pieces:
        payload = piece.payload or {}
        call_id = payload.get("call_id") if piece.content_type == "tool_io" else None
        if call_id and payload.get("direction") == "result" and call_id in open_calls:
            groups[open_calls.pop(call_id)].append(piece)
            continue
        if call_id and payload.get("direction") == "call":
            open_calls[call_id] = len(groups)
        groups.append([piece])
    return groups
