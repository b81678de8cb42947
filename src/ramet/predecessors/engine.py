"""Engine v3: the SQLite database of its daemon, `.engine.db` (schema version 3)."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

from ramet.model.memory.predecessor import (
    NewAgent,
    NewEffort,
    NewEmbedding,
    NewMessage,
    NewPhase,
    NewProject,
    NewRow,
    NewSession,
    NewSkill,
    NewTask,
    SourceRow,
)
from ramet.model.record.message import Role
from ramet.predecessors import tables
from ramet.predecessors.source import (
    Source,
    decoded,
    fingerprint,
    instant,
    invalid,
    is_list,
    is_object,
    is_texts,
    parents_first,
    text,
)
from ramet.predecessors.tables import Columns
from ramet.vendors.contract.stored_files.database_file import Database

VERSION = 3
TABLES = ("projects", "skills", "tasks", "efforts", "sessions", "phase_history", "messages", "agents", "embeddings")
_NEEDS = {
    "projects": ["id", "path"],
    "tasks": ["dir_path", "project_id"],
    "efforts": ["id", "task_id", "skill", "ordinal", "lifecycle"],
    "sessions": ["id", "task_id", "effort_id", "prev_session_id"],
    "phase_history": ["id", "effort_id", "phase_label"],
    "messages": ["id", "session_id", "role", "content"],
}
_EMBEDDING_MODEL = "text-embedding-004"
"""The model that the document names; the table does not say it."""
_UNFINISHED = "unfinished when it was imported from Engine v3"


def is_engine(found: set[str]) -> bool:
    """Whether a database with these tables is one of Engine v3."""
    return {"efforts", "phase_history", "tasks", "sessions"} <= found


def open_source(path: Path) -> "EngineSource":
    """The database in a file."""
    with tables.opened(path, _NEEDS) as database:
        version = next(iter(database.rows("PRAGMA user_version")))[0]
        # The document does not say where the version is kept. SQLite's own place is 0 if a program does not use it.
        if version not in (0, VERSION):
            raise invalid(
                path,
                f"schema version {version} of Engine is not known",
                field="user_version",
                value=version,
                fix=f"import a database of schema version {VERSION}",
            )
        first = _first(database, "projects", "id", "path", "created_at") or _first(database, "tasks", "dir_path")
    return EngineSource(path, fingerprint("engine", *(first or ("empty",))), str(VERSION))


def _first(database: Database, table: str, key: str, *columns: str) -> tuple[Any, ...] | None:
    known = [key, *(name for name in columns if name in database.columns(table))]
    return next(database.rows(f"SELECT {', '.join(known)} FROM {table} ORDER BY {key} LIMIT 1"), None)  # noqa: S608


class EngineSource(Source):
    """A database of Engine v3."""

    system = "engine"

    def rows(self) -> Iterator[SourceRow]:
        with tables.opened(self.path, _NEEDS) as database:
            paths = {columns["id"]: str(columns["path"]) for _, columns in tables.read_table(database, "projects")}
            self._check_projects(paths)
            becomes = {
                "projects": _project,
                "skills": _skill,
                "tasks": lambda columns: _task(columns, paths),
                "efforts": self._effort,
                "sessions": self._session,
                "phase_history": _phase,
                "messages": _message,
                "agents": _agent,
                "embeddings": _embedding,
            }
            for table in TABLES:
                for key, columns in self._read(database, table):
                    yield tables.kept(table, key, columns, becomes[table](columns))
            yield from tables.read_others(database, TABLES)

    def _check_projects(self, paths: dict[Any, str]) -> None:
        for project_id, path in paths.items():
            if not path.startswith("/"):
                raise invalid(
                    self.path,
                    f"project {project_id} has no absolute path",
                    field="projects.path",
                    value=path,
                    fix="set the project's absolute path in a copy of the file, and import the copy",
                )

    def _read(self, database: Database, table: str) -> Iterator[tuple[str, Columns]]:
        """The rows of a table; sessions behind those that they continue."""
        rows = tables.read_table(database, table)
        if table != "sessions":
            return rows
        links = dict(database.rows("SELECT id, prev_session_id FROM sessions ORDER BY id"))
        order = parents_first(
            {each: [] if prev is None else [prev] for each, prev in links.items()},
            self.path,
            "sessions.prev_session_id",
        )
        if order == sorted(order):
            return rows
        by_id = {columns["id"]: (key, columns) for key, columns in rows}
        return iter([by_id[each] for each in order])

    def _effort(self, row: Columns) -> list[NewRow]:
        is_finished = row["lifecycle"] == "finished"
        given = decoded(row.get("metadata"), is_object) or {}
        return [
            NewEffort(
                task=f"tasks:{row['task_id']}",
                skill=str(row["skill"]),
                mode=text(row.get("mode")),
                ordinal=row["ordinal"] if isinstance(row["ordinal"], int) else None,
                outcome="success" if is_finished else "dropped",
                reason=None if is_finished else _UNFINISHED,
                phase=text(row.get("current_phase")),
                directives=decoded(row.get("discovered_directives"), is_texts),
                directories=decoded(row.get("discovered_directories"), is_texts),
                metadata={**given, "imported": {"system": "engine", "source": self.identity, "id": row["id"]}},
                created_ms=instant(row.get("created_at")),
                finished_ms=instant(row.get("finished_at")),
            )
        ]

    def _session(self, row: Columns) -> list[NewRow]:
        prev, usage, beats = row.get("prev_session_id"), row.get("context_usage"), row.get("heartbeat_counter")
        is_share = isinstance(usage, int | float) and 0 <= usage <= 1
        return [
            NewSession(
                effort=f"efforts:{row['effort_id']}",
                native_id=f"{self.identity}-{row['id']}",
                outcome="dropped" if row.get("ended_at") is None else "success",
                prev=None if prev is None else f"sessions:{prev}",
                created_ms=instant(row.get("created_at")),
                ended_ms=instant(row.get("ended_at")),
                heartbeat_counter=beats if isinstance(beats, int) else 0,
                last_heartbeat_ms=instant(row.get("last_heartbeat")),
                context_usage=float(usage) if usage is not None and is_share else None,
                loaded_files=decoded(row.get("loaded_files"), is_texts),
                handoff=decoded(row.get("dehydration_payload"), is_object),
            )
        ]


def _project(row: Columns) -> list[NewRow]:
    return [NewProject(path=str(row["path"]), name=text(row.get("name")), created_ms=instant(row.get("created_at")))]


def _skill(row: Columns) -> list[NewRow]:
    return [
        NewSkill(
            project=f"projects:{row['project_id']}",
            name=str(row["name"]),
            phases=decoded(row.get("phases"), is_list),
            modes=decoded(row.get("modes"), is_object),
            templates=decoded(row.get("templates"), is_object),
            cmd_dependencies=decoded(row.get("cmd_dependencies"), is_list),
            next_skills=decoded(row.get("next_skills"), is_list),
            directives=decoded(row.get("directives"), is_list),
            updated_ms=instant(row.get("updated_at")),
        )
    ]


def _task(row: Columns, paths: dict[Any, str]) -> list[NewRow]:
    """The paths of tasks are relative to their project; Ramet's are absolute."""
    path, project = str(row["dir_path"]), paths.get(row["project_id"])
    if project is None:
        return []
    return [
        NewTask(
            project=f"projects:{row['project_id']}",
            path=path if path.startswith("/") else f"{project.rstrip('/')}/{path}",
            workspace=text(row.get("workspace")),
            title=text(row.get("title")),
            description=text(row.get("description")),
            keywords=text(row.get("keywords")),
            created_ms=instant(row.get("created_at")),
        )
    ]


def _phase(row: Columns) -> list[NewRow]:
    return [
        NewPhase(
            effort=f"efforts:{row['effort_id']}",
            label=str(row["phase_label"]),
            proof=decoded(row.get("proof"), is_object),
            created_ms=instant(row.get("created_at")),
        )
    ]


def _message(row: Columns) -> list[NewRow]:
    role: Role = row["role"] if row["role"] in get_args(Role) else "system"
    return [
        NewMessage(
            session=f"sessions:{row['session_id']}",
            role=role,
            text=str(row["content"]),
            tool_name=text(row.get("tool_name")),
            at_ms=instant(row.get("timestamp")),
        )
    ]


def _agent(row: Columns) -> list[NewRow]:
    claims = row.get("claims")
    listed = decoded(claims, is_texts)
    if listed is None and isinstance(claims, str):
        listed = [each.strip() for each in claims.split(",") if each.strip()]
    return [NewAgent(id=str(row["id"]), label=text(row.get("label")), claims=listed or None)]


def _embedding(row: Columns) -> list[NewRow]:
    vector = row.get("embedding")
    if not isinstance(vector, bytes):
        return []
    return [
        NewEmbedding(
            source_type=str(row["source_type"]),
            source_path=str(row["source_path"]),
            text=text(row.get("chunk_text")),
            vector=vector,
            model=_EMBEDDING_MODEL,
            updated_ms=instant(row.get("updated_at")),
        )
    ]
