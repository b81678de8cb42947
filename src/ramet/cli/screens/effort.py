"""`ramet show e12`: everything about one effort, on one screen."""

from typing import Any

import click
from msgspec.structs import asdict

from ramet.cli.invocation import Invocation
from ramet.cli.output import clean, count, print_fields, print_json, short_path
from ramet.cli.screens.agent_names import effort_agent
from ramet.cli.screens.commit_lines import short
from ramet.cli.screens.effort_lines import (
    base_of,
    changed,
    first_line,
    refused_line,
    state,
    used,
    waits_for,
)
from ramet.cli.screens.states import style_of
from ramet.cli.screens.styled_lines import Line, print_lines
from ramet.cli.times import ago, duration, seconds_between, until
from ramet.config.host import find_host
from ramet.model.notice import Notice
from ramet.model.record.session import Session
from ramet.protocol.record.agents import FleetStatus
from ramet.protocol.record.efforts import GetEffort
from ramet.protocol.record.sessions import FindSessions
from ramet.protocol.system.notices import ListNotices
from ramet.protocol.work.queue import GetWork, WorkReply

_OUTPUT_LINES = 12
_FILES = 10


def show_effort(invocation: Invocation, effort_id: int) -> None:
    """Its state, what it waits for, what it changed, used and printed, its sessions and its notices."""
    detail = invocation.ask(GetEffort(effort_id=effort_id))
    work = invocation.ask(GetWork(effort_id=effort_id))
    sessions = invocation.ask(FindSessions(effort_id=effort_id)).items
    notices = [row for row in invocation.ask(ListNotices(all=True)).items if row.effort_id == effort_id]
    if invocation.as_json:
        return print_json({**asdict(detail), **asdict(work), "sessions": sessions, "notices": notices})
    print_lines([_headline(work)], cut=False)
    facts = {"now": _tool(invocation, work), **_facts(invocation, work, detail.holder)}
    print_fields({name: value for name, value in facts.items() if value})
    _show_list("sessions", [_session_line(row) for row in sessions])
    _show_list(f"refused calls: {detail.refused}", [refused_line(effort_id, each) for each in detail.refused_calls])
    _show_list("notices", [[(_notice_text(row), "")] for row in notices])
    return _show_output(work)


def _headline(row: WorkReply) -> Line:
    """`builder e12: error, finished 3m ago`."""
    word = state(row)
    since = f"finished {ago(row.finished_at)}" if row.finished_at else f"added {ago(row.created_at)}"
    return [(effort_agent(row.driver, row.id), "bold"), (": ", ""), (word, style_of(word)), (f", {since} ago", "")]


def _tool(invocation: Invocation, row: WorkReply) -> str | None:
    """The newest tool call of the agent that runs it. Agents do not see the fleet."""
    if row.lifecycle != "active" or invocation.is_agents:
        return None
    return next((each.tool for each in invocation.ask(FleetStatus()).items if each.effort_id == row.id), None)


def _facts(invocation: Invocation, row: WorkReply, holder: str | None) -> dict[str, Any]:
    return {
        "prompt": _prompt(row.prompt),
        "skill": row.skill,
        "task": short_path(invocation, row.task_id),
        "phase": row.current_phase,
        "waits for": waits_for(row),
        "result" if row.outcome == "success" else "reason": _reason(row),
        "stopping": row.stop_request and (row.stop_request.reason or row.stop_request.outcome),
        "driver": " ".join(filter(None, [row.driver, row.model])),
        "attempts": row.attempts and _attempts(row),
        "lease": _lease(row),
        "holder": holder if holder != row.lease_owner else None,
        "retry of": row.retry_of and f"e{row.retry_of}",
        "based on": row.based_on and f"e{row.based_on}",
        "depends on": ", ".join(f"e{effort_id}" for effort_id in row.depends_on or ()),
        "base": base_of(row),
        "worktree": row.worktree and short_path(invocation, row.worktree) + _elsewhere(invocation, row),
        "branch": _branch(row) + (_elsewhere(invocation, row) if row.git_branch else ""),
        "changes": _changes(row),
        "usage": ", ".join(used(row.usage)),
        "report": row.report_file,
    }


def _reason(row: WorkReply) -> str:
    return " ".join(filter(None, [row.reason, row.failure and f"({row.failure})"]))


def _prompt(prompt: str | None) -> str:
    more = len((prompt or "").strip().splitlines()) - 1
    return first_line(prompt) + (f" (and {count(more, 'line')} more)" if more > 0 else "")


def _attempts(row: WorkReply) -> str:
    failures = {"failed": row.agent_failures, "failed, not because of the agent": row.host_failures}
    return "; ".join([f"{row.attempts}", *(f"{number} {how}" for how, number in failures.items() if number)])


def _lease(row: WorkReply) -> str | None:
    if not row.lease_owner or row.lease_expires_at is None:
        return None
    return f"{row.lease_owner}, generation {row.lease_generation}, for another {until(row.lease_expires_at)}"


def _branch(row: WorkReply) -> str:
    ends = dict.fromkeys(short(commit) for commit in (row.git_base, row.git_head) if commit)
    return " ".join(filter(None, [row.git_branch, "..".join(ends)]))


def _elsewhere(invocation: Invocation, row: WorkReply) -> str:
    """` on north`, if another host made the branch."""
    return f" on {row.git_host}" if row.git_host not in (None, find_host(invocation.configuration.settings)) else ""


def _changes(row: WorkReply) -> str | None:
    sums = changed(row)
    if sums is None or row.changes is None:
        return None
    files = row.changes.files
    more = [f"and {len(files) - _FILES} more"] if len(files) > _FILES else []
    return f"{sums}: {', '.join([*files[:_FILES], *more])}"


def _session_line(row: Session) -> Line:
    status = "open" if row.ended_at is None else row.outcome or "ended"
    took = seconds_between(row.created_at, row.ended_at) if row.ended_at else None
    native = f"{row.driver}:{row.native_id}" if row.native_id else row.driver
    facts = [None if took is None else duration(took), native, row.notes or _exit(row)]
    rest = " ".join("".join(f", {fact}" for fact in facts if fact).split())
    return [(f"s{row.id} ", ""), (status, style_of(status)), (rest, "")]


def _exit(row: Session) -> str | None:
    """How its process ended, if that says more than the outcome."""
    if row.exit_signal:
        return f"signal {row.exit_signal}"
    return f"exit status {row.exit_status}" if row.exit_status else None


def _notice_text(row: Notice) -> str:
    return " ".join(f"{row.id} {row.text}".split()) + (" (dismissed)" if row.dismissed_at else "")


def _show_list(name: str, lines: list[Line]) -> None:
    if lines:
        click.echo(f"\n{name}")
    print_lines([[("  ", ""), *line] for line in lines], cut=False)


def _show_output(row: WorkReply) -> None:
    if row.output_content is None:
        return
    lines = clean(row.output_content).strip().splitlines()
    click.echo("\noutput")
    for line in lines[:_OUTPUT_LINES]:
        click.echo(f"  {line}".rstrip())
    if len(lines) > _OUTPUT_LINES:
        more = count(len(lines) - _OUTPUT_LINES, "line")
        click.echo(f"  … {more} more: `ramet show e{row.id} --output`")
