"""Histories: commits, branches, and the moves by which every rewrite can be taken back."""

from collections.abc import Iterator
from itertools import islice
from typing import Any, Generic

import msgspec
from msgspec import Struct
from msgspec.structs import asdict

from ramet.engine import scopes
from ramet.engine.answers import Q, answers, prepares
from ramet.engine.contents import Contents, Prepared
from ramet.engine.history import references
from ramet.engine.transaction import Transaction
from ramet.errors import (
    BranchExists,
    BranchInUse,
    BranchNotFound,
    InvalidParams,
    NothingToUndo,
    UnknownContentType,
)
from ramet.model.history.branch import Head, Point
from ramet.model.history.commit import CommitFacts
from ramet.model.history.content import (
    BUILTIN_CONTENT_TYPES,
    BUILTIN_TYPE_HINTS,
    COLLAPSE,
    COMPRESSES,
    ORIGIN,
    PAYLOAD,
    Priority,
    TypeHints,
    unpack,
)
from ramet.model.instant import from_datetime, to_datetime
from ramet.protocol.history.branches import (
    At,
    BranchRow,
    CreateBranch,
    DeleteBranch,
    ListBranches,
    ListMoves,
    MoveRow,
    Reset,
    Undo,
)
from ramet.protocol.history.commits import (
    Annotate,
    Commit,
    CommitDetail,
    CommitReply,
    CommitRow,
    Edit,
    Log,
    Pick,
    RegisteredType,
    RegisterType,
    Show,
    Tag,
)
from ramet.protocol.pages import cut
from ramet.protocol.replies import Page
from ramet.store.history import branches, commits, segments
from ramet.store.history.commits import StoredCommit
from ramet.store.history.segments import Committed, NewCommit

_AUTHOR = "user"
_PREVIEW = 100


class Kind(Struct, frozen=True, kw_only=True):
    """What a new commit is, beside its content."""

    content_type: str
    role: str
    author: str = _AUTHOR
    at_ms: int | None = None
    reported_tokens: int | None = None


class PreparedCommit(Struct, Generic[Q], frozen=True):
    """A request, and its content that needs no transaction any more."""

    request: Q
    content: Prepared


@prepares(Commit)
def prepare_commit(request: Commit, contents: Contents) -> PreparedCommit[Commit]:
    """Redact, hash and compress what is committed."""
    return PreparedCommit(request, contents.prepare_commit(request))


@prepares(Edit)
def prepare_edit(request: Edit, contents: Contents) -> PreparedCommit[Edit]:
    """Redact, hash and compress the new text."""
    return PreparedCommit(request, contents.prepare(request.text))


@answers(Commit)
def commit(tx: Transaction, prepared: PreparedCommit[Commit]) -> CommitReply:
    """Add to a branch; a branch that does not exist starts with it."""
    request = prepared.request
    content = prepared.content
    hints = require_type(tx, content.content_type or "dialogue")
    head = references.head_or_new(tx, request.branch)
    kind = Kind(
        content_type=content.content_type or "dialogue",
        role=request.role or (content.role if request.content else None) or hints.default_role,
        author=request.author or _AUTHOR,
        at_ms=None if request.at is None else _instant(request.at, "at"),
        reported_tokens=request.tokens,
    )
    done = add(tx, head, content, kind)
    if request.priority is not None:
        commits.annotate(tx.db, done.id, request.priority)
    if request.tags:
        commits.set_tags(tx.db, done.id, request.tags)
    return committed(tx, request.branch, done, content)


@answers(Edit)
def edit(tx: Transaction, prepared: PreparedCommit[Edit]) -> CommitReply:
    """Replace a commit's text."""
    request = prepared.request
    head = references.head(tx, request.branch)
    target = references.within(tx, references.spans(tx, head), request.target, "target")
    stored = commits.read_one(tx.db, tx.codec, target)
    if stored.target_id is not None:
        raise InvalidParams(
            f"commit {request.target} is itself an edit",
            field="target",
            value=request.target,
            fix="edit the original commit instead",
        )
    kind = Kind(content_type=stored.content_type, role=stored.role)
    done = add(tx, head, prepared.content, kind, target)
    moved(tx, request.branch, head.commit_id, done.id, "edit")
    return committed(tx, request.branch, done, prepared.content)


@answers(Pick)
def pick(tx: Transaction, request: Pick) -> CommitReply:
    """Add a copy of a commit to a branch."""
    head = references.head_or_new(tx, request.branch)
    stored = commits.read_one(tx.db, tx.codec, references.commit(tx, request.hash))
    if stored.target_id is not None:
        raise InvalidParams(
            f"commit {request.hash} is an edit, which cannot be picked without its original commit",
            field="hash",
            value=request.hash,
            fix="pick the original commit instead",
        )
    done = copy(tx, head, stored)
    moved(tx, request.branch, head.commit_id, done.id, "pick")
    return CommitReply(hash=done.hash.hex(), depth=done.seq, tokens=stored.tokens, branch=request.branch)


@answers(Log)
def log(tx: Transaction, request: Log) -> Page[CommitRow]:
    """The commits of a branch, the newest first; `next` is the depth to continue below."""
    point = references.either(tx, request.branch, request.hash)
    limit = min(request.limit, tx.limits.page_max)
    found = list(
        commits.read_newest(tx.db, tx.codec, references.spans(tx, point), limit=limit + 1, before=request.cursor)
    )
    hints = commits.type_hints(tx.db)
    items = [row(tx, stored, hints) for stored in found[:limit]]
    return Page(items=items, next=found[limit - 1].seq if len(found) > limit else None)


@answers(Show)
def show(tx: Transaction, request: Show) -> CommitDetail:
    """One commit with all that it says."""
    point = references.place(tx, request.hash, "hash")
    if point is None:
        raise BranchNotFound(f"branch {request.hash!r} is empty", field="hash", value=request.hash)
    return detail(tx, point)


@answers(CreateBranch)
def create_branch(tx: Transaction, request: CreateBranch) -> BranchRow:
    """A new branch at a place."""
    if segments.find_head(tx.db, request.name) is not None:
        raise BranchExists(f"branch {request.name!r} already exists", field="name", value=request.name)
    point = None if request.from_ is None else references.place(tx, request.from_, "from")
    segments.create_branch(tx.db, request.name, point.commit_id if point else None, tx.now_ms)
    tx.record("branch.created", data={"branch": request.name})
    return branch(tx, request.name)


@answers(ListBranches)
def list_branches(tx: Transaction, request: ListBranches) -> Page[BranchRow]:
    """The branches whose names start with a prefix.

    Those that the asker cannot reach are passed over, so that no `next` names one of them.
    """
    limit = min(request.limit or tx.limits.page_max, tx.limits.page_max)
    found = list(islice(_reachable(tx, request, limit + 1), limit + 1))
    return Page(items=found[:limit], next=found[limit - 1].name if len(found) > limit else None)


def _reachable(tx: Transaction, request: ListBranches, wanted: int) -> Iterator[BranchRow]:
    """The branches behind the cursor that the asker reaches."""
    # An agent reaches few of them, so that more are read at a time than it wants.
    size = wanted if tx.asker is None else max(wanted, tx.limits.page_max)
    after = request.cursor or ""
    while True:
        found = branches.list_all(tx.db, request.prefix or "", after=after, limit=size)
        yield from (row for row in found if scopes.has_branch(tx, row.name))
        if len(found) < size:
            return
        after = found[-1].name


@answers(DeleteBranch)
def delete(tx: Transaction, request: DeleteBranch) -> BranchRow:
    """Delete a name; `undo` restores it as long as its commits exist."""
    head = references.head(tx, request.branch)
    session = branches.find_session(tx.db, request.branch)
    if session is not None:
        raise BranchInUse(
            f"session {session} writes to branch {request.branch!r}", field="branch", value=request.branch
        )
    gone = branch(tx, request.branch)
    branches.delete(tx.db, request.branch)
    moved(tx, request.branch, head.commit_id, None, "delete")
    return gone


@answers(Reset)
def reset(tx: Transaction, request: Reset) -> BranchRow:
    """Let a branch point at another place."""
    head = references.head(tx, request.branch)
    point = references.place(tx, request.to, "to")
    repoint(tx, request.branch, head, point.commit_id if point else None, "reset")
    return branch(tx, request.branch)


@answers(Undo)
def undo(tx: Transaction, request: Undo) -> BranchRow:
    """Take back the last rewrites, exactly."""
    for step in range(request.steps):
        rewrite = branches.find_last_rewrite(tx.db, request.branch)
        if rewrite is None:
            if step == 0 and segments.find_head(tx.db, request.branch) is None:
                raise BranchNotFound(f"there is no branch {request.branch!r}", field="branch", value=request.branch)
            raise NothingToUndo(
                f"branch {request.branch!r} has {step or 'no'} rewrites to undo", field="steps", value=request.steps
            )
        head = references.head_or_new(tx, request.branch)
        segments.move(tx.db, head.branch_id, rewrite.old_commit_id)
        moved(tx, request.branch, head.commit_id, rewrite.old_commit_id, "undo", undoes=rewrite.move_id)
    return branch(tx, request.branch)


@answers(ListMoves)
def list_moves(tx: Transaction, request: ListMoves) -> Page[MoveRow]:
    """The rewrites of a branch, the newest first; those of one that was deleted too."""
    limit = min(request.limit, tx.limits.page_max)
    before = 2**63 - 1 if request.cursor is None else request.cursor
    found = branches.list_moves(tx.db, request.branch, before=before, limit=limit + 1)
    if not found:
        references.head(tx, request.branch)
    return cut(found, limit, lambda move: move.id)


@answers(Annotate)
def annotate(tx: Transaction, request: Annotate) -> CommitDetail:
    """Say how much a commit matters."""
    point = references.commit(tx, request.hash)
    commits.annotate(tx.db, point.commit_id, request.priority)
    tx.record("commit.annotated", data={"hash": point.hash.hex(), "priority": request.priority})
    return detail(tx, point)


@answers(Tag)
def tag(tx: Transaction, request: Tag) -> CommitDetail:
    """Set a commit's tags."""
    point = references.commit(tx, request.hash)
    commits.set_tags(tx.db, point.commit_id, request.tags)
    tx.record("commit.tagged", data={"hash": point.hash.hex(), "tags": request.tags})
    return detail(tx, point)


@answers(RegisterType)
def register(tx: Transaction, request: RegisterType) -> RegisteredType:
    """Register a kind of content; the built-in ones are as they are."""
    if request.name in BUILTIN_CONTENT_TYPES:
        raise InvalidParams(
            f"content type {request.name!r} is built in", field="name", value=request.name, fix="choose another name"
        )
    hints = TypeHints(
        default_role=request.default_role,
        default_priority=request.default_priority,
        compression_priority=request.compression_priority,
        compiles=request.compiles,
    )
    commits.register_type(tx.db, request.name, hints)
    tx.record("content_type.registered", data={"name": request.name})
    return RegisteredType(**asdict(request))


@answers(At)
def at(tx: Transaction, request: At) -> BranchRow:
    """Where a branch was at a time, or at one of its commits."""
    if (request.time is None) == (request.hash is None):
        raise InvalidParams(
            "give either a time or a hash",
            field="time",
            fix="give time, such as 2026-01-31T12:00:00Z, or the hash of one of its commits",
        )
    head = references.head(tx, request.branch)
    if request.hash is not None:
        point: Point | None = references.within(tx, references.spans(tx, head), request.hash, "hash")
    else:
        point = _at_time(tx, request.branch, head, _instant(request.time, "time"))
    found = branch(tx, request.branch)
    return BranchRow(
        name=found.name,
        hash=point.hash.hex() if point else None,
        depth=point.seq if point else 0,
        tokens=point.token_sum if point else 0,
        created_at=found.created_at,
        parent=found.parent,
    )


def _at_time(tx: Transaction, name: str, head: Head, instant_ms: int) -> Point | None:
    """The newest commit that was there: on the path that the first later rewrite left, or on the one of now."""
    was_moved, left = branches.find_left(tx.db, name, instant_ms)
    end = left if was_moved else head
    return commits.find_newest_until(tx.db, references.spans(tx, end), instant_ms)


def add(tx: Transaction, head: Head, content: Prepared, kind: Kind, target: Point | None = None) -> Committed:
    """Put a prepared content behind a head; with a target it is an edit of it."""
    facts = CommitFacts(
        content_hash=content.blob.hash,
        content_type=kind.content_type,
        role=kind.role,
        author=kind.author,
        parent=head.commit_hash,
        operation="append" if target is None else "edit",
        target=None if target is None else target.hash,
        metadata=content.metadata,
        at_ms=kind.at_ms,
    )
    new = NewCommit(
        facts=facts,
        blob=content.blob,
        tokens=content.tokens,
        reported_tokens=kind.reported_tokens,
        target_id=None if target is None else target.commit_id,
    )
    return segments.append(tx.db, head, new, tx.now_ms)


def copy(
    tx: Transaction,
    head: Head,
    stored: StoredCommit,
    target: Point | None = None,
    changes: dict[str, Any] | None = None,
) -> Committed:
    """Put a copy of a commit behind a head. It remembers which commit it is a copy of, and when that was made.

    The places that a summary takes are those of its own line: without others, a copy takes none.
    """
    own = {name: value for name, value in (stored.metadata or {}).items() if name != COMPRESSES}
    metadata = {ORIGIN: stored.hash.hex(), **own, **(changes or {})}
    second = None if stored.second_parent is None else commits.find(tx.db, stored.second_parent)
    facts = CommitFacts(
        content_hash=stored.content_hash,
        content_type=stored.content_type,
        role=stored.role,
        author=stored.author,
        parent=head.commit_hash,
        second_parent=None if second is None else second.hash,
        operation="append" if target is None else "edit",
        target=None if target is None else target.hash,
        metadata=metadata,
        at_ms=stored.at_ms,
    )
    new = NewCommit(
        facts=facts,
        blob=stored.blob_id,
        tokens=stored.tokens,
        reported_tokens=stored.reported_tokens,
        target_id=None if target is None else target.commit_id,
        second_parent_id=None if second is None else second.commit_id,
    )
    done = segments.append(tx.db, head, new, tx.now_ms)
    if stored.priority is not None:
        commits.annotate(tx.db, done.id, stored.priority)
    if tags := commits.list_tags(tx.db, stored.id):
        commits.set_tags(tx.db, done.id, tags)
    return done


def origin(stored: StoredCommit) -> bytes:
    """The original of a commit, through all copies."""
    named = (stored.metadata or {}).get(ORIGIN)
    return bytes.fromhex(named) if isinstance(named, str) else stored.hash


def repoint(tx: Transaction, name: str, head: Head, commit_id: int | None, why: str) -> None:
    """Let a branch point elsewhere, and write down that it did."""
    segments.move(tx.db, head.branch_id, commit_id)
    moved(tx, name, head.commit_id, commit_id, why)


def moved(tx: Transaction, name: str, old: int | None, new: int | None, why: str, undoes: int | None = None) -> None:
    """Write down a rewrite."""
    branches.record_move(tx.db, name, old=old, new=new, why=why, now_ms=tx.now_ms, undoes=undoes)
    tx.record("branch.moved", data={"branch": name, "why": why})


def committed(tx: Transaction, name: str, done: Committed, content: Prepared) -> CommitReply:
    """The reply of what added a commit, and its event."""
    tx.record("commit.added", data={"branch": name})
    return CommitReply(
        hash=done.hash.hex(), depth=done.seq, tokens=content.tokens, branch=name, redactions=content.redactions
    )


def require_type(tx: Transaction, name: str) -> TypeHints:
    """How a kind of content is treated; it must be known."""
    if name in BUILTIN_TYPE_HINTS:
        return BUILTIN_TYPE_HINTS[name]
    known = commits.type_hints(tx.db)
    if name not in known:
        raise UnknownContentType(
            f"there is no content type {name!r}",
            field="content_type",
            value=name,
            fix=f"use one of: {', '.join(sorted(known))}; a program can register other types",
        )
    return known[name]


def branch(tx: Transaction, name: str) -> BranchRow:
    """A branch as people see it."""
    found = branches.find(tx.db, name)
    if found is None:
        raise BranchNotFound(f"there is no branch {name!r}", field="branch", value=name)
    return found


def detail(tx: Transaction, point: Point) -> CommitDetail:
    """A commit with all that it says."""
    stored = commits.read_one(tx.db, tx.codec, point)
    short = row(tx, stored, commits.type_hints(tx.db))
    metadata = dict(stored.metadata or {})
    payload = metadata.pop(PAYLOAD, None)
    content = unpack(stored.content_type, stored.role, stored.text, payload)
    return CommitDetail(
        **{name: getattr(short, name) for name in short.__struct_fields__},
        text=stored.text,
        content=None if content is None else _builtins(content),
        metadata=metadata or None,
        branches=[name for name in commits.list_branches_at(tx.db, stored.id) if scopes.has_branch(tx, name)],
    )


def row(tx: Transaction, stored: StoredCommit, hints: dict[str, TypeHints]) -> CommitRow:
    """A commit as a list shows it."""
    metadata = stored.metadata or {}
    span = metadata.get(COMPRESSES)
    collapsed = metadata.get(COLLAPSE)
    payload = metadata.get(PAYLOAD)
    return CommitRow(
        hash=stored.hash.hex(),
        parent=stored.parent.hex() if stored.parent else None,
        second_parent=stored.second_parent.hex() if stored.second_parent else None,
        depth=stored.seq,
        content_type=stored.content_type,
        role=stored.role,
        operation="edit" if stored.target else "append",
        target=stored.target.hex() if stored.target else None,
        author=stored.author,
        at=to_datetime(stored.at_ms),
        tokens=stored.tokens,
        reported_tokens=stored.reported_tokens,
        priority=priority(stored, hints),
        tags=commits.list_tags(tx.db, stored.id),
        preview=" ".join(stored.text[: 2 * _PREVIEW].split())[:_PREVIEW],
        tool=payload.get("tool_name") if isinstance(payload, dict) else None,
        compresses=None if span is None else [str(seq) for seq in span],
        collapses=collapsed.get("child") if isinstance(collapsed, dict) else None,
    )


def priority(stored: StoredCommit, hints: dict[str, TypeHints]) -> Priority:
    """How much a commit matters: what was said of it, else what its kind says."""
    known = hints.get(stored.content_type)
    return stored.priority or (known.default_priority if known else "normal")


def _instant(moment: Any, field: str) -> int:
    try:
        return from_datetime(moment)
    except ValueError as error:
        raise InvalidParams(
            str(error), field=field, value=str(moment), fix="give a time with its zone, such as 2026-01-31T12:00:00Z"
        ) from error


def _builtins(content: Any) -> dict[str, Any]:

    built: dict[str, Any] = msgspec.to_builtins(content)
    return built
