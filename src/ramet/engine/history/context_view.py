"""Parts of a context: only the commits that are asked for are read, and the texts of the chosen ones only.

What is visible follows from the special commits (`model.history.outline`), which are read first. Plain commits are then
read in ranges. The pieces are the same as those of the whole context (`compiler.compile_context`), byte by byte.
"""

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Protocol

from ramet.engine.context_cache import KeptOutline
from ramet.engine.history import references
from ramet.engine.transaction import Transaction
from ramet.model.history.branch import Point
from ramet.model.history.budget import NewestFirst, Placed, call_of
from ramet.model.history.compilation import CommitText, Piece, is_protected, read_piece, within_budget
from ramet.model.history.outline import Outline
from ramet.protocol.history.contexts import Window
from ramet.store.history import commits

_CHUNK = 256
"""How many commits are read at once. A context of a few thousand tokens has fewer."""


class Pieces(Protocol):
    """Visible pieces, all or some of them."""

    @property
    def count(self) -> int:
        """How many there are."""

    def tokens(self) -> int:
        """How many tokens they have."""

    def forward(self, place: int = 1) -> Iterator[Placed]:
        """Those from a place on, without their texts."""


class ChosenPieces:
    """The pieces that fit a window and a budget, in their order: a budget puts results behind their calls."""

    def __init__(self, placed: list[Placed]) -> None:
        self._placed = [(number, piece) for number, (_, piece) in enumerate(placed, start=1)]

    @property
    def count(self) -> int:
        return len(self._placed)

    def tokens(self) -> int:
        return sum(piece.tokens for _, piece in self._placed)

    def forward(self, place: int = 1) -> Iterator[Placed]:
        return (placed for placed in self._placed if placed[0] >= place)


class ContextView:
    """The pieces that lead to a commit, read as far as they are needed."""

    def __init__(self, tx: Transaction, point: Point | None, *, is_changing: bool = False) -> None:
        """A change keeps nothing for later: it may be undone, and its ids be given again."""
        self._tx = tx
        self._point = point
        self._spans = references.spans(tx, point)
        self._last = point.seq if point else 0
        self._hints = commits.type_hints(tx.db)
        revision = commits.find_revision(tx.db)
        kept = tx.contexts.outlines.find(point.commit_id, revision, self._hints) if point else None
        if kept is None:
            outline = Outline(self._last, commits.list_special(tx.db, self._spans), self._hints)
            kept = KeptOutline(point.commit_id if point else 0, revision, self._hints, outline)
            if point is not None and not is_changing:
                tx.contexts.outlines.keep(kept)
        self._kept = kept
        self.outline = kept.outline

    @property
    def count(self) -> int:
        """How many pieces are visible."""
        return self.outline.count

    def tokens(self) -> int:
        """How many tokens the visible pieces have."""
        if self._kept.tokens is None:
            self._kept.tokens = self._sum_tokens()
        return self._kept.tokens

    def forward(self, place: int = 1) -> Iterator[Placed]:
        """The pieces from a place on, without their texts."""
        while place <= self._last:
            yield from self._read(place, place + _CHUNK - 1)
            place += _CHUNK

    def backward(self, place: int | None = None) -> Iterator[Placed]:
        """The pieces up to a place (default: all of them) without their texts, the newest first."""
        place = self._last if place is None else place
        while place >= 1:
            yield from reversed(self._read(max(place - _CHUNK + 1, 1), place))
            place -= _CHUNK

    def choose(self, window: Window | None, max_tokens: int | None) -> ChosenPieces:
        """The pieces within a window and a budget."""
        if window is None or window.first + window.last >= self.count:
            return ChosenPieces(list(self.forward()) if max_tokens is None else self._within_budget(max_tokens))
        chosen = self._within_window(window.first, window.last)
        return ChosenPieces(chosen if max_tokens is None else _fit(chosen, max_tokens))

    def within(self, first: int, last: int) -> list[Placed]:
        """The pieces that a summary of a range would hide, without their texts."""
        special = [
            (place, self.outline.slots[place]) for place in self.outline.places if self._is_hideable(place, first, last)
        ]
        plain = [placed for placed in self._read(first, last) if placed[0] not in self.outline.slots]
        return sorted([*special, *plain], key=_place)

    def has_within(self, first: int, last: int) -> bool:
        """Whether a summary of a range would hide something."""
        is_special = any(self._is_hideable(place, first, last) for place in self.outline.places)
        return is_special or self.outline.find_plain(first, last) is not None

    def unchanged_until(self, depth: int) -> int:
        """The place from which on to compare this context with another one that has the same commits up to a depth.

        All before it is the same in both, and so are two texts from it on.
        """
        place = depth + 1
        for commit in commits.list_special(self._tx.db, self._spans, after=depth):
            place = min(place, self._first_changed(commit))
        # Every text ends what calls are open before it, so messages can be begun with one.
        texts = (before for before, piece in self.backward(place - 1) if not (piece.payload or {}).get("call_id"))
        return next(islice(texts, 1, None), 1)

    def _first_changed(self, commit: CommitText) -> int:
        """The first place that a commit changes."""
        if commit.target_id is not None:
            place = self.outline.place_of(commit.target_id)
            found = None if place else commits.find_tokens(self._tx.db, commit.target_id)
            return place or (found[1] if found else commit.seq)
        _, span = read_piece(commit, self._hints[commit.content_type])
        return min(span[0], commit.seq) if span else commit.seq

    def count_tokens(self, place: int) -> int:
        """About how many tokens there are from a place on; those of hidden commits are among them."""
        return commits.sum_tokens(self._tx.db, self._spans, place, self._last)

    def with_texts(self, placed: Iterable[Placed]) -> list[Placed]:
        """The same pieces with their texts."""
        pieces = list(placed)
        found = commits.read_texts_at(self._tx.db, self._tx.codec, self._spans, {piece.text_seq for _, piece in pieces})
        return [(place, piece.with_text(*found[piece.text_seq])) for place, piece in pieces]

    def in_chunks(self, placed: Iterable[Placed]) -> Iterator[Placed]:
        """Pieces with their texts, which are read as they are needed."""
        pieces = iter(placed)
        while chunk := list(islice(pieces, _CHUNK)):
            yield from self.with_texts(chunk)

    def with_hashes(self, placed: Iterable[Placed]) -> Iterator[Piece]:
        """Pieces with the hashes of their texts instead of the texts."""
        pieces = iter(placed)
        while chunk := list(islice(pieces, _CHUNK)):
            found = commits.read_hashes_at(self._tx.db, self._spans, {piece.text_seq for _, piece in chunk})
            yield from (piece.with_text("", found[piece.text_seq]) for _, piece in chunk)

    def _read(self, first: int, last: int) -> list[Placed]:
        """The pieces between two places."""
        plain = [
            (commit.seq, self.outline.piece_of(commit))
            for begins, ends in self.outline.shown(first, last)
            for commit in commits.read_facts(self._tx.db, self._spans, begins, ends)
            if self.outline.is_plain(commit.seq)
        ]
        special = [(place, self.outline.slots[place]) for place in self.outline.between(first, last)]
        return sorted([*plain, *special], key=_place) if special else plain

    def _is_hideable(self, place: int, first: int, last: int) -> bool:
        piece = self.outline.slots[place]
        return piece.lies_within(first, last) and not is_protected(piece, self._hints)

    def _within_window(self, first: int, last: int) -> list[Placed]:
        begins = list(islice(self.forward(), first))
        ends = list(islice(self.backward(), last))[::-1]
        after, before = begins[-1][0] if begins else 0, ends[0][0] if ends else self._last + 1
        pinned = [
            (place, self.outline.slots[place])
            for place in self.outline.places
            if after < place < before and self.outline.slots[place].priority == "pinned"
        ]
        return [*begins, *pinned, *ends]

    def _within_budget(self, max_tokens: int) -> list[Placed]:
        special = [(place, self.outline.slots[place]) for place in reversed(self.outline.places)]
        chosen = [placed for placed in special if placed[1].priority == "pinned"]
        important = [placed for placed in special if placed[1].priority == "important"]
        if any(call_of(piece) for _, piece in (*chosen, *important)):
            # A call or a result stays for the other's sake, wherever that is: rare enough to look at all of them.
            return _fit(list(self.forward()), max_tokens)
        left = max_tokens - sum(piece.tokens for _, piece in chosen)
        for placed in important:
            if placed[1].tokens <= left:
                left -= placed[1].tokens
                chosen.append(placed)
        normal = (placed for placed in self.backward() if placed[1].priority == "normal")
        return sorted([*chosen, *NewestFirst(normal).take(left)], key=_place)

    def _sum_tokens(self) -> int:
        """The database adds up the plain commits; what was edited or lies between them is set right."""
        db, outline = self._tx.db, self.outline
        shown = list(outline.shown(1, self._last))
        total = sum(commits.sum_tokens(db, self._spans, first, last) for first, last in shown)
        total -= sum(outline.special_tokens(first, last) for first, last in shown)
        total += sum(piece.tokens for piece in outline.slots.values())
        for edit in outline.list_edits():
            total += self._change_of(edit.target_id or 0, edit.seq, edit.tokens, shown)
        return total

    def _change_of(self, target_id: int, edit_seq: int, tokens: int, shown: list[tuple[int, int]]) -> int:
        """By how much the edit of a plain commit changes the sum."""
        found = commits.find_tokens(self._tx.db, target_id)
        if found is None:
            return 0
        segment_id, seq, before = found
        is_here = any(span.segment_id == segment_id and span.first <= seq <= span.last for span in self._spans)
        is_shown = any(first <= seq <= last for first, last in shown) and self.outline.is_plain(seq)
        return tokens - before if is_here and is_shown and edit_seq > seq else 0


def _place(placed: Placed) -> int:
    return placed[0]


def _fit(placed: list[Placed], max_tokens: int) -> list[Placed]:
    places = {id(piece): place for place, piece in placed}
    return [(places[id(piece)], piece) for piece in within_budget([piece for _, piece in placed], max_tokens)]
