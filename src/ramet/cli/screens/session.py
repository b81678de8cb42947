"""`ramet show s7`: all about one session, on one screen."""

from typing import Any

import click

from ramet.cli.invocation import Invocation
from ramet.cli.output import clean, count, print_fields, print_json, short_path
from ramet.cli.screens.effort_lines import cost, first_line
from ramet.cli.times import ago, duration, seconds_between
from ramet.model.record.session import Session
from ramet.model.spawn.child import TreeRow
from ramet.protocol.hooks.transcripts import ListIngests
from ramet.protocol.record.sessions import GetSession
from ramet.protocol.spawn.trees import ShowTree

_FILES = 5


def show_session(invocation: Invocation, reference: int | str) -> None:
    """What it does, for whom, since when, what it used, and where its words are."""
    session = invocation.ask(GetSession(session_id=reference))
    if invocation.as_json:
        return print_json(session)
    tree = invocation.ask(ShowTree(session_id=session.id))
    transcripts = [row.path for row in invocation.ask(ListIngests(session_id=session.id)).items]
    told = next(row for row in tree.items if row.id == session.id)
    click.echo(clean(f"s{session.id} {session.driver or 'session'}: {_headline(told)}"))
    facts = _facts(invocation, session, told) | {"transcript": _paths(invocation, transcripts)}
    print_fields({name: value for name, value in facts.items() if value})
    name = f"s{session.id}"
    return click.echo(f"\n`ramet session log {name}` has what was said, `ramet history log {name}` its history")


def _headline(row: TreeRow) -> str:
    if row.ended_at is None:
        return f"{row.status.replace('_', ' for a ')}, {ago(row.created_at)} so far"
    took = duration(seconds_between(row.created_at, row.ended_at))
    return f"{row.outcome} after {took}, {ago(row.ended_at)} ago"


def _facts(invocation: Invocation, session: Session, told: TreeRow) -> dict[str, Any]:
    return {
        "asked for": first_line(told.goal),
        "effort": f"e{session.effort_id} {told.skill}",
        "task": short_path(invocation, session.task_id),
        "agent": session.agent_id,
        "program": _program(session),
        "continues": session.prev_session_id and f"s{session.prev_session_id}",
        "below": session.parent_session_id and f"s{session.parent_session_id}",
        "at work": session.tools_in_flight and count(len(session.tools_in_flight), "tool call"),
        "context": session.context_usage is not None and f"{session.context_usage:.0%} full",
        "usage": _usage(told),
        "files": _paths(invocation, session.loaded_files or []),
        "notes": first_line(session.notes),
    }


def _program(session: Session) -> str:
    name = f"{session.driver}:{session.native_id}" if session.native_id else ""
    name = "" if name == session.agent_id else name
    process = f"process {session.pid}" if session.pid and session.ended_at is None else ""
    where = f"on {session.host}" if process and session.host else ""
    return " ".join(filter(None, [name, process, where]))


def _usage(told: TreeRow) -> str:
    below = told.total_tokens - told.tokens
    parts = [
        f"{told.tokens:,} tokens" if told.tokens else None,
        cost({"cost_usd": told.cost_usd}),
        f"and {below:,} tokens below it" if below else None,
    ]
    return ", ".join(filter(None, parts))


def _paths(invocation: Invocation, paths: list[str]) -> str:
    """The newest few of them."""
    shown = [short_path(invocation, path) for path in paths[-_FILES:]]
    more = f" and {count(len(paths) - _FILES, 'other')}" if len(paths) > _FILES else ""
    return ", ".join(shown) + more
