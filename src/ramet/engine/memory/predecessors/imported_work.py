"""The work that an earlier system's row becomes: with its own times, finished and ended, so that nothing starts to run.

A row whose place is taken is not written twice: a project or a task is known by its path, a skill, an agent and a
session by their names. A row that names another one that is missing becomes nothing; its source's branch keeps it.
"""

import hashlib
from collections.abc import Callable
from typing import Any

from msgspec.structs import replace

from ramet.engine.memory.predecessors.imported_rows import ImportedRow, KnownRows
from ramet.engine.record import lookup
from ramet.engine.runs import conversations
from ramet.model.instant import to_iso
from ramet.model.memory.predecessor import (
    NewAgent,
    NewEffort,
    NewEmbedding,
    NewPhase,
    NewProject,
    NewRow,
    NewRun,
    NewSession,
    NewSkill,
    NewTask,
)
from ramet.model.names import clean_name
from ramet.model.record.session import TreePlace
from ramet.model.runs.run import RunLimits
from ramet.model.work.stream import Usage
from ramet.store.database.connection import to_json
from ramet.store.memory import predecessors
from ramet.store.record import efforts, sessions, tasks, usage
from ramet.store.record.sessions import NativeWindow
from ramet.store.record.sessions import NewSession as StoredSession
from ramet.store.record.usage import Said
from ramet.store.runs import runs
from ramet.store.runs.runs import NewRun as StoredRun

_VECTOR_STEP = 4


class WorkWriter:
    """Writes projects, tasks, efforts, sessions and runs of one source."""

    def __init__(self, rows: KnownRows) -> None:
        self._rows = rows
        self._tx = rows.tx
        self._writers: dict[type[NewRow], Callable[[Any, ImportedRow], None]] = {
            NewProject: self._project,
            NewSkill: self._skill,
            NewTask: self._task,
            NewEffort: self._effort,
            NewSession: self._session,
            NewPhase: self._phase,
            NewAgent: self._agent,
            NewEmbedding: self._embedding,
            NewRun: self._run,
        }

    def write(self, new: NewRow, became: ImportedRow) -> None:
        """Write one row, and note what stands for it."""
        self._writers[type(new)](new, became)

    def _project(self, new: NewProject, became: ImportedRow) -> None:
        path = lookup.absolute(new.path, "rows.becomes.path")
        project_id, is_new = predecessors.add_project(self._tx.db, path, new.name, self._rows.time(new.created_ms))
        became.put("project", project_id, is_new=is_new)

    def _skill(self, new: NewSkill, became: ImportedRow) -> None:
        project_id = self._rows.find(new.project, "project")
        if project_id is not None and predecessors.add_skill(
            self._tx.db, project_id, new, self._rows.time(new.updated_ms)
        ):
            became.put("skill", new.name)

    def _task(self, new: NewTask, became: ImportedRow) -> None:
        project_id = self._rows.find(new.project, "project")
        if project_id is None:
            return
        placed = replace(new, path=lookup.absolute(new.path, "rows.becomes.path"))
        is_new = predecessors.add_task(self._tx.db, project_id, placed, self._rows.time(new.created_ms))
        became.put("task", placed.path, is_new=is_new)

    def _effort(self, new: NewEffort, became: ImportedRow) -> None:
        task_id = self._rows.find(new.task, "task")
        if task_id is None:
            return
        needed = [found for ref in new.depends_on if (found := self._rows.find(ref, "effort")) is not None]
        effort_id = predecessors.add_effort(
            self._tx.db,
            new,
            task_id=task_id,
            ordinal=self._ordinal(task_id, new.ordinal),
            created_at=self._rows.time(new.created_ms, new.finished_ms),
            finished_at=self._rows.time(new.finished_ms, new.created_ms),
            based_on=self._rows.find(new.based_on, "effort"),
            depends_on=to_json(needed or None),
            run_id=None if new.line is None else self._rows.find(new.line.run, "run"),
        )
        for needs_id in needed:
            predecessors.add_dependency(self._tx.db, effort_id, needs_id)
        became.put("effort", effort_id)

    def _ordinal(self, task_id: str, wanted: int | None) -> int:
        if wanted is not None and wanted >= 1 and not predecessors.has_ordinal(self._tx.db, task_id, wanted):
            return wanted
        return efforts.next_ordinal(self._tx.db, task_id)

    def _session(self, new: NewSession, became: ImportedRow) -> None:
        db, effort_id = self._tx.db, self._rows.find(new.effort, "effort")
        if effort_id is None:
            return
        known = sessions.find_native(db, self._rows.system, new.native_id)
        if known is not None:
            became.put("session", known.id, is_new=False)
            return
        stored = StoredSession(
            task_id=efforts.must_find(db, effort_id).task_id,
            effort_id=effort_id,
            place=self._place(new),
            window=NativeWindow(driver=self._rows.system, native_id=new.native_id),
        )
        created_at = self._rows.time(new.created_ms, new.ended_ms)
        session_id = sessions.start(db, stored, now=created_at, now_ms=self._tx.now_ms).id
        beat = None if new.last_heartbeat_ms is None else to_iso(new.last_heartbeat_ms)
        ended_at = self._rows.time(new.ended_ms, new.last_heartbeat_ms, new.created_ms)
        predecessors.complete_session(db, session_id, new, ended_at=ended_at, last_heartbeat=beat)
        if new.cost_usd is not None:
            said = Said(Usage(key=f"import:{new.native_id}", cost_usd=new.cost_usd))
            usage.put(db, session_id, said, None, new.ended_ms or new.created_ms or self._tx.now_ms)
        became.put("session", session_id)

    def _place(self, new: NewSession) -> TreePlace:
        prev_id = self._rows.find(new.prev, "session")
        prev = None if prev_id is None else sessions.find(self._tx.db, prev_id)
        parent = None if new.parent_id is None else sessions.find_native(self._tx.db, self._rows.system, new.parent_id)
        root = parent or prev
        return TreePlace(
            prev_session_id=prev_id,
            parent_session_id=None if parent is None else parent.id,
            root_session_id=None if root is None else root.root_session_id,
            spawn_depth=prev.spawn_depth
            if parent is None and prev
            else 0
            if parent is None
            else parent.spawn_depth + 1,
        )

    def link(self, new: NewSession) -> None:
        """Give a session its parent that was imported after it."""
        child = sessions.find_native(self._tx.db, self._rows.system, new.native_id)
        parent = None if new.parent_id is None else sessions.find_native(self._tx.db, self._rows.system, new.parent_id)
        if child is None or parent is None or child.root_session_id != child.id or parent.root_session_id == child.id:
            return
        predecessors.set_parent(self._tx.db, child.id, parent)
        data = {"rows": {"session": child.id, "parent": parent.id}}
        self._tx.record("row.imported", effort_id=child.effort_id, session_id=child.id, data=data)

    def _phase(self, new: NewPhase, became: ImportedRow) -> None:
        effort_id = self._rows.find(new.effort, "effort")
        if effort_id is not None:
            became.put("phase", predecessors.add_phase(self._tx.db, effort_id, new, self._rows.time(new.created_ms)))

    def _agent(self, new: NewAgent, became: ImportedRow) -> None:
        became.put("agent", new.id, is_new=predecessors.add_agent(self._tx.db, new))

    def _embedding(self, new: NewEmbedding, became: ImportedRow) -> None:
        if not new.vector or len(new.vector) % _VECTOR_STEP:
            return
        content_hash = hashlib.sha256((new.text or "").encode()).digest()
        added = predecessors.add_embedding(self._tx.db, new, content_hash, self._rows.time(new.updated_ms))
        if added is not None:
            became.put("embedding", added)

    def _run(self, new: NewRun, became: ImportedRow) -> None:
        db, task_id = self._tx.db, self._rows.find(new.task, "task")
        facts = None if task_id is None else tasks.find_facts(db, task_id)
        if facts is None:
            return
        stored = StoredRun(
            project_id=facts.project_id,
            task_id=task_id,
            name=clean_name(new.name),
            mode="sequential",
            content_hash=None,
            limits=RunLimits(),
            stop_on_failure=False,
            keep_going=False,
            save_conversation=True,
        )
        run_id = runs.add(db, stored, self._rows.time(new.created_ms, new.finished_ms))
        branch = conversations.begin(self._tx, run_id)
        runs.set_branch(db, run_id, branch)
        predecessors.close_run(db, run_id, self._rows.time(new.finished_ms, new.created_ms), new.reason)
        became.put("run", run_id)
        became.put("conversation", branch, is_new=False)
