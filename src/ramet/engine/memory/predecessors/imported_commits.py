"""The commits that an earlier system's row becomes: messages of sessions, turns of runs, and histories of their own."""

from msgspec.structs import replace

from ramet.engine.contents import Prepared
from ramet.engine.history import commits as histories
from ramet.engine.history import references
from ramet.engine.history.commits import Kind
from ramet.engine.memory.predecessors.imported_rows import ImportedRow, KnownRows, ReadyRow
from ramet.engine.record import messages
from ramet.engine.record.messages import Turn
from ramet.model.history.branch import Head, Point
from ramet.model.history.commit import CommitFacts
from ramet.model.history.content import BUILTIN_TYPE_HINTS
from ramet.model.memory.predecessor import (
    ImportedBranch,
    ImportedCommit,
    ImportedPriority,
    ImportedSpawn,
    NewMessage,
    NewTurn,
    RowRef,
)
from ramet.store.history import commits, segments
from ramet.store.history.child_branches import NewSpawn, StoredSpawnPointers
from ramet.store.history.segments import NewCommit
from ramet.store.record import messages as message_rows

_NOWHERE = Head(0, None, 0, None, None, 0)


class CommitWriter:
    """Writes the commits and branches of one source."""

    def __init__(self, rows: KnownRows) -> None:
        self._rows = rows
        self._tx = rows.tx

    def write(self, ready: ReadyRow, became: ImportedRow) -> bool:
        """Write one row, and note what stands for it; whether it is one that becomes a commit or a branch."""
        match ready.row:
            case NewMessage() as new:
                self._message(new, ready.turn, became)
            case NewTurn() as new:
                self._turn(new, ready.text, became)
            case ImportedCommit() as new:
                self._commit(new, ready.text, became)
            case ImportedPriority() as new:
                self._priority(new, became)
            case ImportedBranch() as new:
                self._branch(new, became)
            case ImportedSpawn() as new:
                self._spawn(new, became)
            case _:
                return False
        return True

    def _message(self, new: NewMessage, turn: Turn | None, became: ImportedRow) -> None:
        session_id = self._rows.find(new.session, "session")
        transcript = None if session_id is None else message_rows.find_transcript(self._tx.db, session_id)
        if transcript is None or turn is None:
            return
        (written,) = messages.write(self._tx, replace(transcript, agent_id=self._rows.system), [turn])
        became.put("message", written.message_id)

    def _turn(self, new: NewTurn, text: Prepared | None, became: ImportedRow) -> None:
        branch = self._rows.find(new.run, "conversation")
        if branch is None or text is None:
            return
        kind = Kind(content_type="dialogue", role=new.role, author=self._rows.system, at_ms=new.at_ms)
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
            author=self._rows.system,
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
        named = self._rows.find(ref, "commit")
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
        became.put("spawn", pointers.save(saved, self._rows.time(new.created_ms)).spawn_id)


def _behind(point: Point | None) -> Head:
    """Where a commit stands that is put behind another one, without a branch that moves."""
    if point is None:
        return _NOWHERE
    return Head(0, point.segment_id, point.seq, point.commit_id, point.hash, point.token_sum)
