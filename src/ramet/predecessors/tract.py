"""tract: its SQLite database of commits, refs, annotations, compressions and spawns (schema versions 2 to 4)."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ramet.model.history.commit import canonical_json
from ramet.model.memory.predecessor import (
    ImportedBranch,
    ImportedCommit,
    ImportedPriority,
    ImportedSpawn,
    NewRow,
    SourceRow,
)
from ramet.predecessors import tables
from ramet.predecessors.source import (
    Source,
    decoded,
    fingerprint,
    instant,
    invalid,
    is_object,
    parents_first,
    text,
)
from ramet.predecessors.tables import Columns
from ramet.vendors.contract.stored_files.database_file import Database

OLDEST, NEWEST = 2, 4
TABLES = (
    "_trace_meta",
    "blobs",
    "commits",
    "commit_parents",
    "refs",
    "annotations",
    "compressions",
    "compression_sources",
    "compression_results",
    "spawn_pointers",
)
_NEEDS = {
    "_trace_meta": ["key", "value"],
    "blobs": ["content_hash", "payload_json"],
    "commits": ["commit_hash", "tract_id", "parent_hash", "content_hash", "content_type", "operation", "response_to"],
    "refs": ["tract_id", "ref_name", "commit_hash", "symbolic_target"],
    "annotations": ["id", "target_hash", "priority"],
}
_PRIORITIES = ("skip", "normal", "important", "pinned")
_MODES = ("full_clone", "head_snapshot", "selective")
_HEADS = "refs/heads/"
_LONGEST = 200


def is_tract(found: set[str]) -> bool:
    """Whether a database with these tables is one of tract."""
    return {"_trace_meta", "commits", "blobs", "refs"} <= found


def open_source(path: Path) -> "TractSource":
    """The database in a file."""
    with tables.opened(path, _NEEDS) as database:
        found = database.record("SELECT value FROM _trace_meta WHERE key = 'schema_version'")
        version = None if found is None else str(found["value"])
        if version not in [str(each) for each in range(OLDEST, NEWEST + 1)]:
            raise invalid(
                path,
                f"schema version {version} of tract is not known",
                field="_trace_meta.schema_version",
                value=version,
                fix=f"import a database of the schema versions {OLDEST} to {NEWEST}",
            )
        first = next(database.rows("SELECT commit_hash FROM commits ORDER BY rowid LIMIT 1"), ("empty",))
    return TractSource(path, fingerprint("tract", *first), version or "")


class TractSource(Source):
    """A database of tract."""

    system = "tract"

    def rows(self) -> Iterator[SourceRow]:
        with tables.opened(self.path, _NEEDS) as database:
            for table in ("_trace_meta", "blobs"):
                yield from (tables.kept(table, *row) for row in tables.read_table(database, table))
            history = _History(self.path, database)
            yield from history.commits()
            refs = [columns for _, columns in tables.read_table(database, "refs")]
            yield from history.refs(refs)
            for key, columns in tables.read_table(database, "annotations"):
                yield tables.kept("annotations", key, columns, _priority(columns))
            mains = _mains(refs)
            for key, columns in tables.read_table(database, "spawn_pointers"):
                yield tables.kept("spawn_pointers", key, columns, _spawn(columns, mains))
            for table in ("commit_parents", "compressions", "compression_sources", "compression_results"):
                yield from (tables.kept(table, *row) for row in tables.read_table(database, table))
            yield from tables.read_others(database, TABLES)


class _History:
    """The commits of a database, parents first."""

    def __init__(self, path: Path, database: Database) -> None:
        self._database = database
        self._parents: dict[str, list[str]] = {}
        self._edits: dict[str, str] = {}
        """What each edit replaces."""
        for name, parent, operation, target in database.rows(
            "SELECT commit_hash, parent_hash, operation, response_to FROM commits ORDER BY rowid"
        ):
            self._parents[name] = [] if parent is None else [parent]
            if str(operation).lower() == "edit" and target is not None:
                self._edits[name] = target
        if database.columns("commit_parents"):
            for name, parent in database.rows(
                "SELECT commit_hash, parent_hash FROM commit_parents ORDER BY commit_hash, position"
            ):
                if name in self._parents and parent not in self._parents[name]:
                    self._parents[name].append(parent)
        links = {
            name: [*parents, *([self._edits[name]] if name in self._edits else [])]
            for name, parents in self._parents.items()
        }
        self._order = parents_first(links, path, "commits.parent_hash")

    def commits(self) -> Iterator[SourceRow]:
        for name in self._order:
            row = self._database.record("SELECT * FROM commits WHERE commit_hash = ?1", name) or {}
            blob = self._database.record("SELECT * FROM blobs WHERE content_hash = ?1", row["content_hash"])
            yield tables.kept("commits", name, row, [self._commit(row, blob)])

    def _commit(self, row: Columns, blob: Columns | None) -> NewRow:
        name = row["commit_hash"]
        parents = self._parents[name]
        given = decoded(row.get("metadata_json"), is_object) or {}
        said = {column: value for column, value in row.items() if value is not None and column not in _ELSEWHERE}
        content_type = str(row["content_type"])
        tokens = row.get("token_count")
        return ImportedCommit(
            content=_content(content_type, None if blob is None else blob["payload_json"]),
            content_type=content_type,
            parent=f"commits:{parents[0]}" if parents else None,
            second_parent=f"commits:{parents[1]}" if len(parents) > 1 else None,
            operation="edit" if name in self._edits else "append",
            target=f"commits:{self._original(name)}" if name in self._edits else None,
            tokens=tokens if isinstance(tokens, int) else None,
            at_ms=instant(row.get("created_at")),
            metadata={"tract": {**said, **({"metadata": given} if given else {})}},
        )

    def _original(self, name: str) -> str:
        """What an edit replaces in the end: tract edits edits too, Ramet the commit that they stand for."""
        while name in self._edits:
            name = self._edits[name]
        return name

    def refs(self, refs: list[Columns]) -> Iterator[SourceRow]:
        """The branches; and one for each end of a history that no ref names, so that it can be found and stays."""
        named = {each["commit_hash"] for each in refs}
        for each in refs:
            key = f"{each['tract_id']}:{each['ref_name']}"
            is_branch = each["commit_hash"] is not None
            new = ImportedBranch(
                name=_branch(each["tract_id"], each["ref_name"]), commit=f"commits:{each['commit_hash']}"
            )
            yield tables.kept("refs", key, each, [new] if is_branch else [])
        inner = {parent for parents in self._parents.values() for parent in parents}
        for name in self._order:
            if name not in inner and name not in named:
                row = self._database.record("SELECT tract_id FROM commits WHERE commit_hash = ?1", name) or {}
                branch = _branch(row["tract_id"], f"unreferenced-{name[:12]}")
                new = ImportedBranch(name=branch, commit=f"commits:{name}")
                yield SourceRow(table="unreferenced", key=name, becomes=[new])


_ELSEWHERE = frozenset({"metadata_json", "parent_hash", "content_type", "token_count", "created_at"})
"""Columns of a commit that Ramet has a place for."""


def _content(content_type: str, payload: object) -> dict[str, Any]:
    """A payload with the fields that Ramet has for its kind of content."""
    found = decoded(payload, is_object)
    if found is None:
        return {"value": payload}
    match content_type:
        case "tool_io" if "text" not in found:
            given = found.get("payload")
            spoken = canonical_json(given).decode() if isinstance(given, dict) else str(given or "")
            return {**found, "text": spoken}
        case "artifact" if "text" not in found:
            return {**found, "text": str(found.get("content") or "")}
        case _:
            return dict(found)


def _branch(tract_id: object, ref_name: object) -> str:
    name = f"tract/{tract_id}/{str(ref_name).removeprefix(_HEADS)}"
    return name if len(name) <= _LONGEST else f"{name[: _LONGEST - 17]}-{fingerprint(name)}"


def _mains(refs: list[Columns]) -> dict[str, str]:
    """The branch that stands for each tract: the one that its HEAD names, else its first one."""
    found: dict[str, str] = {}
    for each in refs:
        if each["commit_hash"] is not None:
            found.setdefault(str(each["tract_id"]), str(each["ref_name"]))
    for each in refs:
        if each["ref_name"] == "HEAD" and text(each["symbolic_target"]) is not None:
            found[str(each["tract_id"])] = str(each["symbolic_target"])
    return found


def _priority(row: Columns) -> list[NewRow]:
    priority = str(row["priority"]).lower()
    if priority not in _PRIORITIES:
        return []
    return [ImportedPriority(commit=f"commits:{row['target_hash']}", priority=priority)]  # type: ignore[arg-type]


def _spawn(row: Columns, mains: dict[str, str]) -> list[NewRow]:
    parent, child, mode = str(row["parent_tract_id"]), str(row["child_tract_id"]), row["inheritance_mode"]
    if mode not in _MODES:
        return []
    display_name = text(row.get("display_name"))
    commit = row.get("parent_commit_hash")
    return [
        ImportedSpawn(
            parent_branch=_branch(parent, mains.get(parent, "main")),
            child_branch=_branch(child, mains.get(child, "main")),
            parent_commit=None if commit is None else f"commits:{commit}",
            purpose=str(row["purpose"]),
            inheritance_mode=mode,
            display_name=None if display_name is None else display_name[:255],
            created_ms=instant(row.get("created_at")),
        )
    ]
