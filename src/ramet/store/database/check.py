"""Verifying a database: that every content and commit has the hash it is named by, and that nothing points astray.

Everything is read in pages, each in a snapshot of its own, so that a check keeps neither much in memory nor the
write-ahead log from being copied back. It can be done in parts: a cursor names the next one.
"""

import random
import time
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import msgspec

from ramet.errors import InvalidParams
from ramet.model.history.commit import CommitFacts, hash_commit, hash_content
from ramet.protocol.system.database import CheckFinding, CheckReport, SampleReport
from ramet.store.database.blobs import PURGED, Codec
from ramet.store.database.connection import Connection
from ramet.store.database.queries import QueryFile
from ramet.store.database.store import ReadableStore

_sql = QueryFile("database/check")

_MOST = 100
"""How many findings are listed; the others are counted."""
_SMALL_ROWS = 2000
"""A database with fewer rows than this is checked whole where a sample is asked for."""
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


class _Findings:
    """What was found: some of it, and how much else."""

    def __init__(self) -> None:
        self.listed: list[CheckFinding] = []
        self.more = 0

    def add(self, found: Iterator[CheckFinding]) -> None:
        for finding in found:
            if len(self.listed) < _MOST:
                self.listed.append(finding)
            else:
                self.more += 1


class _Rows(NamedTuple):
    """Rows with numbers, a page of which is checked by one function."""

    name: str
    page: int
    check: Callable[[Connection, Codec, int, int], Iterator[CheckFinding]]
    """Checks the rows above one number up to another."""


def check_database(
    store: ReadableStore, codec: Codec, limit: int | None = None, cursor: str | None = None
) -> CheckReport:
    """Check everything, or a part of about so many rows. Problems are returned as findings, never raised as errors."""
    db = store.connect_reader()
    try:
        findings = _Findings()
        newest = db.must(_sql.newest)
        parts = store.integrity_parts() if limit else []
        kind, number = _read_cursor(cursor)
        left = limit
        if kind == _PAGES:
            # One statement for everything is faster, and one for each table gives others a turn.
            part = parts[number] if limit and number < len(parts) else None
            findings.add(CheckFinding(check="database", detail=detail) for detail in store.integrity(part))
            if limit and number + 1 < len(parts):
                return _report(findings, 0, sum(newest), f"{_PAGES}:{number + 1}")
            kind, number, left = _ROWS[0].name, 0, 0 if limit else None
        for place in range(_NAMES.index(kind), len(_ROWS)):
            rows, last = _ROWS[place], newest[place]
            while number < last:
                if left is not None and left <= 0:
                    return _report(findings, sum(newest[:place]) + number, sum(newest), f"{rows.name}:{number}")
                findings.add(rows.check(db, codec, number, number + rows.page))
                number += rows.page
                left = None if left is None else left - rows.page
            number = 0
        findings.add(_check_work(db))
        counts = dict(zip(_NOUNS, db.must(_sql.counts), strict=True))
    finally:
        db.close()
    return _report(findings, sum(newest), sum(newest), None, counts)


def _report(
    findings: _Findings, checked: int, rows: int, following: str | None, counts: dict[str, int] | None = None
) -> CheckReport:
    return CheckReport(
        passed=not findings.listed,
        counts=counts or {},
        findings=findings.listed,
        more=findings.more,
        checked=checked,
        rows=rows,
        next=following,
    )


def _read_cursor(cursor: str | None) -> tuple[str, int]:
    if cursor is None:
        return _PAGES, 0
    kind, _, number = cursor.partition(":")
    if kind not in (_PAGES, *_NAMES) or not number.isascii() or not number.isdigit():
        raise InvalidParams(
            f"{cursor!r} is not a cursor of a check",
            field="cursor",
            value=cursor,
            fix="give `next` of the part before, or no cursor to start",
        )
    return kind, int(number)


def sample_database(store: ReadableStore, codec: Codec, milliseconds: int) -> SampleReport:
    """Check the newest rows of each kind, and then rows at random places until the time is over."""
    deadline = time.monotonic() + milliseconds / 1000
    db = store.connect_reader()
    try:
        newest = db.must(_sql.newest)
        if sum(newest) <= _SMALL_ROWS:
            report = check_database(store, codec)
            sampled = {rows.name: last for rows, last in zip(_ROWS, newest, strict=True)}
            return _sample_report(store, report.findings, sampled, is_whole=True)
        findings, sampled = _Findings(), dict.fromkeys(_NAMES, 0)
        is_first = True
        while is_first or (time.monotonic() < deadline and not findings.more):
            for rows, last in zip(_ROWS, newest, strict=True):
                above = max(0, last - rows.page)
                after = above if is_first else random.randint(0, above)  # noqa: S311 - it guards nothing
                findings.add(rows.check(db, codec, after, after + rows.page))
                sampled[rows.name] += min(rows.page, last)
            is_first = False
    finally:
        db.close()
    return _sample_report(store, findings.listed, sampled, is_whole=False)


def _sample_report(
    store: ReadableStore, findings: list[CheckFinding], sampled: dict[str, int], *, is_whole: bool
) -> SampleReport:
    return SampleReport(
        passed=not findings, findings=findings, sampled=sampled, is_whole=is_whole, log=store.measure_log()
    )


def _check_blobs(db: Connection, codec: Codec, after: int, upto: int) -> Iterator[CheckFinding]:
    for blob_id, blob_hash, kind, size, data in db.all(_sql.blobs_between, after=after, upto=upto):
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


def _check_commits(db: Connection, _codec: Codec, after: int, upto: int) -> Iterator[CheckFinding]:
    for *row, is_purged in db.all(_sql.commits_between, after=after, upto=upto):
        # What was purged of a commit is part of what its hash was made from.
        for problem in _commit_problems(*row, is_purged=bool(is_purged)):
            yield CheckFinding(check="commits", detail=f"commit {row[0]} ({row[1].hex()[:12]}): {problem}")


def _check_pointers(db: Connection, _codec: Codec, after: int, upto: int) -> Iterator[CheckFinding]:
    for whose, what in db.all(_sql.astray, after=after, upto=upto):
        yield CheckFinding(check="pointers", detail=f"{whose} points at {what}, which does not exist")
    for (message,) in db.all(_sql.strayed_messages, after=after, upto=upto):
        yield CheckFinding(check="messages", detail=f"message {message} has a different role than its commit")


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
    for (session,) in db.all(_sql.miscounted):
        yield CheckFinding(check="budgets", detail=f"the budget of session {session} does not match what was used")
    for (session,) in db.all(_sql.mistimed):
        yield CheckFinding(check="usage", detail=f"the usage of session {session} by time does not match what it used")


_PAGES = "pages"
_ROWS = (
    _Rows("blobs", 20, _check_blobs),  # few: each may have megabytes
    _Rows("commits", 500, _check_commits),
    _Rows("pointers", 2000, _check_pointers),
)
"""In the order of the numbers of the query `newest`."""
_NAMES = [rows.name for rows in _ROWS]
