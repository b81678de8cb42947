"""The rows that an earlier system's row becomes: with its own times, finished and ended, so that nothing starts to run.

A row whose place is taken is not written twice: a project or a task is known by its path, a skill, an agent and a
session by their names. A row that names another one that is missing becomes nothing; its source's branch keeps it.
"""

import hashlib
from collections.abc import Callable
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from ramet.engine.contents import Contents, Prepared
from ramet.engine.history import commits as histories
from ramet.engine.history import references
from ramet.engine.history.commits import Kind
from ramet.engine.record import lookup, messages
from ramet.engine.record.messages import Turn
from ramet.engine.runs import conversations
from ramet.engine.transaction import Transaction
from ramet.errors import BadRequest
from ramet.model.history.branch import Head, Point
from ramet.model.history.commit import CommitFacts
from ramet.model.history.content import (
    BUILTIN_TYPE_HINTS,
    PAYLOAD,
    ContentPayload,
    DialogueContent,
    FreeformContent,
    InstructionContent,
    Packed,
    ToolIOContent,
    pack,
    validate_content,
)
from ramet.model.instant import to_iso
from ramet.model.memory.predecessor import (
    ImportedBranch,
    ImportedCommit,
    ImportedPriority,
    ImportedSpawn,
    NewAgent,
    NewEffort,
    NewEmbedding,
    NewMessage,
    NewPhase,
    NewProject,
    NewRow,
    NewRun,
    NewSession,
    NewSkill,
    NewTask,
    NewTurn,
    RowRef,
    SourceRow,
    System,
)
from ramet.model.names import clean_name
from ramet.model.record.session import TreePlace
from ramet.model.runs.run import RunLimits
from ramet.model.work.stream import Usage
from ramet.store.database.connection import to_json
from ramet.store.history import commits, segments
from ramet.store.history.child_branches import NewSpawn, StoredSpawnPointers
from ramet.store.history.segments import NewCommit
from ramet.store.memory import predecessors
from ramet.store.record import efforts, sessions, tasks, usage
from ramet.store.record import messages as message_rows
from ramet.store.record.sessions import NativeWindow
from ramet.store.record.sessions import NewSession as StoredSession
from ramet.store.record.usage import Said
from ramet.store.runs import runs
from ramet.store.runs.runs import NewRun as StoredRun

_VECTOR_STEP = 4
_NOWHERE = Head(0, None, 0, None, None, 0)


class ReadyRow(Struct, frozen=True):
    """A row about to be written, and its text that needs no transaction any more."""

    row: NewRow
    text: Prepared | None = None
    turn: Turn | None = None


class PreparedRow(Struct, frozen=True):
    """A row of a source: as it is, and what it becomes."""

    source: SourceRow
    record: Prepared | None
    becomes: list[ReadyRow]


class ImportedRow(Struct):
    """What a row of a source has become."""

    rows: dict[str, Any] = {}
    """The id of the row of each kind that stands for it."""
    added: list[str] = []
    """The kinds of those that are new."""

    def put(self, kind: str, name: Any, *, is_new: bool = True) -> None:
        """One more row that stands for it."""
        self.rows[kind] = name
        if is_new:
            self.added.append(kind)


def make_ready(row: NewRow, contents: Contents) -> ReadyRow:
    """Hash and compress the text of a row that has one."""
    match row:
        case NewMessage():
            return ReadyRow(row, turn=replace(messages.make_turn(contents, _spoken(row)), at_ms=row.at_ms))
        case NewTurn():
            return ReadyRow(row, contents.prepare(row.text, row.metadata))
        case ImportedCommit():
            packed = _pack(row)
            payload = {PAYLOAD: packed.payload} if packed.payload else {}
            prepared = contents.prepare(packed.text, {**row.metadata, **payload})
            return ReadyRow(row, replace(prepared, content_type=packed.content_type, role=packed.role))
        case _:
            return ReadyRow(row)


def _spoken(row: NewMessage) -> ContentPayload:
    match row.role:
        case "tool":
            return ToolIOContent(text=row.text, tool_name=clean_name(row.tool_name or "tool"))
        case "system":
            return InstructionContent(text=row.text)
        case "user" | "assistant" as role:
            return DialogueContent(text=row.text, role=role)


def _pack(row: ImportedCommit) -> Packed:
    """A content in the form that Ramet has for its kind; else as a free form, with all that it says."""
    try:
        return pack(validate_content({**row.content, "content_type": row.content_type}))
    except BadRequest:
        return pack(FreeformContent(payload=row.content))


class ImportWriter:
    """Writes the rows of one source."""

    def __init__(self, tx: Transaction, system: System, source: str) -> None:
        self.system = system
        self.source = source
        self._tx = tx
        self._known: dict[RowRef, dict[str, Any]] = {}
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
            ImportedPriority: self._priority,
            ImportedBranch: self._branch,
            ImportedSpawn: self._spawn,
        }

    def key_of(self, ref: RowRef) -> str:
        """The key under which a row of the source is known."""
        return f"import:{self.system}:{self.source}:{ref}"

    def remember(self, ref: RowRef, became: ImportedRow) -> None:
        """What a row has become, for those behind it."""
        self._known[ref] = became.rows

    def _find(self, ref: RowRef | None, kind: str) -> Any:
        """The row of a kind that another row of the source has become; None if there is none."""
        if ref is None:
            return None
        if ref not in self._known:
            found = predecessors.find_imported(self._tx.db, self.key_of(ref))
            self._known[ref] = {} if found is None else found["rows"]
        return self._known[ref].get(kind)

    def _time(self, *instants: int | None) -> str:
        """The first instant that is known; else now."""
        return to_iso(next((each for each in instants if each is not None), self._tx.now_ms))

    def write(self, ready: ReadyRow, became: ImportedRow) -> None:
        """Write one row, and note what stands for it."""
        match ready.row:
            case NewMessage():
                self._message(ready.row, ready.turn, became)
            case NewTurn():
                self._turn(ready.row, ready.text, became)
            case ImportedCommit():
                self._commit(ready.row, ready.text, became)
            case row:
                self._writers[type(row)](row, became)

    def _project(self, new: NewProject, became: ImportedRow) -> None:
        path = lookup.absolute(new.path, "rows.becomes.path")
        project_id, is_new = predecessors.add_project(self._tx.db, path, new.name, self._time(new.created_ms))
        became.put("project", project_id, is_new=is_new)

    def _skill(self, new: NewSkill, became: ImportedRow) -> None:
        project_id = self._find(new.project, "project")
        if project_id is not None and predecessors.add_skill(self._tx.db, project_id, new, self._time(new.updated_ms)):
            became.put("skill", new.name)

    def _task(self, new: NewTask, became: ImportedRow) -> None:
        project_id = self._find(new.project, "project")
        if project_id is None:
            return
        placed = replace(new, path=lookup.absolute(new.path, "rows.becomes.path"))
        is_new = predecessors.add_task(self._tx.db, project_id, placed, self._time(new.created_ms))
        became.put("task", placed.path, is_new=is_new)

    def _effort(self, new: NewEffort, became: ImportedRow) -> None:
        task_id = self._find(new.task, "task")
        if task_id is None:
            return
        needed = [found for ref in new.depends_on if (found := self._find(ref, "effort")) is not None]
        effort_id = predecessors.add_effort(
            self._tx.db,
            new,
            task_id=task_id,
            ordinal=self._ordinal(task_id, new.ordinal),
            created_at=self._time(new.created_ms, new.finished_ms),
            finished_at=self._time(new.finished_ms, new.created_ms),
            based_on=self._find(new.based_on, "effort"),
            depends_on=to_json(needed or None),
            run_id=None if new.line is None else self._find(new.line.run, "run"),
        )
        for needs_id in needed:
            predecessors.add_dependency(self._tx.db, effort_id, needs_id)
        became.put("effort", effort_id)

    def _ordinal(self, task_id: str, wanted: int | None) -> int:
        if wanted is not None and wanted >= 1 and not predecessors.has_ordinal(self._tx.db, task_id, wanted):
            return wanted
        return efforts.next_ordinal(self._tx.db, task_id)

    def _session(self, new: NewSession, became: ImportedRow) -> None:
        db, effort_id = self._tx.db, self._find(new.effort, "effort")
        if effort_id is None:
            return
        known = sessions.find_native(db, self.system, new.native_id)
        if known is not None:
            became.put("session", known.id, is_new=False)
            return
        stored = StoredSession(
            task_id=efforts.must_find(db, effort_id).task_id,
            effort_id=effort_id,
            place=self._place(new),
            window=NativeWindow(driver=self.system, native_id=new.native_id),
        )
        created_at = self._time(new.created_ms, new.ended_ms)
        session_id = sessions.start(db, stored, now=created_at, now_ms=self._tx.now_ms).id
        beat = None if new.last_heartbeat_ms is None else to_iso(new.last_heartbeat_ms)
        ended_at = self._time(new.ended_ms, new.last_heartbeat_ms, new.created_ms)
        predecessors.complete_session(db, session_id, new, ended_at=ended_at, last_heartbeat=beat)
        if new.cost_usd is not None:
            said = Said(Usage(key=f"import:{new.native_id}", cost_usd=new.cost_usd))
            usage.put(db, session_id, said, None, new.ended_ms or new.created_ms or self._tx.now_ms)
        became.put("session", session_id)

    def _place(self, new: NewSession) -> TreePlace:
        prev_id = self._find(new.prev, "session")
        prev = None if prev_id is None else sessions.find(self._tx.db, prev_id)
        parent = None if new.parent_id is None else sessions.find_native(self._tx.db, self.system, new.parent_id)
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
        child = sessions.find_native(self._tx.db, self.system, new.native_id)
        parent = None if new.parent_id is None else sessions.find_native(self._tx.db, self.system, new.parent_id)
        if child is None or parent is None or child.root_session_id != child.id or parent.root_session_id == child.id:
            return
        predecessors.set_parent(self._tx.db, child.id, parent)
        data = {"rows": {"session": child.id, "parent": parent.id}}
        self._tx.record("row.imported", effort_id=child.effort_id, session_id=child.id, data=data)

    def _message(self, new: NewMessage, turn: Turn | None, became: ImportedRow) -> None:
        session_id = self._find(new.session, "session")
        transcript = None if session_id is None else message_rows.find_transcript(self._tx.db, session_id)
        if transcript is None or turn is None:
            return
        (written,) = messages.write(self._tx, replace(transcript, agent_id=self.system), [turn])
        became.put("message", written.message_id)

    def _phase(self, new: NewPhase, became: ImportedRow) -> None:
        effort_id = self._find(new.effort, "effort")
        if effort_id is not None:
            became.put("phase", predecessors.add_phase(self._tx.db, effort_id, new, self._time(new.created_ms)))

    def _agent(self, new: NewAgent, became: ImportedRow) -> None:
        became.put("agent", new.id, is_new=predecessors.add_agent(self._tx.db, new))

    def _embedding(self, new: NewEmbedding, became: ImportedRow) -> None:
        if not new.vector or len(new.vector) % _VECTOR_STEP:
            return
        content_hash = hashlib.sha256((new.text or "").encode()).digest()
        added = predecessors.add_embedding(self._tx.db, new, content_hash, self._time(new.updated_ms))
        if added is not None:
            became.put("embedding", added)

    def _run(self, new: NewRun, became: ImportedRow) -> None:
        db, task_id = self._tx.db, self._find(new.task, "task")
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
        run_id = runs.add(db, stored, self._time(new.created_ms, new.finished_ms))
        branch = conversations.begin(self._tx, run_id)
        runs.set_branch(db, run_id, branch)
        predecessors.close_run(db, run_id, self._time(new.finished_ms, new.created_ms), new.reason)
        became.put("run", run_id)
        became.put("conversation", branch, is_new=False)

    def _turn(self, new: NewTurn, text: Prepared | None, became: ImportedRow) -> None:
        branch = self._find(new.run, "conversation")
        if branch is None or text is None:
            return
        kind = Kind(content_type="dialogue", role=new.role, author=self.system, at_ms=new.at_ms)
        done = histories.add(self._tx, references.head(self._tx, branch), text, kind)
        became.put("turn", done.hash.hex())

    def _commit(self, new: ImportedCommit, text: Prepared | None, became: ImportedRow) -> None:
        if text is None:
            return
        parent, second = self._point(new.parent), self._point(new.second_parent)
        target = self._target(new, parent)
        content_type = text.content_type or "freeform"
        facts = CommitFacts(
            content_hash=text.blob.hash,
            content_type=content_type,
            role=text.role or BUILTIN_TYPE_HINTS[content_type].default_role,
            author=self.system,
            parent=None if parent is None else parent.hash,
            second_parent=None if second is None else second.hash,
            operation="append" if target is None else "edit",
            target=None if target is None else target.hash,
            metadata=text.metadata,
            at_ms=new.at_ms,
        )
        row = NewCommit(
            facts=facts,
            blob=text.blob,
            tokens=text.tokens,
            reported_tokens=new.tokens,
            target_id=None if target is None else target.commit_id,
            second_parent_id=None if second is None else second.commit_id,
        )
        done = segments.put(self._tx.db, _behind(parent), row, self._tx.now_ms)
        became.put("commit", done.hash.hex())

    def _priority(self, new: ImportedPriority, became: ImportedRow) -> None:
        point = self._point(new.commit)
        if point is not None:
            commits.annotate(self._tx.db, point.commit_id, new.priority)
            became.put("priority", point.hash.hex())

    def _point(self, ref: RowRef | None) -> Point | None:
        named = self._find(ref, "commit")
        return None if named is None else commits.find(self._tx.db, bytes.fromhex(named))

    def _target(self, new: ImportedCommit, parent: Point | None) -> Point | None:
        """The commit that an edit replaces, if that is in its own history and is no edit itself."""
        target = self._point(new.target) if new.operation == "edit" else None
        if target is None or parent is None:
            return None
        spans = references.spans(self._tx, parent)
        is_within = any(
            each.segment_id == target.segment_id and each.first <= target.seq <= each.last for each in spans
        )
        is_edit = commits.read_one(self._tx.db, self._tx.codec, target).target_id is not None
        return target if is_within and not is_edit else None

    def _branch(self, new: ImportedBranch, became: ImportedRow) -> None:
        db, point = self._tx.db, self._point(new.commit)
        if new.commit is not None and point is None:
            return
        commit_id = None if point is None else point.commit_id
        head = segments.find_head(db, new.name)
        if head is None:
            segments.create_branch(db, new.name, commit_id, self._tx.now_ms)
            self._tx.record("branch.created", data={"branch": new.name})
        elif head.commit_id != commit_id:
            histories.repoint(self._tx, new.name, head, commit_id, "import")
        became.put("branch", new.name, is_new=head is None)

    def _spawn(self, new: ImportedSpawn, became: ImportedRow) -> None:
        pointers = StoredSpawnPointers(self._tx.db)
        parent, child = new.parent_branch, new.child_branch
        if parent == child or pointers.get_parent(child) is not None or pointers.has_ancestor(parent, child):
            return
        point = self._point(new.parent_commit)
        saved = NewSpawn(
            parent_branch=parent,
            parent_commit_id=None if point is None else point.commit_id,
            child_branch=child,
            purpose=new.purpose,
            inheritance_mode=new.inheritance_mode,
            display_name=new.display_name,
        )
        became.put("spawn", pointers.save(saved, self._time(new.created_ms)).spawn_id)


def _behind(point: Point | None) -> Head:
    """Where a commit stands that is put behind another one, without a branch that moves."""
    if point is None:
        return _NOWHERE
    return Head(0, point.segment_id, point.seq, point.commit_id, point.hash, point.token_sum)
