"""What an ended attempt comes to: what git says that it changed, what it reported, and the outcome to record.

Facts that can be derived are derived: commits and changed files come from git, the exit from the process. Only the
answer itself is the agent's word.
"""

from collections.abc import Iterator, Sequence
from contextlib import suppress

from msgspec.structs import replace

from ramet.errors import GitFailed, RametError, WorktreeError
from ramet.model.instant import from_datetime
from ramet.model.record.effort import Effort
from ramet.model.record.prompt import report_file_of
from ramet.model.record.session import Session
from ramet.model.redaction import Redactor
from ramet.model.work.no_change import NO_FILES, NO_REPORT
from ramet.model.work.remark import add_to_report, find_remarks
from ramet.model.work.stream import (
    End,
    Limit,
    NativeId,
    Reasoning,
    Text,
    ToolCall,
)
from ramet.protocol.record.efforts import nest
from ramet.protocol.record.sessions import GetSession
from ramet.protocol.work.attempts import WorkChain
from ramet.protocol.work.keepers import Spooled
from ramet.protocol.work.leases import CompleteWork
from ramet.protocol.work.queue import GetWork
from ramet.runner.context import RunnerContext
from ramet.runner.memory import made_commits, shell_edits
from ramet.runner.processes import keepers
from ramet.runner.settlement import reports
from ramet.workspace.worktrees import worktree
from ramet.workspace.worktrees.worktree import Finished

_BATCH = 200
_TITLE_LENGTH = 60


def conclude(runner: RunnerContext, effort_id: int, generation: int, session_id: int, instance: str) -> CompleteWork:
    """The report of an attempt whose session has ended."""
    effort = nest(runner.machine.ask(GetWork(effort_id=effort_id)))
    session: Session = runner.machine.ask(GetSession(session_id=session_id))
    spooled = keepers.read_spool(runner.places.keepers, instance)
    end = find_end(spooled) or _recorded_end(session)
    project = runner.machine.ask(WorkChain(effort_id=effort_id, host=runner.host)).project_path
    finished, trouble = _finish(runner, effort, project)
    _record_edits(runner, effort, session, project, finished)
    output, report_file = _output(runner, effort, project, end, finished)
    return CompleteWork(
        effort_id=effort_id,
        generation=generation,
        outcome=end.outcome,
        failure=end.failure,
        reason="; ".join(filter(None, (end.reason, trouble))) or _why_nothing_came(effort, finished, output),
        output_content=output,
        report_file=report_file,
        retry_at=next((line.event.resets_at for line in reversed(spooled) if isinstance(line.event, Limit)), None),
        is_fresh=not _said_anything(spooled),
        has_begun=any(isinstance(line.event, NativeId) for line in spooled),
        git_head=finished.head if finished else None,
        changes=finished.changes if finished else None,
    )


def find_end(spooled: Sequence[Spooled]) -> End | None:
    """How the attempt ended, as its keeper saw it."""
    last = spooled[-1].event if spooled else None
    return last if isinstance(last, End) else None


def _recorded_end(session: Session) -> End:
    """What the database has of it, if the keeper's folder is gone or its disk was full."""
    outcome = session.outcome or "error"
    return End(outcome=outcome, failure="unknown" if outcome == "error" else None, reason=session.notes)


def batches(spooled: Sequence[Spooled]) -> Iterator[Sequence[Spooled]]:
    """The spool in parts that fit a request."""
    for start in range(0, len(spooled), _BATCH):
        yield spooled[start : start + _BATCH]


def _finish(runner: RunnerContext, effort: Effort, project: str) -> tuple[Finished | None, str | None]:
    """Commit what was left uncommitted and count what changed; or say why that could not be done."""
    git, place = runner.machine.git, effort.place
    if place.worktree is None or place.git_branch is None:
        _take_in(runner, effort, project)
        return None, None
    try:
        finished = worktree.finish(git, project, place.worktree, place.git_branch, place.git_base, _message(effort))
    except (GitFailed, WorktreeError) as error:
        return None, f"its changes could not be read: {error.message}"
    return _without_secrets(finished, runner.machine.redactor_in(project)), finished.note


def _record_edits(
    runner: RunnerContext, effort: Effort, session: Session, project: str, finished: Finished | None
) -> None:
    """Record the commits and commands of the attempt for `ramet why`. Without this record, their lines are unknown:
    that is no reason to lose the attempt.
    """
    branch, base = effort.place.git_branch, effort.place.git_base
    if finished is None or branch is None or base is None:
        return
    with suppress(RametError):
        since_ms = runner.machine.to_own_ms(from_datetime(session.created_at))
        made_commits.record(runner.machine, effort.id, project, branch, base, finished.head, since_ms)
    if session.instance is not None:
        with suppress(RametError):
            shell_edits.record(runner.machine, effort, session, project, runner.places.keepers / session.instance)


def _without_secrets(finished: Finished, redactor: Redactor) -> Finished:
    """The same, without secrets in the names of changed files: the row, a notice and the report have these names."""
    files = [redactor.redact(file).text for file in finished.changes.files]
    return replace(finished, changes=replace(finished.changes, files=files))


def _take_in(runner: RunnerContext, effort: Effort, project: str) -> None:
    """What a child committed in its parent's worktree is its parent's; in a sandbox it committed to a copy."""
    workspace = effort.place.workspace
    if workspace is not None:
        with suppress(GitFailed, WorktreeError, OSError):  # it is still in the copy, and the parent's end takes it in
            worktree.take_in(runner.machine.git, project, runner.places.worktrees, workspace)


def _message(effort: Effort) -> str:
    title = ((effort.prompt or "").strip() or effort.skill).splitlines()[0][:_TITLE_LENGTH]
    return f"{effort.skill}: {title}\n\nRamet-Effort: e{effort.id}\n"


def _output(
    runner: RunnerContext, effort: Effort, project: str, end: End, finished: Finished | None
) -> tuple[str | None, str | None]:
    """The text that outlives the worktree, and the file that people read; both with Ramet's remarks about it."""
    report_file = report_file_of(effort)
    if report_file is None:
        return end.answer, None
    folder, redactor = effort.place.worktree or effort.place.workspace or project, runner.machine.redactor_in(project)
    text = reports.collect(folder, project, report_file, redactor)
    if text is None and end.answer:
        text = redactor.redact(end.answer).text
        reports.publish(project, report_file, text)
    files = finished.changes.files if finished else []
    remarks = find_remarks(effort.skill, files, text) if end.outcome == "success" and text else []
    if text and remarks:
        text = add_to_report(text, remarks)
        reports.publish(project, report_file, text)
    return text, None if text is None else report_file


def _why_nothing_came(effort: Effort, finished: Finished | None, output: str | None) -> str | None:
    """A no-op says so. If the skill changes code, the engine makes an outcome of its own of it."""
    if report_file_of(effort) is not None:
        return None if output else NO_REPORT
    return NO_FILES if finished is not None and not finished.changes.files else None


def _said_anything(spooled: Sequence[Spooled]) -> bool:
    return any(isinstance(line.event, Text | Reasoning | ToolCall) for line in spooled)
