"""Commands: what takes several operations at once, in the one transaction that makes them one."""

from ramet.engine.answers import answers
from ramet.engine.hooks import light_efforts, resume_contracts
from ramet.engine.record import (
    efforts,
    lookup,
    sessions,
    skills,
    tasks,
)
from ramet.engine.transaction import Transaction
from ramet.engine.work import endings
from ramet.model.hooks.worked_commands import describe
from ramet.model.record.effort import Effort
from ramet.model.record.phase import parse_phases
from ramet.model.record.session import Session
from ramet.protocol.hooks.effort_starts import BeginEffort, Begun
from ramet.protocol.record.efforts import FinishEffort, StartEffort
from ramet.protocol.record.sessions import SessionReply, StartSession
from ramet.protocol.record.tasks import UpsertTask
from ramet.store.hooks import hooks
from ramet.store.record import sessions as session_rows


@answers(BeginEffort)
def begin_effort(tx: Transaction, request: BeginEffort) -> Begun:
    """The skill as its file has it, the task, an effort, and the session that does it."""
    task = tasks.upsert(
        tx,
        UpsertTask(
            dir_path=request.task_id,
            workspace=request.workspace,
            title=request.title,
            description=request.description,
            keywords=request.keywords,
        ),
        "task_id",
    )
    if request.definition is not None:
        skills.register(tx, task.project_id, request.skill, request.definition)
    skill = skills.apply(tx, task.project_id, request.skill)
    going_on = _find_session(tx, request)
    effort = efforts.begin(
        tx, StartEffort(task_id=task.dir_path, skill=skill.name, mode=request.mode, metadata=request.metadata)
    )
    session = _start_session(tx, request, effort) if going_on is None else sessions.reply(turn_to(tx, going_on, effort))
    hooks.set_discovered(tx.db, effort.id, request.directories, request.directives)
    return Begun(
        effort=efforts.reply(lookup.effort(tx, effort.id)),
        session=session,
        phases=[phase.label for phase in parse_phases(skill.phases)],
        next_skills=skill.next_skills or [],
        commands=describe(resume_contracts.worked_before(tx, effort)),
        topic="\n".join(text for text in (task.title, task.description, task.keywords) if text),
    )


def _find_session(tx: Transaction, request: BeginEffort) -> Session | None:
    """The session that goes on: the one named, or the one that the vendor's own id names."""
    if request.session_id is not None:
        return lookup.open_session(tx, request.session_id)
    if request.driver is None or request.native_id is None:
        return None
    known = session_rows.find_native(tx.db, request.driver, request.native_id)
    return known if known is not None and known.ended_at is None else None


def turn_to(tx: Transaction, session: Session, effort: Effort) -> Session:
    """Let an open session go on with an effort. One that was on a light effort may come from another task, and is all
    that this was there for.
    """
    before = lookup.effort(tx, session.effort_id)
    if not light_efforts.is_adhoc(before) or before.id == effort.id:
        return sessions.bind(tx, session, effort)
    endings.finish(tx, FinishEffort(effort_id=before.id))
    return sessions.move(tx, session, effort)


def _start_session(tx: Transaction, request: BeginEffort, effort: Effort) -> SessionReply:
    return sessions.start(
        tx,
        StartSession(
            task_id=effort.task_id,
            effort_id=effort.id,
            agent_id=request.agent_id,
            driver=request.driver,
            native_id=request.native_id,
            pid=request.pid,
        ),
    )
