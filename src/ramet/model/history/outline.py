"""An outline: what is visible of a history, worked out from its few special commits and without its texts.

Most commits of a history are plain: a turn, a tool's call or result, without an annotation. A plain commit is visible
unless a summary hides it, and only an edit changes it. All others are special: edits, summaries, annotated commits, and
those of every other type. The special ones are folded in order, as `compilation.Context` folds all commits; the plain
ones are known by their seq and are never listed. So an outline of a long history costs its special commits only.

A place is the seq of the commit that was the first to stand there. Summaries take the place of the first commit that
they hide. The visible pieces are in the order of their places.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from itertools import accumulate

import msgspec

from ramet.model.history.compilation import CommitText, Piece, edited, is_protected, read_piece
from ramet.model.history.content import BUILTIN_TYPE_HINTS, TypeHints

PLAIN_TYPES = frozenset(
    name for name, hints in BUILTIN_TYPE_HINTS.items() if hints.compiles and hints.default_priority == "normal"
)
"""The types of plain commits. The index `idx_commits_special` has all others."""

Range = tuple[int, int]
"""The first and the last of consecutive seqs."""


class Outline:
    """What is visible up to a seq. `special` has every special commit up to it, in order, without their texts."""

    def __init__(self, last_seq: int, special: Sequence[CommitText], hints: dict[str, TypeHints]) -> None:
        self.last_seq = last_seq
        self.slots: dict[int, Piece] = {}
        """The visible special pieces by their places."""
        self._hints = hints
        self._special = [commit.seq for commit in special]
        self._tokens = list(accumulate((commit.tokens for commit in special), initial=0))
        self._places: dict[int, int] = {}
        self._edits: dict[int, CommitText] = {}
        """The last edit of each plain commit that was edited."""
        self._hidden: list[Range] = []
        """The seqs whose plain commits are hidden: in order, and apart from each other."""
        for commit in special:
            self._add(commit)
        self.places = sorted(self.slots)

    @property
    def count(self) -> int:
        """How many pieces are visible."""
        hidden = sum(self._count_plain(first, last) for first, last in self._hidden)
        return len(self.slots) + self._count_plain(1, self.last_seq) - hidden

    def count_before(self, place: int) -> int:
        """How many pieces are visible before a place."""
        plain = sum(self._count_plain(first, last) for first, last in self.shown(1, place - 1))
        return bisect_left(self.places, place) + plain

    def place_of(self, commit_id: int) -> int | None:
        """The place that a special commit has, or had before it was hidden."""
        return self._places.get(commit_id)

    @property
    def size(self) -> int:
        """How many special commits it remembers."""
        return len(self._special)

    def shown(self, first: int, last: int) -> Iterator[Range]:
        """The ranges between two places that have visible plain commits, in order; special commits may lie in them."""
        for begins, ends in [*self._hidden, (self.last_seq + 1, self.last_seq + 1)]:
            if first < begins and first <= last:
                yield first, min(begins - 1, last)
            first = max(first, ends + 1)

    def is_plain(self, seq: int) -> bool:
        """Whether the commit at a seq is plain."""
        place = bisect_left(self._special, seq)
        return place == len(self._special) or self._special[place] != seq

    def find_plain(self, first: int, last: int) -> int | None:
        """The first visible plain commit of a range."""
        for begins, ends in self.shown(first, last):
            for seq in range(begins, ends + 1):
                if self.is_plain(seq):
                    return seq
        return None

    def piece_of(self, commit: CommitText) -> Piece:
        """A plain commit as it is visible."""
        piece, _ = read_piece(commit, self._hints[commit.content_type])
        edit = self._edits.get(commit.commit_id)
        return piece if edit is None or edit.seq < commit.seq else edited(piece, edit)

    def list_edits(self) -> list[CommitText]:
        """The last edit of each plain commit that was edited; the commit itself may be hidden or elsewhere."""
        return list(self._edits.values())

    def special_tokens(self, first: int, last: int) -> int:
        """How many tokens the special commits of a range have, visible or not."""
        return self._tokens[bisect_right(self._special, last)] - self._tokens[bisect_left(self._special, first)]

    def between(self, first: int, last: int) -> list[int]:
        """The places from one to another that special pieces have."""
        return self.places[bisect_left(self.places, first) : bisect_right(self.places, last)]

    def _count_plain(self, first: int, last: int) -> int:
        return last + 1 - first - bisect_right(self._special, last) + bisect_left(self._special, first)

    def _add(self, commit: CommitText) -> None:
        hints = self._hints.get(commit.content_type)
        if hints is None or not hints.compiles:
            return
        if commit.target_id is not None:
            self._edit(commit, commit.target_id)
            return
        piece, span = read_piece(commit, hints)
        if span is not None:
            self._compress(piece, span[0], span[1])
        elif piece.priority != "skip":
            self._places[commit.commit_id] = commit.seq
            self.slots[commit.seq] = piece

    def _edit(self, commit: CommitText, target_id: int) -> None:
        place = self._places.get(target_id)
        if place is None:
            self._edits[target_id] = commit
            return
        target = self.slots.get(place)
        if target is not None and target.commit_id == target_id:
            self.slots[place] = edited(target, commit)

    def _compress(self, summary: Piece, first: int, last: int) -> None:
        place = summary.seq
        for each, piece in list(self.slots.items()):
            if piece.lies_within(first, last) and not is_protected(piece, self._hints):
                del self.slots[each]
                place = min(place, each)
        # What came behind the summary is not hidden by it, whatever seq it names.
        until = min(last, summary.seq - 1)
        plain = self.find_plain(first, until)
        if plain is not None:
            place = min(place, plain)
            self._hide(first, until)
        if summary.priority != "skip":
            self._places[summary.commit_id] = place
            self.slots[place] = msgspec.structs.replace(summary, seq=first, last_seq=last)

    def _hide(self, first: int, last: int) -> None:
        apart = []
        for begins, ends in self._hidden:
            if ends + 1 < first or last + 1 < begins:
                apart.append((begins, ends))
            else:
                first, last = min(first, begins), max(last, ends)
        self._hidden = sorted([*apart, (first, last)])
