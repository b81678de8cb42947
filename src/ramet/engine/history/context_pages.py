"""A context in pages of messages. A page reads the texts of its own messages.

A cursor names the head, so that all pages are of the same context although the branch moves on. It also names the place
of a piece with which the messages can be begun anew, and how many of the messages from there were in earlier pages. So
a page needs nothing of those before it.

An annotation can change which pieces a window or a budget chooses. So the cursor of such a page also names the revision
of the annotations, and is refused after another one.
"""

import re
from collections.abc import Iterator

from msgspec import Struct

from ramet.engine.history import references
from ramet.engine.history.context_view import ContextView, Pieces
from ramet.engine.transaction import Transaction
from ramet.errors import InvalidParams
from ramet.model.history.branch import Point
from ramet.model.history.budget import Placed
from ramet.model.history.provider_messages import RENDERERS, Message, Renderer, hash_pieces, list_system
from ramet.protocol.history.contexts import Compile, Compiled
from ramet.store.history import commits

_CURSOR = re.compile(r"([0-9a-f]{64}):([0-9]{1,10}):([0-9]{1,10})(?::([0-9]{1,19}))?")


class Place(Struct, frozen=True):
    """Where a page starts."""

    piece: int = 1
    """The place of the piece with which the messages are begun."""
    skip: int = 0
    """How many of the messages from there are in earlier pages."""


def compile_page(tx: Transaction, request: Compile, limit: int) -> Compiled:
    """One page of a branch's messages."""
    if request.since is not None:
        raise InvalidParams(
            "since and limit cannot be used together",
            field="since",
            value=request.since,
            fix="compile with `since` and without `limit`, or with `limit` and `cursor` only",
        )
    is_all = request.window is None and request.max_tokens is None
    revision = None if is_all else commits.find_revision(tx.db)
    point, place = _start(tx, request, revision)
    view = ContextView(tx, point)
    pieces: Pieces = view if is_all else view.choose(request.window, request.max_tokens)
    page = _Page(RENDERERS[request.format](), place, limit)
    messages, following = page.fill(view.in_chunks(pieces.forward(place.piece)))
    is_first, is_last = place == Place(), following is None
    # The hash needs those of all texts, and the system text all roles: each is given once.
    prefix_hash = page.prefix_hash
    if is_last and not is_first:
        prefix_hash = hash_pieces(request.format, view.with_hashes(pieces.forward()))
    return Compiled(
        messages=messages,
        tokens=pieces.tokens(),
        prefix_hash=prefix_hash if is_last else "",
        omitted=view.count - pieces.count,
        head=point.hash.hex() if point else None,
        system=_system(view, pieces) if is_first and request.format == "anthropic" else None,
        next=None if following is None or point is None else _spell(point, following, revision),
    )


class _Page:
    """The messages of one page, and where the next one starts."""

    def __init__(self, renderer: Renderer, place: Place, limit: int) -> None:
        self._renderer = renderer
        self._place = place
        self._wanted = place.skip + limit
        self.prefix_hash = ""

    def fill(self, pieces: Iterator[Placed]) -> tuple[list[Message], Place | None]:
        """The messages, from the pieces behind the place; and the place of the next page, unless this is the last."""
        restart, count = self._place.piece, 0
        for place, piece in pieces:
            before = self._renderer.count
            if self._renderer.begin_with(piece) and before <= self._wanted:
                restart, count = place, before
            # All messages but the last are complete.
            if self._renderer.count > self._wanted:
                return self._cut(self._renderer.messages), Place(restart, self._wanted - count)
        messages, self.prefix_hash = self._renderer.finish()
        is_last = len(messages) <= self._wanted
        return self._cut(messages), None if is_last else Place(restart, self._wanted - count)

    def _cut(self, messages: list[Message]) -> list[Message]:
        return messages[self._place.skip : self._wanted]


def _system(view: ContextView, pieces: Pieces) -> str | None:
    """The whole system text."""
    wanted = set(list_system(piece for _, piece in pieces.forward()))
    found = (placed for position, placed in enumerate(pieces.forward()) if position in wanted)
    return "\n\n".join(piece.text for _, piece in view.in_chunks(found)) or None


def _start(tx: Transaction, request: Compile, revision: int | None) -> tuple[Point | None, Place]:
    """The head and the place that a request's cursor names; the whole branch if it has none. With a revision, the
    cursor must be of the same one.
    """
    if request.cursor is None:
        return references.either(tx, request.branch, request.hash), Place()
    found = _CURSOR.fullmatch(request.cursor)
    if found is None:
        raise InvalidParams(
            "this is not a cursor of a compiled branch",
            field="cursor",
            value=request.cursor,
            fix="use the `next` of the page before, or leave the cursor out to start again",
        )
    references.either(tx, request.branch, request.hash)
    if revision is not None and found[4] != str(revision):
        raise InvalidParams(
            "the branch was annotated since",
            field="cursor",
            value=request.cursor,
            fix="start again without the cursor",
        )
    return references.commit(tx, found[1], "cursor"), Place(int(found[2]), int(found[3]))


def _spell(point: Point, place: Place, revision: int | None) -> str:
    spelt = f"{point.hash.hex()}:{place.piece}:{place.skip}"
    return spelt if revision is None else f"{spelt}:{revision}"
