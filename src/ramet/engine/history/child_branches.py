"""Spawns: child histories, what they inherit, and how their work comes back to the parent."""

from collections.abc import Sequence
from typing import Any

from msgspec.structs import replace

from ramet.engine.answers import answers
from ramet.engine.history import commits as histories
from ramet.engine.history import drafts, references
from ramet.engine.history.commits import Kind
from ramet.engine.history.compression import SUMMARY
from ramet.engine.history.context_view import ContextView
from ramet.engine.history.drafts import ReadyDraft
from ramet.engine.transaction import Transaction
from ramet.errors import BranchExists, InvalidParams, ModelMissing, NothingToExpand, SpawnCycle, SpawnError
from ramet.model.history.branch import Head, Point
from ramet.model.history.child_branch import COLLAPSE_OPENING, fit
from ramet.model.history.content import (
    COLLAPSE,
    COMPRESSES,
    PAYLOAD,
    MetadataContent,
    pack,
)
from ramet.protocol.history.child_branches import (
    Collapse,
    CollapseReply,
    Expand,
    Expanded,
    Latest,
    Report,
    ResumeLatest,
    Spawn,
    SpawnRow,
    Spawns,
    SpawnTree,
)
from ramet.protocol.history.commits import CommitRow
from ramet.protocol.history.drafts import DraftInheritance, InheritanceDraft
from ramet.protocol.history.inheritance import Filter
from ramet.store.history import child_branches, commits, segments
from ramet.store.history.child_branches import CollapsedChild, NewSpawn, StoredSpawnPointers
from ramet.store.history.commits import StoredCommit

_EVERYTHING = 2**31 - 1
_ALWAYS_INHERITED = ("instruction", "config")


@answers(Spawn)
def spawn(tx: Transaction, request: Spawn) -> SpawnRow:
    """A child history. What it inherits is taken before the spawn is written into the parent."""
    references.head(tx, request.parent, "parent")
    _refuse_relatives(tx, request)
    before = references.place(tx, request.parent, "parent")
    if request.inherit == "full_clone":
        segments.create_branch(tx.db, request.child, before.commit_id if before else None, tx.now_ms)
        return link(tx, request, before)
    ready = drafts.find_usable(tx, before, InheritanceDraft)
    if ready is not None:
        # The child inherits what the parent was when it was read.
        before = commits.find(tx.db, bytes.fromhex(ready.draft.head))
    inherit(tx, request, before, ready)
    return link(tx, request, before)


def link(
    tx: Transaction,
    request: Spawn,
    before: Point | None,
    *,
    parent_session_id: int | None = None,
    child_session_id: int | None = None,
) -> SpawnRow:
    """Record the child in the parent, and keep the child's origin."""
    purpose = tx.contents.prepare(request.purpose).text
    _write_into_parent(tx, references.head(tx, request.parent, "parent"), request, purpose)
    row = StoredSpawnPointers(tx.db).save(
        NewSpawn(
            parent_branch=request.parent,
            parent_commit_id=before.commit_id if before else None,
            child_branch=request.child,
            purpose=purpose,
            inheritance_mode=request.inherit,
            display_name=request.display_name and tx.contents.prepare(request.display_name).text,
            parent_session_id=parent_session_id,
            child_session_id=child_session_id,
        ),
        tx.now,
    )
    tx.record("branch.spawned", data={"parent": request.parent, "child": request.child})
    return row


def _refuse_relatives(tx: Transaction, request: Spawn) -> None:
    if request.child == request.parent or StoredSpawnPointers(tx.db).has_ancestor(request.parent, request.child):
        raise SpawnCycle(f"branch {request.child!r} would descend from itself", field="child", value=request.child)
    if StoredSpawnPointers(tx.db).get_parent(request.child) is not None:
        raise SpawnError(
            f"branch {request.child!r} already has a parent",
            field="child",
            value=request.child,
            fix="choose the name of a new branch",
        )
    if segments.find_head(tx.db, request.child) is not None:
        raise BranchExists(f"branch {request.child!r} already exists", field="child", value=request.child)


def inherit(
    tx: Transaction, request: Spawn, before: Point | None, ready: ReadyDraft[InheritanceDraft] | None = None
) -> None:
    """What of the parent is copied into the child, as it was read before or as it is now."""
    head = references.head_or_new(tx, request.child)
    if request.inherit == "head_snapshot":
        found = ready.content if ready else tx.contents.prepare(snapshot(tx, before, request.max_tokens))
        if found is not None and found.text:
            histories.add(tx, head, found, Kind(content_type="instruction", role="system"))
    elif request.inherit == "selective":
        chosen = require_filter(request.filter)
        _copy(tx, head, before, ready.draft.commit_ids if ready else select(tx, before, chosen))


def require_filter(chosen: Filter | None) -> Filter:
    """Refuse a child that inherits a selection but selects nothing."""
    if chosen is None or not _says_something(chosen):
        raise SpawnError(
            "a child that inherits a selection needs a filter",
            field="filter",
            fix="select commits by type, by tag or by the last turns, or inherit the whole history (full_clone)",
        )
    return chosen


def _says_something(chosen: Filter) -> bool:
    return any(part is not None for part in (chosen.types, chosen.tags, chosen.last_turns))


@answers(DraftInheritance)
def draft_inheritance(tx: Transaction, request: DraftInheritance) -> InheritanceDraft | None:
    """What a child of a branch would inherit now; None of an empty one."""
    references.head(tx, request.parent, "parent")
    before = references.place(tx, request.parent, "parent")
    if before is None:
        return None
    head, revision = before.hash.hex(), commits.find_revision(tx.db)
    if request.inherit == "head_snapshot":
        text = snapshot(tx, before, request.max_tokens)
        return InheritanceDraft(head=head, revision=revision, snapshot=text)
    chosen = select(tx, before, require_filter(request.filter))
    return InheritanceDraft(head=head, revision=revision, commit_ids=chosen)


def snapshot(tx: Transaction, before: Point | None, max_tokens: int | None) -> str:
    """A history's compiled text; what does not fit goes, the oldest first."""
    view = ContextView(tx, before, is_changing=True)
    chosen = view.choose(None, max_tokens).forward()
    return "\n\n".join(f"[{piece.role}]: {piece.text}" for _, piece in view.in_chunks(chosen))


def select(tx: Transaction, before: Point | None, chosen: Filter) -> list[int]:
    """The ids of the commits that a filter names; instructions always come along."""
    spans = references.spans(tx, before)
    stored = [each for each in commits.read_facts(tx.db, spans, 1, before.seq if before else 0) if not each.target_id]
    turns = [each.commit_id for each in stored if each.content_type == "dialogue"]
    wanted = set(turns[-chosen.last_turns :] if chosen.last_turns else ())
    wanted.update(commits.list_tagged(tx.db, chosen.tags or ()))
    types = {*_ALWAYS_INHERITED, *(chosen.types or ())}
    return [each.commit_id for each in stored if each.content_type in types or each.commit_id in wanted]


def _copy(tx: Transaction, head: Head, before: Point | None, commit_ids: Sequence[int]) -> None:
    """Copies of commits of a history, with their last texts."""
    special = commits.list_special(tx.db, references.spans(tx, before))
    edits = {each.target_id: each.commit_id for each in special if each.target_id is not None}
    for commit_id in commit_ids:
        stored = _edited(_read(tx, commit_id), _read(tx, edits[commit_id]) if commit_id in edits else None)
        done = histories.copy(tx, head, stored)
        head = done.as_head(head.branch_id)


def _read(tx: Transaction, commit_id: int) -> StoredCommit:
    point = commits.find_by_id(tx.db, commit_id)
    assert point is not None  # noqa: S101
    return commits.read_one(tx.db, tx.codec, point)


def _edited(stored: StoredCommit, edit: StoredCommit | None) -> StoredCommit:
    if edit is None:
        return stored
    return replace(stored, text=edit.text, tokens=edit.tokens, blob_id=edit.blob_id, content_hash=edit.content_hash)


def _write_into_parent(tx: Transaction, head: Head, request: Spawn, purpose: str) -> None:
    data = {"child": request.child, "purpose": purpose, "inherit": request.inherit}
    packed = pack(MetadataContent(kind="spawn", data=data))
    histories.add(tx, head, tx.contents.prepare(packed.text), Kind(content_type=packed.content_type, role=packed.role))


@answers(Collapse)
def collapse(tx: Transaction, request: Collapse) -> CollapseReply:
    """Fold a child's work into its parent, from a text, a report, or the child's own closing words."""
    pointer = StoredSpawnPointers(tx.db).get_parent(request.child)
    if pointer is None:
        raise SpawnError(
            f"branch {request.child!r} was not spawned: it has no parent to collapse into",
            field="child",
            value=request.child,
        )
    child = references.place(tx, request.child, "child")
    text = fit(_summary(tx, request, pointer, child), request.target_tokens)
    return fold(tx, pointer, request.child, text, auto_commit=request.auto_commit)


def fold(tx: Transaction, pointer: SpawnRow, branch: str, text: str, *, auto_commit: bool = True) -> CollapseReply:
    """Add a text to the parent's history that replaces what a child did on a branch."""
    child = references.place(tx, branch, "child")
    content = tx.contents.prepare(text, {COLLAPSE: {"child": branch, "head": child.hash.hex() if child else None}})
    commit_hash = None
    if auto_commit:
        done = histories.add(tx, references.taken_head(tx, pointer.parent, "child"), content, SUMMARY)
        child_branches.record_collapse(tx.db, pointer.spawn_id, done.id, child.commit_id if child else None, tx.now_ms)
        tx.record("branch.collapsed", data={"parent": pointer.parent, "child": branch})
        commit_hash = done.hash.hex()
    return CollapseReply(
        parent_commit_hash=commit_hash,
        child=branch,
        summary_text=content.text,
        summary_tokens=content.tokens,
        source_tokens=child.token_sum if child else 0,
        purpose=pointer.purpose,
    )


def _summary(tx: Transaction, request: Collapse, pointer: SpawnRow, child: Point | None) -> str:
    if request.text is not None:
        return request.text
    if request.report is not None:
        return render_report(request.report)
    if request.method == "model":
        raise ModelMissing("no model has written the report", field="method", value=request.method)
    boundary = _last_boundary(tx, child)
    if boundary is not None:
        return f"{COLLAPSE_OPENING}{pointer.purpose}\n\n{boundary.text}"
    raise SpawnError(
        f"branch {request.child!r} has no closing report, and none was given",
        field="text",
        fix="write the report (--text), let a model write it (--model), or commit a session boundary to the branch",
    )


def render_report(report: Report) -> str:
    """A typed report as text."""
    parts = [report.summary]
    for title, items in (
        ("Decisions", report.decisions),
        ("What did not work", report.failed_approaches),
        ("Artifacts", report.artifacts),
        ("Next steps", report.next_steps),
    ):
        if items:
            parts.append(f"{title}:\n" + "\n".join(f"- {item}" for item in items))
    return "\n\n".join(parts)


@answers(Expand)
def expand(tx: Transaction, request: Expand) -> Expanded:
    """The commits that a collapse or a compression replaced."""
    point = references.place(tx, request.hash, "hash")
    if point is None:
        raise NothingToExpand(f"branch {request.hash!r} is empty", field="hash", value=request.hash)
    stored = commits.read_one(tx.db, tx.codec, point)
    span = (stored.metadata or {}).get(COMPRESSES)
    if span is not None:
        rows, following = _replaced(tx, point, span[0], span[1], request)
        return Expanded(
            hash=stored.hash.hex(), kind="compression", branch=None, head=None, commits=rows, next=following
        )
    collapsed = child_branches.find_collapsed(tx.db, stored.id) or _copied_collapse(tx, stored)
    if collapsed is None:
        raise NothingToExpand(f"commit {request.hash} replaces no other commits", field="hash", value=request.hash)
    depth = collapsed.head.seq if collapsed.head else 0
    # Without a limit, it has the newest commits of the child, as many as a page may have.
    first = 1 if request.limit else max(1, depth - tx.limits.page_max + 1)
    rows, following = _replaced(tx, collapsed.head, first, depth, request)
    return Expanded(
        hash=stored.hash.hex(),
        kind="collapse",
        branch=collapsed.branch,
        head=collapsed.head.hash.hex() if collapsed.head else None,
        commits=rows,
        next=following,
    )


def _replaced(
    tx: Transaction, head: Point | None, first: int, last: int, request: Expand
) -> tuple[list[CommitRow], int | None]:
    """The commits from one depth to another, oldest first: all of them, or a page, and the depth that it ends with."""
    after = max(first - 1, request.cursor or 0)
    end = last if request.limit is None else min(last, after + request.limit)
    spans = references.spans(tx, head)
    shown = commits.read_newest(tx.db, tx.codec, spans, limit=_EVERYTHING, before=end + 1, after=after)
    return _rows(tx, list(shown)[::-1]), end if end < last else None


def _copied_collapse(tx: Transaction, stored: StoredCommit) -> CollapsedChild | None:
    """The commits that a copy of a collapse replaces: a merge copies the commit, and its metadata names the work."""
    named = (stored.metadata or {}).get(COLLAPSE)
    if named is None:
        return None
    return CollapsedChild(named["child"], commits.find(tx.db, bytes.fromhex(named["head"] or "")))


@answers(Spawns)
def show_tree(tx: Transaction, request: Spawns) -> SpawnTree:
    """A history's parent, ancestors and children."""
    references.head(tx, request.branch)
    pointers, limit = StoredSpawnPointers(tx.db), request.limit or _EVERYTHING
    last = None if request.cursor is None else pointers.get(request.cursor)
    if request.cursor is not None and (last is None or last.parent != request.branch):
        raise InvalidParams(
            f"the cursor {request.cursor} is not a place in this list",
            field="cursor",
            value=request.cursor,
            fix="give the `next` of a page of the same branch, or leave it out to start again",
        )
    children = pointers.get_children(request.branch, after=request.cursor or 0, limit=limit + 1)
    return SpawnTree(
        parent=pointers.get_parent(request.branch),
        ancestors=list(child_branches.ancestors(tx.db, request.branch)),
        children=children[:limit],
        next=children[limit - 1].spawn_id if len(children) > limit else None,
    )


@answers(ResumeLatest)
def latest(tx: Transaction, request: ResumeLatest) -> Latest:
    """The newest root history that has not ended: where to continue after a crash."""
    for branch, head in child_branches.list_roots(tx.db, request.prefix or ""):
        boundary = _last_boundary(tx, head)
        payload = _payload(boundary)
        if payload.get("session_type") != "end":
            shown = None if boundary is None else {**payload, "summary": boundary.text}
            return Latest(branch=branch, hash=head.hash.hex(), boundary=shown)
    return Latest(branch=None, hash=None, boundary=None)


def _last_boundary(tx: Transaction, head: Point | None) -> StoredCommit | None:
    """The newest session boundary of a history, with its last text."""
    spans = references.spans(tx, head)
    point = commits.find_newest_of_type(tx.db, spans, "session")
    if point is None:
        return None
    edit = commits.find_newest_edit(tx.db, spans, point)
    boundary = commits.read_one(tx.db, tx.codec, point)
    return _edited(boundary, None if edit is None else commits.read_one(tx.db, tx.codec, edit))


def _payload(stored: StoredCommit | None) -> dict[str, Any]:
    payload = (stored.metadata or {}).get(PAYLOAD) if stored else None
    return payload if isinstance(payload, dict) else {}


def _rows(tx: Transaction, stored: list[StoredCommit]) -> list[CommitRow]:
    hints = commits.type_hints(tx.db)
    return [histories.row(tx, each, hints) for each in stored]
