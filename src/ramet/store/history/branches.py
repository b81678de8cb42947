"""What is remembered of branches and of the moves that rewrote them."""

from msgspec import Struct

from ramet.model.history.branch import Point
from ramet.model.instant import to_datetime
from ramet.protocol.history.branches import BranchRow, MoveRow
from ramet.store.database.connection import Connection, Row
from ramet.store.database.queries import QueryFile

_sql = QueryFile("history/branches")


class Rewrite(Struct, frozen=True):
    """A move that can be taken back."""

    move_id: int
    old_commit_id: int | None
    why: str


def find(db: Connection, name: str) -> BranchRow | None:
    """A branch and where it stands."""
    row = db.one(_sql.find, name=name)
    return None if row is None else _branch(row)


def list_all(db: Connection, prefix: str, *, after: str, limit: int) -> list[BranchRow]:
    """The branches whose names begin so, by name, behind one."""
    return [_branch(row) for row in db.all(_sql.list, prefix=prefix, after=after, limit=limit)]


def delete(db: Connection, name: str) -> None:
    """Let go of a name."""
    db.run(_sql.delete, name=name)


def find_session(db: Connection, name: str) -> int | None:
    """The session that writes to a branch."""
    row = db.one(_sql.session_of, name=name)
    return None if row is None else int(row[0])


def record_move(
    db: Connection, name: str, *, old: int | None, new: int | None, why: str, now_ms: int, undoes: int | None = None
) -> None:
    """Write down a move that is not a plain append."""
    db.run(_sql.record_move, name=name, old_commit_id=old, new_commit_id=new, why=why, now_ms=now_ms, undoes=undoes)


def find_last_rewrite(db: Connection, name: str) -> Rewrite | None:
    """The newest move that has not been taken back."""
    row = db.one(_sql.last_move, name=name)
    return None if row is None else Rewrite(*row)


def find_left(db: Connection, name: str, instant_ms: int) -> tuple[bool, Point | None]:
    """Whether a branch was moved after an instant, and the place that the first such move left."""
    row = db.one(_sql.first_move_after, name=name, instant_ms=instant_ms)
    return row is not None, None if row is None or row[1] is None else Point(*row[1:])


def list_moves(db: Connection, name: str, *, before: int, limit: int) -> list[MoveRow]:
    """The moves of a branch, the newest first, older than one."""
    return [
        MoveRow(
            id=move_id,
            branch=branch,
            old=old.hex() if old else None,
            new=new.hex() if new else None,
            why=why,
            at=to_datetime(at_ms),
            undone=bool(undone),
        )
        for move_id, branch, old, new, why, at_ms, undone in db.all(_sql.moves, name=name, before=before, limit=limit)
    ]


def _branch(row: Row) -> BranchRow:
    name, commit_hash, depth, tokens, created_ms, parent = row
    return BranchRow(
        name=name,
        hash=commit_hash.hex() if commit_hash else None,
        depth=depth,
        tokens=tokens,
        created_at=to_datetime(created_ms),
        parent=parent,
    )
