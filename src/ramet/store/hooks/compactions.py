"""What is remembered of compactions: marks on the commits around them."""

from msgspec import Struct

from ramet.model.history.branch import Span
from ramet.store.database.connection import Connection
from ramet.store.database.queries import QueryFile

_sql = QueryFile("hooks/compactions")

_BEFORE, _DONE = "pre-compact/", "compaction/"


class Whole(Struct, frozen=True):
    """The commit up to which a context was whole before a compaction."""

    number: int
    commit_id: int
    hash: bytes
    tokens: int
    at_ms: int


def list_whole(db: Connection, spans: list[Span]) -> list[Whole]:
    """Where contexts were whole, the newest first."""
    return [
        Whole(number, *rest)
        for span in reversed(spans)
        for tag, *rest in db.all(_sql.before, segment_id=span.segment_id, first=span.first, last=span.last)
        if (number := _number(tag)) is not None
    ]


def list_marked(db: Connection, spans: list[Span], number: int) -> list[int]:
    """The commits that are marked as whole before one compaction."""
    return [
        row[0]
        for span in spans
        for row in db.all(
            _sql.marked, tag=f"{_BEFORE}{number}", segment_id=span.segment_id, first=span.first, last=span.last
        )
    ]


def count_done(db: Connection, spans: list[Span]) -> int:
    """How many compactions are over."""
    tags = [
        row[0]
        for span in spans
        for row in db.all(_sql.done, segment_id=span.segment_id, first=span.first, last=span.last)
    ]
    return max((number for tag in tags if (number := _number(tag)) is not None), default=0)


def mark_whole(db: Connection, commit_id: int, number: int) -> None:
    """A context is whole up to here, before its so-manieth compaction."""
    db.run(_sql.mark, commit_id=commit_id, tag=f"{_BEFORE}{number}")


def unmark_whole(db: Connection, commit_id: int, number: int) -> None:
    """It was not whole there yet."""
    db.run(_sql.unmark, commit_id=commit_id, tag=f"{_BEFORE}{number}")


def mark_done(db: Connection, commit_id: int, number: int) -> None:
    """The boundary that a compaction left."""
    db.run(_sql.mark, commit_id=commit_id, tag=f"{_DONE}{number}")


def _number(tag: str) -> int | None:
    """Somebody may have given a tag of this kind by hand."""
    number = tag.partition("/")[2]
    return int(number) if number.isdecimal() and number.isascii() else None
