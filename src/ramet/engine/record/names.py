"""The names by which people call things: e12, s7, r3, a branch."""

from msgspec.structs import replace

from ramet.engine.answers import answers
from ramet.engine.transaction import Transaction
from ramet.protocol.record.names import ListNames, NameRow
from ramet.protocol.replies import Page
from ramet.store.record import names


@answers(ListNames)
def list_names(tx: Transaction, request: ListNames) -> Page[NameRow]:
    """The newest names of each kind that start with a prefix, with the first line of what each is about."""
    found = [row for kind in request.kinds for row in names.list_names(tx.db, kind, request.prefix, request.limit)]
    return Page(items=[replace(row, title=_first_line(row.title)) for row in found])


def _first_line(text: str) -> str:
    return next((line.strip() for line in text.splitlines() if line.strip()), "")
