"""Attempts: a claimed effort gets a session, whose agent a keeper holds."""

from msgspec import Struct
from msgspec.structs import replace

from ramet.engine.answers import answers, prepares
from ramet.engine.contents import Contents, Prepared
from ramet.engine.record import (
    budgets,
    efforts,
    lookup,
    messages,
    sessions,
)
from ramet.engine.record.messages import Turn
from ramet.engine.runs import run_lines
from ramet.engine.system import notices
from ramet.engine.transaction import Transaction
from ramet.engine.work import leases
from ramet.errors import WorktreeBusy
from ramet.model.instant import to_iso
from ramet.model.record.effort import Effort
from ramet.model.record.session import Session
from ramet.protocol.work.attempts import Attempt, BeginAttempt, NotePreparation, Preparation
from ramet.store.record import messages as message_rows
from ramet.store.record import sessions as session_rows
from ramet.store.record.sessions import KeeperLease, NativeWindow, NewSession
from ramet.store.work import leases as lease_rows
from ramet.store.work.leases import Start


class PreparedAttempt(Struct, frozen=True):
    """An attempt whose prompt needs no transaction any more."""

    request: BeginAttempt
    prompt: Prepared


@prepares(BeginAttempt)
def prepare(request: BeginAttempt, contents: Contents) -> PreparedAttempt:
    """Redact, hash and compress the prompt."""
    return PreparedAttempt(request, contents.prepare(request.prompt))


@answers(BeginAttempt)
def begin(tx: Transaction, prepared: PreparedAttempt) -> Attempt:
    """Record that an attempt starts: its session, its prompt and its place."""
    request = prepared.request
    effort = lookup.effort(tx, request.effort_id)
    if not effort.lease.is_of(request.generation):
        raise leases.lost(effort, request.generation)
    _require_free_worktree(tx, request)
    session = _open_session(tx, effort, request)
    where = Start(
        driver=request.profile or request.driver,
        model=request.model,
        worktree=request.worktree,
        git_branch=request.git_branch,
        git_base=request.git_base,
        git_host=request.git_host if request.git_branch else None,
    )
    effort = lease_rows.begin(tx.db, effort.id, where)
    data = {"attempt": effort.retry.attempts, "driver": effort.driver, "worktree": effort.place.worktree}
    tx.record(
        "effort.attempted",
        task_id=effort.task_id,
        effort_id=effort.id,
        session_id=session.id,
        agent_id=request.agent_id,
        data=data,
    )
    if request.is_cut:
        see = f"`ramet show e{effort.id} --prompt`"
        text = f"the prompt of effort {effort.id} was shortened to work.prompt_max_tokens; see {see}"
        notices.add(tx, "cut", effort, text)
    _say_prompt(tx, session, prepared.prompt)
    lease_rows.renew(tx.db, effort.id, request.generation, lease_seconds=tx.work.lease_seconds, now=tx.now)
    run_lines.begun(tx, effort)
    stop = budgets.begin(tx, session) or effort.stop_request
    return Attempt(session=session, effort=efforts.reply(replace(effort, stop_request=stop)))


@answers(NotePreparation)
def note_preparation(tx: Transaction, request: NotePreparation) -> Preparation:
    """Record how a worktree is prepared."""
    effort = lookup.effort(tx, request.effort_id)
    if not effort.lease.is_of(request.generation):
        raise leases.lost(effort, request.generation)
    data = {"how": request.how, "command": request.command, "log": request.log}
    tx.record("effort.preparing", task_id=effort.task_id, effort_id=effort.id, data=data)
    return Preparation(effort_id=effort.id)


def _require_free_worktree(tx: Transaction, request: BeginAttempt) -> None:
    if request.worktree is None:
        return
    user = lease_rows.find_worktree_user(tx.db, request.worktree, request.effort_id)
    if user is not None:
        raise WorktreeBusy(
            f"effort {user} uses the worktree {request.worktree}", field="worktree", value=request.worktree
        )


def _open_session(tx: Transaction, effort: Effort, request: BeginAttempt) -> Session:
    """The session that the attempt continues, the one that a spawn left, or a new one behind the effort's last."""
    waiting = session_rows.find_waiting(tx.db, effort.id) if effort.spawn.by else None
    known = waiting or _known(tx, effort, request)
    if known is not None:
        sessions.require_same_task(known.task_id, effort.task_id, "native_id", known.id)
    sessions.take_over(tx, request.agent_id, effort, None, going_on=known)
    scope = {"task_id": effort.task_id, "effort_id": effort.id, "agent_id": request.agent_id}
    if waiting is not None:
        session_rows.name_driver(tx.db, waiting.id, request.driver, request.native_id)
        return _attach(tx, waiting, effort, request)
    if known is not None:
        tx.record("session.resumed", session_id=known.id, **scope)
        return _attach(tx, known, effort, request)
    prev = session_rows.find_last_of_effort(tx.db, effort.id)
    new = NewSession(
        task_id=effort.task_id,
        effort_id=effort.id,
        place=sessions.place_in_tree(prev, None),
        agent_id=request.agent_id,
        window=NativeWindow(driver=request.driver, native_id=request.native_id),
        keeper=_keeper(tx, request),
    )
    session = session_rows.start(tx.db, new, now=tx.now, now_ms=tx.now_ms)
    tx.record("session.started", session_id=session.id, **scope)
    return session


def _attach(tx: Transaction, session: Session, effort: Effort, request: BeginAttempt) -> Session:
    keeper = _keeper(tx, request)
    return session_rows.attach(tx.db, session.id, effort_id=effort.id, agent_id=request.agent_id, keeper=keeper)


def _keeper(tx: Transaction, request: BeginAttempt) -> KeeperLease:
    ends_at_ms = None if request.timeout_seconds is None else tx.now_ms + request.timeout_seconds * 1000
    return KeeperLease(
        instance=request.instance,
        generation=request.generation,
        deadline=None if ends_at_ms is None else to_iso(ends_at_ms),
    )


def _known(tx: Transaction, effort: Effort, request: BeginAttempt) -> Session | None:
    """The session that the request continues, as the effort or the vendor's id names it."""
    if request.continues and effort.retry.continues_session_id is not None:
        return lookup.session(tx, effort.retry.continues_session_id)
    if request.native_id is None:
        return None
    return session_rows.find_native(tx.db, request.driver, request.native_id)


def _say_prompt(tx: Transaction, session: Session, prompt: Prepared) -> None:
    transcript = message_rows.find_transcript(tx.db, session.id)
    if transcript is None:
        raise lookup.no_session(session.id)
    (written,) = messages.write(tx, transcript, [Turn(content=prompt, content_type="dialogue", role="user")])
    tx.record("message.appended", session_id=session.id, data={"message": written.message_id})
