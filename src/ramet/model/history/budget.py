"""The pieces of a context that fit a budget, taken from its end, so that only its newest part has to be read.

The rules are those of `compilation.within_budget`, which sees all pieces. Whether a tool's result belongs to a call can
only be said by what came before it, so the walk looks ahead of itself as far as the call, or another result of it.
"""

from bisect import bisect_right
from collections.abc import Iterator

from ramet.model.history.compilation import Piece

Placed = tuple[int, Piece]
"""A visible piece and its place."""


def call_of(piece: Piece) -> tuple[str, str] | None:
    """The id of a tool's call, and whether this is the call or its result; None if it is neither."""
    if piece.content_type != "tool_io" or not piece.payload:
        return None
    call_id, direction = piece.payload.get("call_id"), piece.payload.get("direction")
    return (call_id, direction) if call_id and direction in ("call", "result") else None


class NewestFirst:
    """Takes normal pieces from the newest on, until one does not fit. `pieces` are given newest first."""

    def __init__(self, pieces: Iterator[Placed]) -> None:
        self._source = pieces
        self._seen: list[Placed] = []
        self._calls: dict[str, list[int]] = {}
        """Where each call's pieces are among those seen."""

    def take(self, max_tokens: int) -> list[Placed]:
        """Those that fit; a result has the place of its call."""
        taken: list[Placed] = []
        results: dict[int, int] = {}
        index, left = 0, max_tokens
        while self._see(index):
            piece = self._seen[index][1]
            named = call_of(piece)
            call = self._find_earlier(named[0], index) if named is not None and named[1] == "result" else None
            if call is not None and self._is_call(call):
                results[call] = index
            else:
                group = [index] if index not in results else [index, results[index]]
                cost = sum(self._seen[each][1].tokens for each in group)
                if cost > left:
                    break
                left -= cost
                taken += [(self._seen[index][0], self._seen[each][1]) for each in group]
            index += 1
        return taken

    def _is_call(self, index: int) -> bool:
        named = call_of(self._seen[index][1])
        return named is not None and named[1] == "call"

    def _find_earlier(self, call_id: str, index: int) -> int | None:
        """The nearest piece before this one that is about the same call."""
        while True:
            places = self._calls[call_id]
            found = bisect_right(places, index)
            if found < len(places):
                return places[found]
            if not self._see(len(self._seen)):
                return None

    def _see(self, index: int) -> bool:
        """Read on up to a piece; False if there are fewer."""
        while len(self._seen) <= index:
            placed = next(self._source, None)
            if placed is None:
                return False
            named = call_of(placed[1])
            if named is not None:
                self._calls.setdefault(named[0], []).append(len(self._seen))
            self._seen.append(placed)
        return True
