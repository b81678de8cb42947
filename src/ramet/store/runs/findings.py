"""What is remembered of what the reviews of a chain found."""

from collections.abc import Iterable

from ramet.model.runs.review import Finding
from ramet.protocol.runs.runs import FindingRow
from ramet.store.database.connection import Connection
from ramet.store.database.queries import QueryFile

_sql = QueryFile("runs/findings")

_MOST_LINES = 2**31 - 1
"""A review may name any number as a line."""


def put(db: Connection, run_id: int, effort_id: int, number: int, found: Iterable[Finding]) -> None:
    """What the review of a round says: all of it is open."""
    for finding in found:
        line = finding.line if finding.line is not None and 0 < finding.line <= _MOST_LINES else None
        db.run(
            _sql.put,
            run_id=run_id,
            effort_id=effort_id,
            round=number,
            fingerprint=finding.fingerprint,
            severity=finding.severity,
            file=finding.file,
            line=line,
            text=finding.text,
        )


def close(db: Connection, run_id: int, number: int) -> None:
    """What was said before a round, and not in it, is gone."""
    db.run(_sql.close, run_id=run_id, round=number)


def list_of_run(db: Connection, run_id: int) -> list[FindingRow]:
    """Everything that was ever found, in the order in which it was first said."""
    return db.structs(FindingRow, _sql.of_run, run_id=run_id)
