"""gza: the SQLite database of its task queue (schema versions 1 to 5; 3 is that of the seed)."""

from collections.abc import Iterator
from pathlib import Path

from ramet.model.memory.predecessor import (
    EffortGit,
    NewEffort,
    NewProject,
    NewRow,
    NewSession,
    NewTask,
    SourceRow,
)
from ramet.model.record.effort import Outcome
from ramet.predecessors import tables
from ramet.predecessors.source import Source, file_name, fingerprint, instant, invalid, parents_first, text
from ramet.predecessors.tables import Columns

NEWEST = 5
TABLES = ("schema_version", "tasks")
_NEEDS = {
    "schema_version": ["version"],
    "tasks": ["id", "prompt", "status", "task_type", "based_on", "report_file", "created_at"],
}
_OUTCOMES: dict[str, Outcome] = {"completed": "success", "unmerged": "success", "failed": "error"}
_FOLDER = ".gza"


def is_gza(found: set[str]) -> bool:
    """Whether a database with these tables is one of gza."""
    return {"schema_version", "tasks"} <= found and "efforts" not in found


def open_source(path: Path, project: str) -> "GzaSource":
    """The database in a file. One in `.gza` belongs to the project around that, any other to the given one."""
    with tables.opened(path, _NEEDS) as database:
        versions = [row[0] for row in database.rows("SELECT version FROM schema_version")]
        version = versions[0] if len(versions) == 1 else None
        if not isinstance(version, int) or not 1 <= version <= NEWEST:
            raise invalid(
                path,
                f"schema version {version} of gza is not known",
                field="schema_version.version",
                value=version,
                fix=f"import a database of the schema versions 1 to {NEWEST}",
            )
        first = next(database.rows("SELECT id, created_at, prompt FROM tasks ORDER BY id LIMIT 1"), ("empty",))
    around = str(path.parent.parent) if path.parent.name == _FOLDER else project
    return GzaSource(path, fingerprint("gza", *first), str(version), around)


class GzaSource(Source):
    """A database of gza."""

    system = "gza"

    def __init__(self, path: Path, identity: str, version: str, project: str) -> None:
        super().__init__(path, identity, version)
        self._project = project

    def rows(self) -> Iterator[SourceRow]:
        with tables.opened(self.path, _NEEDS) as database:
            yield SourceRow(table="project", key="", becomes=[NewProject(path=self._project)])
            yield from (tables.kept("schema_version", *row) for row in tables.read_table(database, "schema_version"))
            yield from self._groups(row.get("group") for _, row in tables.read_table(database, "tasks", "id"))
            needs: dict[int, list[int]] = {
                row["id"]: [each for each in (row["based_on"], row.get("depends_on")) if each is not None]
                for _, row in tables.read_table(database, "tasks", "id")
            }
            order = parents_first(needs, self.path, "tasks.depends_on")
            rows = tables.read_table(database, "tasks", "id")
            if order != sorted(order):
                by_id = {row["id"]: (key, row) for key, row in rows}
                rows = iter([by_id[each] for each in order])
            for key, row in rows:
                yield tables.kept("tasks", key, row, self._task(row))
            yield from tables.read_others(database, TABLES)

    def _groups(self, named: Iterator[object]) -> Iterator[SourceRow]:
        """One task for each group, and one for what is in no group: gza's tasks are efforts, and need a container."""
        for group in sorted({text(each) or "" for each in named}):
            path = f"{self._project.rstrip('/')}/{_FOLDER}"
            new = NewTask(
                project="project:",
                path=f"{path}/groups/{file_name(group)}" if group else path,
                title=group or "gza",
            )
            yield SourceRow(table="group", key=group, becomes=[new])

    def _task(self, row: Columns) -> list[NewRow]:
        status = str(row["status"])
        outcome = _OUTCOMES.get(status, "dropped")
        created, started, completed = (instant(row.get(f"{name}_at")) for name in ("created", "started", "completed"))
        depends_on, based_on = row.get("depends_on"), row["based_on"]
        effort = NewEffort(
            task=f"group:{text(row.get('group')) or ''}",
            skill=str(row["task_type"]),
            outcome=outcome,
            reason=None if status == "completed" else f"{status} when it was imported from gza",
            prompt=str(row["prompt"]),
            based_on=None if based_on is None else f"tasks:{based_on}",
            depends_on=[] if depends_on is None else [f"tasks:{depends_on}"],
            report_file=text(row.get("report_file")),
            output_content=row.get("output_content") if isinstance(row.get("output_content"), str) else None,
            git=EffortGit(branch=text(row.get("branch"))),
            attempts=0 if started is None else 1,
            metadata={"imported": {"system": "gza", "source": self.identity, "id": row["id"], "status": status}},
            created_ms=created,
            finished_ms=completed if completed is not None else started,
        )
        return [effort] if started is None else [effort, self._session(row, outcome, started, completed)]

    def _session(self, row: Columns, outcome: Outcome, started: int, completed: int | None) -> NewSession:
        """A task that was started had an agent, of which gza keeps the times and the cost."""
        cost = row.get("cost_usd")
        return NewSession(
            effort=f"tasks:{row['id']}",
            native_id=f"{self.identity}-{row['id']}",
            outcome=outcome,
            title=text(row.get("task_id")),
            created_ms=started,
            ended_ms=completed,
            cost_usd=float(cost) if isinstance(cost, int | float) and cost >= 0 else None,
        )
