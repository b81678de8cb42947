"""`ramet show s7`: everything about one session, on one screen."""

import os
import shlex
from typing import Any

import click

from ramet.cli.invocation import Invocation
from ramet.cli.output import count, print_fields, print_json, short_path
from ramet.cli.screens.agent_names import agent_name
from ramet.cli.screens.effort_lines import dollars, first_line
from ramet.cli.screens.session_tree import word
from ramet.cli.screens.states import style_of
from ramet.cli.screens.styled_lines import Line, print_lines
from ramet.cli.times import ago, duration, seconds_between
from ramet.model.record.session import Session
from ramet.model.spawn.child import TreeRow
from ramet.protocol.hooks.transcripts import ListIngests
from ramet.protocol.record.projects import ListProjects
from ramet.protocol.record.sessions import GetSession
from ramet.protocol.spawn.trees import ShowTree
from ramet.protocol.work.queue import GetWork
from ramet.vendors import registry

_FILES = 5


def show_session(invocation: Invocation, reference: int | str) -> None:
    """What it does, for which effort, since when, what it used, and where its transcript is."""
    session = invocation.ask(GetSession(session_id=reference))
    if invocation.as_json:
        return print_json(session)
    tree = invocation.ask(ShowTree(session_id=session.id))
    transcripts = [row.path for row in invocation.ask(ListIngests(session_id=session.id)).items]
    row = next(row for row in tree.items if row.id == session.id)
    print_lines([_headline(row)], cut=False)
    more = {"transcript": _paths(invocation, transcripts), "resume": _resume_command(invocation, session, row)}
    facts = _facts(invocation, session, row) | more
    print_fields({name: value for name, value in facts.items() if value})
    name = f"s{session.id}"
    return click.echo(f"\n`ramet session log {name}` prints its transcript, `ramet history log {name}` its history")


def _headline(row: TreeRow) -> Line:
    """`builder s7: running for 5m`."""
    name, state = agent_name(row.driver_name, f"s{row.id}", agent=row.agent_id), word(row)
    if row.ended_at is None:
        rest = f", started {ago(row.created_at)} ago"
    else:
        rest = f" after {duration(seconds_between(row.created_at, row.ended_at))}, {ago(row.ended_at)} ago"
    return [(name, "bold"), (": ", ""), (state, style_of(state)), (rest, "")]


def _facts(invocation: Invocation, session: Session, row: TreeRow) -> dict[str, Any]:
    newest = first_line(row.prompt)
    return {
        "name": session.title,
        "now": row.tool,
        "prompt": newest or first_line(row.goal),
        "first prompt": "" if newest in ("", first_line(row.goal)) else first_line(row.goal),
        "effort": f"e{session.effort_id} {row.skill}",
        "task": short_path(invocation, session.task_id),
        "agent": session.agent_id,
        "program": _program(session),
        "model": session.model,
        "continues": session.prev_session_id and f"s{session.prev_session_id}",
        "fork of": session.forked_from_session_id and f"s{session.forked_from_session_id}",
        "parent": session.parent_session_id and f"s{session.parent_session_id}",
        "tool calls": session.tools_in_flight and f"{len(session.tools_in_flight)} running",
        "context": session.context_usage is not None and f"{session.context_usage:.0%} full",
        "usage": _usage(row),
        "files": _paths(invocation, session.loaded_files or []),
        "notes": first_line(session.notes),
    }


def _program(session: Session) -> str:
    name = f"{session.driver}:{session.native_id}" if session.native_id else ""
    name = "" if name == session.agent_id else name
    process = f"process {session.pid}" if session.pid and session.ended_at is None else ""
    where = f"on {session.host}" if process and session.host else ""
    return " ".join(filter(None, [name, process, where]))


def _resume_command(invocation: Invocation, session: Session, row: TreeRow) -> str:
    """What opens the session again in its own program; empty if that cannot, or if its folder is gone."""
    facts = registry.facts().get(session.driver or "")
    if facts is None or not facts.resume_arguments or session.native_id is None:
        return ""
    directory = _directory(invocation, session, row)
    if not os.path.isdir(directory):  # noqa: PTH112  pathlib would cost every command its import
        return ""
    again = shlex.join([session.driver or "", *facts.resume_arguments, session.native_id])
    return f"cd {shlex.quote(directory)} && {again}"


def _directory(invocation: Invocation, session: Session, row: TreeRow) -> str:
    """Where its agent works or worked: the effort's own directory or worktree, else the project."""
    effort = invocation.ask(GetWork(effort_id=session.effort_id))
    projects = {each.id: each for each in invocation.ask(ListProjects()).items}
    project = projects.get(row.project_id or 0)
    place = "" if project is None else project.hosts.get(session.host or "", project.path)
    return effort.workspace or effort.worktree or place


def _usage(row: TreeRow) -> str:
    below = row.total_tokens - row.tokens
    parts = [
        f"{row.tokens:,} tokens" if row.tokens else None,
        dollars(row.cost_usd, is_estimated=row.is_cost_estimated),
        f"and {below:,} tokens below it" if below else None,
    ]
    return ", ".join(filter(None, parts))


def _paths(invocation: Invocation, paths: list[str]) -> str:
    """The newest few of them."""
    shown = [short_path(invocation, path) for path in paths[-_FILES:]]
    more = f" and {count(len(paths) - _FILES, 'other')}" if len(paths) > _FILES else ""
    return ", ".join(shown) + more
