"""Verifying a database: that every content and commit has the hash it is named by, and that nothing points astray."""

from collections.abc import Iterator
from typing import Any

import msgspec

from ramet.model.history.commit import CommitFacts, hash_commit, hash_content
from ramet.protocol.system.database import CheckFinding, CheckReport
from ramet.store.database.blobs import PURGED, Codec
from ramet.store.database.connection import Connection, Row
from ramet.store.database.queries import Query, QueryFile
from ramet.store.database.store import ReadableStore

_sql = QueryFile("database/check")

_PAGE = 500
_NOUNS = (
    "projects",
    "tasks",
    "efforts",
    "sessions",
    "messages",
    "agents",
    "commits",
    "blobs",
    "branches",
    "events",
    "purged",
)


def check_database(store: ReadableStore, codec: Codec) -> CheckReport:
    """Check everything. Problems are returned as findings, never raised as errors."""
    db = store.connect_reader()
    try:
        findings = [CheckFinding(check="database", detail=detail) for detail in store.integrity()]
        findings += _check_blobs(db, codec)
        findings += _check_commits(db)
        findings += [
            CheckFinding(check="pointers", detail=f"{whose} points at {what}, which does not exist")
            for whose, what in db.all(_sql.astray)
        ]
        findings += _check_work(db)
        counts = dict(zip(_NOUNS, db.must(_sql.counts), strict=True))
    finally:
        db.close()
    return CheckReport(passed=not findings, counts=counts, findings=findings)


def _pages(db: Connection, query: Query) -> Iterator[Row]:
    """Every row by id, a page at a time, so that no snapshot stays open for long."""
    after = 0
    while rows := db.all(query, after=after, limit=_PAGE):
        yield from rows
        after = rows[-1][0]


def _check_blobs(db: Connection, codec: Codec) -> Iterator[CheckFinding]:
    for blob_id, blob_hash, kind, size, data in _pages(db, _sql.blobs_after):
        if kind == PURGED:
            if data:
                yield CheckFinding(check="blobs", detail=f"blob {blob_id} is purged but has a content")
            continue
        try:
            content = codec.unpack(kind, size, data)
        except ValueError as error:
            yield CheckFinding(check="blobs", detail=f"blob {blob_id}: {error}")
            continue
        if hash_content(content) != blob_hash or len(content) != size:
            yield CheckFinding(check="blobs", detail=f"blob {blob_id} does not match its hash")


def _check_commits(db: Connection) -> Iterator[CheckFinding]:
    # What was purged of a commit is part of what its hash was made from.
    purged = {commit_hash for (commit_hash,) in db.all(_sql.purged_commits)}
    for row in _pages(db, _sql.commits_after):
        for problem in _commit_problems(*row, is_purged=row[1] in purged):
            yield CheckFinding(check="commits", detail=f"commit {row[0]} ({row[1].hex()[:12]}): {problem}")


def _commit_problems(
    _id: int, commit_hash: bytes, segment_id: int, seq: int, *rest: Any, is_purged: bool
) -> Iterator[str]:
    content_type, role, operation, author, at_ms, tokens, token_sum, metadata, *links = rest
    blob, parent, parent_seq, parent_sum, parent_segment, second, target, base_segment, base_seq = links
    facts = CommitFacts(
        content_hash=blob,
        content_type=content_type,
        role=role,
        author=author,
        parent=parent,
        second_parent=second,
        operation=operation,
        target=target,
        metadata=None if metadata is None else msgspec.json.decode(metadata),
        at_ms=at_ms,
    )
    if not is_purged and hash_commit(facts) != commit_hash:
        yield "its hash does not match its content"
    if seq != (parent_seq or 0) + 1:
        yield f"its position is {seq}, but its parent has {parent_seq or 0}"
    if token_sum != (parent_sum or 0) + tokens:
        yield "its running token count is wrong"
    if parent_segment not in (segment_id, base_segment) or (parent_segment == base_segment and seq <= base_seq):
        yield "its parent is neither in its segment nor at its segment's base"


def _check_work(db: Connection) -> Iterator[CheckFinding]:
    for task_id, count, highest in db.all(_sql.ordinal_gaps):
        yield CheckFinding(check="efforts", detail=f"{task_id}: {count} efforts, highest ordinal {highest}")
    for agent, effort in db.all(_sql.lost_holders):
        yield CheckFinding(check="agents", detail=f"agent {agent} holds effort {effort}, which is finished")
    for effort, lifecycle, owner in db.all(_sql.strayed_leases):
        yield CheckFinding(check="efforts", detail=f"effort {effort} is {lifecycle}, but {owner} holds a lease on it")
    for session, task, other in db.all(_sql.strayed_sessions):
        yield CheckFinding(check="sessions", detail=f"session {session} belongs to {task}, but its effort to {other}")
    for (message,) in db.all(_sql.strayed_messages):
        yield CheckFinding(check="messages", detail=f"message {message} has a different role than its commit")
    for (session,) in db.all(_sql.miscounted):
        yield CheckFinding(check="budgets", detail=f"the budget of session {session} does not match what was used")
    for (session,) in db.all(_sql.mistimed):
        yield CheckFinding(check="usage", detail=f"the usage of session {session} by time does not match what it used")
