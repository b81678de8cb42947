"""Which stored sessions are conversations: what nobody said anything in is none, and gives no piece."""

from collections.abc import Iterator

from msgspec.structs import replace

from ramet.model.hooks.transcript import Entry
from ramet.model.memory.stored_session import Piece
from ramet.vendors.contract.stored_files import positions

_MOST_ENTRIES = 1000
"""How many entries are held back until somebody says something."""


def spoken(pieces: Iterator[Piece], position: str | None) -> Iterator[Piece]:
    """The pieces of a session. Those before the first word go with the one that has it; none if nothing is said.

    `position` is the one from which they were read: behind one, there was a word.
    """
    held: Piece | None = None
    is_begun = False
    for piece in pieces:
        whole = piece if held is None else _join(held, piece)
        is_begun = is_begun or any(map(_is_word, whole.entries)) or len(whole.entries) > _MOST_ENTRIES
        held = None if is_begun else whole
        if is_begun:
            yield whole
    if held is not None and positions.is_position(position):
        yield replace(held, head=None)


def _join(before: Piece, piece: Piece) -> Piece:
    return replace(
        piece,
        entries=[*before.entries, *piece.entries],
        head=piece.head or before.head,
        skipped=before.skipped + piece.skipped,
    )


def _is_word(entry: Entry) -> bool:
    return entry.kind not in ("usage", "meta") and entry.role != "system"
