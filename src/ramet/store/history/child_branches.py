"""What is remembered of spawns: which history came out of which, and what was folded back."""

from abc import ABC, abstractmethod
from collections.abc import Iterator

from msgspec import Struct

from ramet.model.history.branch import Point
from ramet.model.instant import from_iso
from ramet.protocol.history.child_branches import SpawnRow
from ramet.protocol.history.inheritance import Inheritance
from ramet.store.database.connection import Connection, Row
from ramet.store.database.queries import QueryFile

_sql = QueryFile("history/child_branches")


class NewSpawn(Struct, frozen=True, kw_only=True):
    """A pointer about to be written."""

    parent_branch: str
    parent_commit_id: int | None
    child_branch: str
    purpose: str
    inheritance_mode: Inheritance
    display_name: str | None
    parent_session_id: int | None = None
    child_session_id: int | None = None


class CollapsedChild(Struct, frozen=True):
    """What a collapse stands for."""

    branch: str
    head: Point | None


class SpawnPointers(ABC):
    """What is known of spawns, whichever database keeps it."""

    @abstractmethod
    def save(self, new: NewSpawn, now: str) -> SpawnRow:
        """Write down where a child comes from."""

    @abstractmethod
    def get(self, spawn_id: int) -> SpawnRow | None:
        """A pointer by its id."""

    @abstractmethod
    def get_parent(self, branch: str) -> SpawnRow | None:
        """The pointer of which a history is the child; it is the only one."""

    @abstractmethod
    def get_children(self, branch: str, *, after: int = 0, limit: int = 2**31 - 1) -> list[SpawnRow]:
        """The pointers of which a history is the parent, the oldest first, behind one."""

    @abstractmethod
    def get_all(self, branch: str) -> list[SpawnRow]:
        """The pointers in which a history is parent or child."""

    @abstractmethod
    def has_ancestor(self, branch: str, ancestor: str) -> bool:
        """Whether one history descends from another. None descends from itself."""


class StoredSpawnPointers(SpawnPointers):
    """Spawns in the table `spawn_pointers`, on SQLite and on PostgreSQL."""

    def __init__(self, db: Connection) -> None:
        self._db = db

    def save(self, new: NewSpawn, now: str) -> SpawnRow:
        row = self._db.must(
            _sql.insert,
            parent_branch=new.parent_branch,
            parent_commit_id=new.parent_commit_id,
            child_branch=new.child_branch,
            purpose=new.purpose,
            inheritance_mode=new.inheritance_mode,
            display_name=new.display_name,
            parent_session_id=new.parent_session_id,
            child_session_id=new.child_session_id,
            now=now,
        )
        return _spawn(self._db, self._db.must(_sql.by_id, id=row[0]))

    def get(self, spawn_id: int) -> SpawnRow | None:
        row = self._db.one(_sql.by_id, id=spawn_id)
        return None if row is None else _spawn(self._db, row)

    def get_parent(self, branch: str) -> SpawnRow | None:
        row = self._db.one(_sql.by_child, branch=branch)
        return None if row is None else _spawn(self._db, row)

    def get_children(self, branch: str, *, after: int = 0, limit: int = 2**31 - 1) -> list[SpawnRow]:
        rows = self._db.all(_sql.by_parent, branch=branch, after=after, limit=limit)
        return [_spawn(self._db, row) for row in rows]

    def get_all(self, branch: str) -> list[SpawnRow]:
        return [_spawn(self._db, row) for row in self._db.all(_sql.involving, branch=branch)]

    def has_ancestor(self, branch: str, ancestor: str) -> bool:
        return any(name == ancestor for name in ancestors(self._db, branch))


def ancestors(db: Connection, branch: str) -> Iterator[str]:
    """A history's parent, its parent, and so on; ends where a damaged chain would come back to itself."""
    seen = {branch}
    while (row := db.one(_sql.parent_of, branch=branch)) is not None and row[0] not in seen:
        branch = row[0]
        seen.add(branch)
        yield branch


def record_collapse(db: Connection, spawn_id: int, commit_id: int, child_head_id: int | None, now_ms: int) -> None:
    """Write down that a parent has taken in what a child had done."""
    db.run(_sql.record_collapse, spawn_id=spawn_id, commit_id=commit_id, child_head_id=child_head_id, now_ms=now_ms)


def find_collapsed(db: Connection, commit_id: int) -> CollapsedChild | None:
    """What a collapse commit stands for; None where it stands for itself."""
    row = db.one(_sql.collapse_at, commit_id=commit_id)
    if row is None:
        return None
    return CollapsedChild(row[0], None if row[1] is None else Point(*row[1:]))


def list_roots(db: Connection, prefix: str) -> list[tuple[str, Point]]:
    """Histories without a parent, the most recently written first."""
    return [(row[0], Point(*row[1:])) for row in db.all(_sql.unended_roots, prefix=prefix)]


def _spawn(db: Connection, row: Row) -> SpawnRow:
    spawn_id, parent, commit_hash, child, purpose, mode, display_name, created_at = row
    return SpawnRow(
        spawn_id=spawn_id,
        parent=parent,
        parent_commit=commit_hash.hex() if commit_hash else None,
        child=child,
        purpose=purpose,
        inheritance_mode=mode,
        display_name=display_name,
        created_at=from_iso(created_at),
        collapses=[found[0].hex() for found in db.all(_sql.collapses_of, spawn_id=spawn_id)],
    )
