"""Verifying a database: that every content and commit has the hash it is named by, and that nothing points astray.

Everything is read in pages, each in a snapshot of its own, so that a check keeps neither much in memory nor the
write-ahead log from being copied back. It can be done in parts: a cursor names the next one.

A damaged file may fail at any statement and may say anything: that a table has 2^60 rows, or that its rows are in no
order. So each statement is guarded: what it raises is a finding, and the check continues behind it. A page that cannot
be read is left out, and after each such page twice as many rows, so that a check always ends.
"""

import random
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from typing import Any, NamedTuple

import msgspec

from ramet.errors import (
    ConnectionsExhausted,
    DatabaseBusy,
    DatabaseDamaged,
    DatabaseExhausted,
    DatabaseReadOnly,
    DatabaseRefused,
    DatabaseUnreachable,
    DeadlineExceeded,
    InvalidParams,
    QueryTimeout,
    RametError,
    StatementStopped,
)
from ramet.model.history.commit import CommitFacts, hash_commit, hash_content
from ramet.protocol.system.database import CheckFinding, CheckReport, SampleReport
from ramet.store.database.blobs import PURGED, Codec
from ramet.store.database.connection import Connection
from ramet.store.database.queries import Query, QueryFile
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


_PHYSICAL = ("database", "blobs", "commits", "pointers", "messages")
_PASSING = (
    ConnectionsExhausted,
    DatabaseBusy,
    DatabaseReadOnly,
    DatabaseRefused,
    DatabaseUnreachable,
    DeadlineExceeded,
    QueryTimeout,
    StatementStopped,
)
"""Errors that say that the database cannot be asked just now, and nothing about what is in it."""
_LAST_ROW = 2**62
"""The end of a table whose highest number cannot be read."""


class _Findings:
    """What was found: some of it, and how much else."""

    def __init__(self) -> None:
        self.listed: list[CheckFinding] = []
        self.more = 0

    def add(self, found: Iterable[CheckFinding]) -> None:
        """List these, or count them."""
        for finding in found:
            if len(self.listed) < _MOST:
                self.listed.append(finding)
            else:
                self.more += 1

    @contextmanager
    def guarding(self, check: str, what: str) -> Iterator[None]:
        """Turn what a damaged database does to the block into a finding. An error that says that the database cannot
        be asked just now is none.
        """
        try:
            yield
        except _PASSING:
            raise
        except (MemoryError, DatabaseExhausted):  # which says nothing about the row: a whole one may be very large
            self.add([CheckFinding(check="memory", detail=f"{what} could not be checked: there is too little memory")])
        except Exception as error:  # noqa: BLE001 - damaged rows have values of any kind
            self.add([CheckFinding(check=check, detail=f"{what} cannot be read: {_describe(error)}")])


class _Rows(NamedTuple):
    """Rows with numbers, a page of which is checked by one function."""

    name: str
    page: int
    newest: Query
    """The highest number."""
    following: Query
    """The lowest number above another."""
    check: Callable[[Connection, Codec, int, int], Iterator[CheckFinding]]
    """Checks the rows above one number up to another."""


class _Walk:
    """The way through the rows of one kind, page by page. It leaves out numbers that no row has."""

    def __init__(self, db: Connection, codec: Codec, rows: _Rows, findings: _Findings) -> None:
        self._db = db
        self._codec = codec
        self._rows = rows
        self._findings = findings
        self._skip = rows.page
        """How many rows are left out if the next page cannot be read."""

    @property
    def is_skipping(self) -> bool:
        """Whether the last page could not be read. A part of a check does not end there: the next would start anew."""
        return self._skip > self._rows.page

    def step(self, after: int) -> int | None:
        """Check the page after a number; the number to continue after, or None if there are no more rows."""
        upto, is_read, following = after + self._rows.page, False, None
        with self._findings.guarding(self._rows.name, f"a row of {self._rows.name} from {after + 1:,} on"):
            self._findings.add(self._rows.check(self._db, self._codec, after, upto))
            (following,) = self._db.must(self._rows.following, after=upto)
            if following is not None and following <= upto:
                raise ValueError("the rows are not in the order of their numbers")
            is_read = True
        if not is_read:
            self._skip *= 2
            return after + self._skip // 2 if after < _LAST_ROW else None
        self._skip = self._rows.page
        return None if following is None else int(following) - 1


def check_database(
    store: ReadableStore, codec: Codec, limit: int | None = None, cursor: str | None = None
) -> CheckReport:
    """Check everything, or a part of about so many rows. Problems are returned as findings, never raised as errors."""
    kind, number = _read_cursor(cursor)
    findings = _Findings()
    db = _connect(store, findings)
    if db is None:
        return _report(findings, 0, 0, None)
    try:
        return _check(store, db, codec, findings, limit, kind, number)
    finally:
        db.close()
        _note_damage(store, findings)


def _note_damage(store: ReadableStore, findings: _Findings) -> None:
    """Findings about pages, contents and histories are signs of damage; those about work may be a defect of ours."""
    for found in findings.listed:
        if found.check in _PHYSICAL:
            store.signs.note(DatabaseDamaged(f"a check found: {found.check}: {found.detail}"))
            return


def _connect(store: ReadableStore, findings: _Findings) -> Connection | None:
    db = None
    with findings.guarding("database", "the database"):
        db = store.connect_reader()
    return db  # noqa: RET504 - the block may end early


def _check(
    store: ReadableStore, db: Connection, codec: Codec, findings: _Findings, limit: int | None, kind: str, number: int
) -> CheckReport:
    left = limit
    newest = [_find_newest(db, rows) for rows in _ROWS]
    if kind == _PAGES:
        # One statement for everything is faster, and one for each table gives others a turn.
        parts = _list_parts(store, findings) if limit else []
        part = parts[number] if number < len(parts) else None
        _check_pages(store, findings, part)
        if number == 0:
            _check_schema(store, findings)
        if number + 1 < len(parts):
            return _report(findings, 0, sum(newest), f"{_PAGES}:{number + 1}")
        kind, number, left = _ROWS[0].name, 0, 0 if limit else None
    for place in range(_NAMES.index(kind), len(_ROWS)):
        rows, walk = _ROWS[place], _Walk(db, codec, _ROWS[place], findings)
        following: int | None = number
        while following is not None:
            if left is not None and left <= 0 and not walk.is_skipping:
                checked = sum(newest[:place]) + min(following, newest[place])
                return _report(findings, checked, sum(newest), f"{rows.name}:{following}")
            following = walk.step(following)
            left = None if left is None else left - rows.page
        number = 0
    _check_work(db, findings)
    counts: dict[str, int] = {}
    with findings.guarding("database", "a table that is counted"):
        counts = dict(zip(_NOUNS, db.must(_sql.counts), strict=True))
    return _report(findings, sum(newest), sum(newest), None, counts)


def _find_newest(db: Connection, rows: _Rows) -> int:
    """How far the rows go, for whoever wants to know how much is left; 0 if that cannot be read."""
    try:
        return int(db.must(rows.newest)[0])
    except Exception:  # noqa: BLE001 - the check of the rows says what is wrong
        return 0


def _list_parts(store: ReadableStore, findings: _Findings) -> list[str]:
    parts: list[str] = []
    with findings.guarding("database", "the list of tables"):
        parts = store.integrity_parts()
    return parts  # noqa: RET504 - the same


def _check_pages(store: ReadableStore, findings: _Findings, part: str | None) -> None:
    with findings.guarding("database", part or "the file"):
        findings.add(CheckFinding(check="database", detail=detail) for detail in store.integrity(part))


def _check_schema(store: ReadableStore, findings: _Findings) -> None:
    with findings.guarding("schema", "the schema"):
        findings.add(CheckFinding(check="schema", detail=detail) for detail in store.schema_differences())


def _describe(error: Exception) -> str:
    if isinstance(error, RametError):
        return error.message
    return f"{type(error).__name__}: {error}" if str(error) else type(error).__name__


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
    findings, sampled = _Findings(), dict.fromkeys(_NAMES, 0)
    db = _connect(store, findings)
    if db is None:
        return _sample_report(store, findings.listed, sampled, is_whole=False)
    try:
        newest = [_find_newest(db, rows) for rows in _ROWS]
        if sum(newest) <= _SMALL_ROWS:
            report = check_database(store, codec)
            sampled = {rows.name: last for rows, last in zip(_ROWS, newest, strict=True)}
            return _sample_report(store, report.findings, sampled, is_whole=True)
        is_first = True
        while is_first or (time.monotonic() < deadline and not findings.more):
            for rows, last in zip(_ROWS, newest, strict=True):
                above = max(0, last - rows.page)
                after = above if is_first else random.randint(0, above)  # noqa: S311 - it guards nothing
                _Walk(db, codec, rows, findings).step(after)
                sampled[rows.name] += min(rows.page, last)
            is_first = False
    finally:
        db.close()
        _note_damage(store, findings)
    return _sample_report(store, findings.listed, sampled, is_whole=False)


def _sample_report(
    store: ReadableStore, findings: list[CheckFinding], sampled: dict[str, int], *, is_whole: bool
) -> SampleReport:
    return SampleReport(
        passed=not findings, findings=findings, sampled=sampled, is_whole=is_whole, log=store.measure_log()
    )


def _check_blobs(db: Connection, codec: Codec, after: int, upto: int) -> Iterator[CheckFinding]:
    with suppress(MemoryError, DatabaseExhausted):
        yield from list(_check_few_blobs(db, codec, after, upto))
        return
    for number in range(after, upto):
        yield from _check_few_blobs(db, codec, number, number + 1)


def _check_few_blobs(db: Connection, codec: Codec, after: int, upto: int) -> Iterator[CheckFinding]:
    for blob_id, blob_hash, kind, size, data in db.all(_sql.blobs_between, after=after, upto=upto):
        if kind == PURGED:
            if data:
                yield CheckFinding(check="blobs", detail=f"blob {blob_id} is purged but has a content")
            continue
        try:
            content = codec.unpack(kind, size, data)
        except (ValueError, TypeError) as error:
            yield CheckFinding(check="blobs", detail=f"blob {blob_id}: {error}")
            continue
        if hash_content(content) != blob_hash or len(content) != size:
            yield CheckFinding(check="blobs", detail=f"blob {blob_id} does not match its hash")


def _check_commits(db: Connection, _codec: Codec, after: int, upto: int) -> Iterator[CheckFinding]:
    for *row, is_purged in db.all(_sql.commits_between, after=after, upto=upto):
        # What was purged of a commit is part of what its hash was made from.
        try:
            for problem in _commit_problems(*row, is_purged=bool(is_purged)):
                yield CheckFinding(check="commits", detail=f"commit {row[0]} ({row[1].hex()[:12]}): {problem}")
        except (TypeError, ValueError, AttributeError, msgspec.MsgspecError) as error:
            yield CheckFinding(check="commits", detail=f"commit {row[0]} has a damaged value: {_describe(error)}")


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


def _check_work(db: Connection, findings: _Findings) -> None:
    for check, query, sentence in _WORK:
        with findings.guarding(check, f"what is compared of {check}"):
            findings.add(CheckFinding(check=check, detail=sentence.format(*row)) for row in db.all(query))


_WORK = (
    ("efforts", _sql.ordinal_gaps, "{}: {} efforts, highest ordinal {}"),
    ("agents", _sql.lost_holders, "agent {} holds effort {}, which is finished"),
    ("efforts", _sql.strayed_leases, "effort {} is {}, but {} holds a lease on it"),
    ("sessions", _sql.strayed_sessions, "session {} belongs to {}, but its effort to {}"),
    ("budgets", _sql.miscounted, "the budget of session {} does not match what was used"),
    ("usage", _sql.mistimed, "the usage of session {} by time does not match what it used"),
)
"""What is compared of efforts and sessions, and the sentence about each row that is found."""
_PAGES = "pages"
_ROWS = (
    _Rows("blobs", 20, _sql.newest_blob, _sql.next_blob, _check_blobs),  # few: each may have megabytes
    _Rows("commits", 500, _sql.newest_commit, _sql.next_commit, _check_commits),
    _Rows("pointers", 2000, _sql.newest_pointer, _sql.next_pointer, _check_pointers),
)
_NAMES = [rows.name for rows in _ROWS]
