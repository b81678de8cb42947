"""Archived, purged and expired sessions and runs.

A purge is a short transaction for a few sessions that removes what rows say and remembers the histories, and then many
short ones that remove contents. A purge that was interrupted is continued by whoever asks for the next step.
"""

from collections.abc import Callable

from msgspec.structs import asdict

from ramet.engine.answers import answers
from ramet.engine.record import lookup
from ramet.engine.runs import runs as engine_runs
from ramet.engine.transaction import Transaction
from ramet.errors import RunAttended, SessionOpen
from ramet.model.instant import to_iso
from ramet.protocol.memory.archives import (
    ApplyRetention,
    ArchiveSession,
    Purged,
    PurgeRun,
    PurgeSession,
    PurgeStep,
    PurgeStepReply,
    RetentionReply,
    SessionState,
)
from ramet.store import notices
from ramet.store.database.connection import Connection
from ramet.store.database.purge import Burial
from ramet.store.memory import purges
from ramet.store.memory.purges import Branch
from ramet.store.record import sessions

_DAY_MS = 86_400_000
_BY_RULE = "retention"
_SESSIONS = 20
"""How many sessions one transaction marks, so that it stays short."""


@answers(ArchiveSession)
def archive(tx: Transaction, request: ArchiveSession) -> SessionState:
    """Hide a session from lists, or list it again."""
    session = lookup.session(tx, request.session_id)
    already = (session.archived_at is not None) == request.archived
    if not already:
        purges.archive(tx.db, session.id, tx.now if request.archived else None)
        tx.record(
            "session.archived" if request.archived else "session.unarchived",
            effort_id=session.effort_id,
            session_id=session.id,
        )
    found = sessions.find(tx.db, session.id)
    assert found is not None  # noqa: S101
    return SessionState(**asdict(found), already=already)


@answers(PurgeSession)
def purge_session(tx: Transaction, request: PurgeSession) -> Purged:
    """Remove the texts of a session and of those below it."""
    session = lookup.session(tx, request.session_id)
    burial = Burial(request.purged_by, tx.now, request.reason)
    return _purge(tx, purges.list_below(tx.db, session.id), burial)


@answers(PurgeRun)
def purge_run(tx: Transaction, request: PurgeRun) -> Purged:
    """Remove the texts of a run and of its lines' sessions."""
    return _purge_run(tx, request.run_id, Burial(request.purged_by, tx.now, request.reason))


def _purge_run(tx: Transaction, run_id: int, burial: Burial) -> Purged:
    run = engine_runs.find(tx, run_id)
    if run.is_attended:
        raise RunAttended(f"run {run_id} is running", field="run_id", value=run_id)
    done = _purge(tx, purges.list_below_run(tx.db, run_id), burial)
    if done.left:
        return done
    already = run.purged_at is not None and done.already
    if not already:
        purges.begin_run(tx.db, run_id, run.branch, burial)
        tx.record("run.purged", project_id=run.project_id, data={"run": run_id, "by": burial.purged_by})
    return Purged(session_ids=done.session_ids, run_ids=[] if already else [run_id], already=already)


def _purge(tx: Transaction, found: list[Branch], burial: Burial) -> Purged:
    """Remove what the rows of a few sessions say, those below others first, and count those that are left."""
    for each in found:
        if not each.has_ended or each.is_leased:
            raise SessionOpen(f"session {each.session_id} is still open", field="session_id", value=each.session_id)
    waiting = sorted((each for each in found if not each.is_purged), key=lambda each: -each.session_id)
    purged = waiting[:_SESSIONS]
    for each in purged:
        is_last = purges.begin(tx.db, each, burial)
        tx.record("session.purged", effort_id=each.effort_id, session_id=each.session_id)
        if is_last:
            tx.record("effort.purged", effort_id=each.effort_id)
    marked = sorted(each.session_id for each in purged)
    return Purged(session_ids=marked, already=not purged, left=len(waiting) - len(purged))


@answers(PurgeStep)
def purge_step(tx: Transaction, request: PurgeStep) -> PurgeStepReply:
    """Remove a few contents. A purge that another host has ended meanwhile changes nothing."""
    burial = purges.find_burial(tx.db, request.branch)
    if burial is None:
        return PurgeStepReply(blobs=0, next=None)
    if request.span is not None:
        blobs, left = purges.empty_span(tx.db, request.span, request.limit, burial)
        return PurgeStepReply(blobs=blobs, next=left)
    if purges.empty_notes(tx.db, request):
        purges.finish(tx.db, request.branch)
        session_id = purges.find_session(tx.db, request.branch)
        if session_id is not None:
            # Again: whoever derives something from texts may have read some of them meanwhile.
            effort_id = lookup.session(tx, session_id).effort_id
            tx.record("session.purged", effort_id=effort_id, session_id=session_id)
    return PurgeStepReply(blobs=0, next=None)


@answers(ApplyRetention)
def apply_retention(tx: Transaction, request: ApplyRetention) -> RetentionReply:
    """Purge what is older than its owner keeps it, from a day after a notice said so."""
    old_sessions = _older(tx, request.sessions_days, purges.list_old_sessions, request.limit)
    old_runs = _older(tx, request.runs_days, purges.list_old_runs, request.limit)
    if not old_sessions and not old_runs:
        return RetentionReply()
    key = f"retention/{request.sessions_days}/{request.runs_days}"
    announced = purges.announced_at(tx.db, key)
    if announced is None:
        _announce(tx, request, key)
        return RetentionReply(announced=True)
    if announced > to_iso(tx.now_ms - _DAY_MS):
        return RetentionReply()
    purged_runs: list[int] = []
    purged: list[int] = []
    # One transaction marks what one request of a person does: whoever asks repeats this until nothing is left.
    if old_runs:
        done = _purge_run(tx, old_runs[0], Burial(_BY_RULE, tx.now, f"older than {request.runs_days} days"))
        purged_runs += done.run_ids
        purged += done.session_ids
    else:
        below = {each.session_id: each for top in old_sessions for each in purges.list_below(tx.db, top)}
        burial = Burial(_BY_RULE, tx.now, f"older than {request.sessions_days} days")
        purged += _purge(tx, list(below.values()), burial).session_ids
    return RetentionReply(purged=purged, purged_runs=purged_runs)


def _older(
    tx: Transaction, days: int | None, find: Callable[[Connection, str, int], list[int]], limit: int
) -> list[int]:
    return [] if days is None else find(tx.db, to_iso(tx.now_ms - days * _DAY_MS), limit)


def _announce(tx: Transaction, request: ApplyRetention, key: str) -> None:
    rules = {"sessions": request.sessions_days, "runs": request.runs_days}
    said = " and ".join(f"{name} after {days} days" for name, days in rules.items() if days is not None)
    text = (
        f"Tomorrow Ramet starts to remove the texts of old {said}, as `retention` in the configuration says. "
        "`ramet session archive SESSION` keeps one, `ramet export` copies them."
    )
    notice_id = notices.add(tx.db, kind="limit", text=text, effort_id=None, session_id=None, dedupe_key=key, now=tx.now)
    if notice_id is not None:
        tx.record("notice.added", data={"notice": notice_id, "kind": "limit"})
