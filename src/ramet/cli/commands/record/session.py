"""`ramet session`: the context windows at work, and their transcripts."""

import sys
from typing import Any, get_args

import click

from ramet.cli import callers, references
from ramet.cli.command import Group
from ramet.cli.invocation import Invocation
from ramet.cli.output import Columns, clean, paged, print_json, say, short_path, show_items
from ramet.cli.screens.effort_lines import short_agent
from ramet.cli.screens.session import show_session
from ramet.cli.times import ago, instant
from ramet.model.record.effort import Outcome
from ramet.model.record.message import Role
from ramet.model.record.session import Session
from ramet.protocol.hooks.effort_starts import Resumed, ResumeSession
from ramet.protocol.record.messages import AppendMessage, ListMessages
from ramet.protocol.record.sessions import BindEffort, FindSessions, FinishSession, Heartbeat, StartSession
from ramet.vendors.registry import PREFERRED, names

_COLUMNS: Columns[Session] = {
    "SESSION": lambda row: f"s{row.id}",
    "EFFORT": lambda row: f"e{row.effort_id}",
    "TASK": lambda row: row.task_id,
    "AGENT": lambda row: short_agent(row.agent_id),
    "STATE": lambda row: "open" if row.ended_at is None else row.outcome or "ended",
    "LAST": lambda row: ago(row.last_heartbeat or row.created_at),
    "NATIVE": lambda row: row.native_id and f"{row.driver}:{row.native_id}",
}


@click.group(cls=Group)
def session() -> None:
    """The context windows at work. A session is named s7, 7 or driver:native_id."""


@session.command(examples=["ramet session start login e12", "ramet session start login e12 --agent blue --prev s7"])
@click.argument("task", type=references.path)
@click.argument("effort", type=references.effort)
@click.option("--pid", type=int, help="The agent's process.")
@click.option("--prev", type=references.session, help="The session that it continues.")
@click.option("--parent", type=references.session, help="The session that spawned it.")
@click.option("--agent", help="The agent at work.")
@click.option(
    "--native",
    type=references.native,
    metavar="DRIVER:ID",
    help="The agent program, and its own name for the session.",
)
@click.pass_obj
def start(
    invocation: Invocation,
    task: str,
    effort: int,
    pid: int | None,
    prev: int | str | None,
    parent: int | str | None,
    agent: str | None,
    native: tuple[str, str] | None,
) -> None:
    """Record a context window at work on EFFORT of TASK; the agent's session before it ends."""
    driver, native_id = native or (None, None)
    reply = invocation.ask(
        StartSession(
            task_id=task,
            effort_id=effort,
            pid=pid,
            prev_session_id=prev,
            parent_session_id=parent,
            agent_id=agent,
            driver=driver,
            native_id=native_id,
        )
    )
    how = "goes on" if reply.already else "started"
    say(invocation, reply, f"session s{reply.id} {how} on effort e{reply.effort_id}")


@session.command(
    "list", examples=["ramet session list", "ramet session list --open", "ramet session list --task login"]
)
@click.option("--task", type=references.path, help="Only of this task.")
@click.option("--effort", type=references.effort, help="Only of this effort.")
@click.option("--agent", help="Only of this agent.")
@click.option("--open/--ended", "is_open", default=None, help="Only those that go on, or only those that ended.")
@click.pass_obj
def list_sessions(
    invocation: Invocation, task: str | None, effort: int | None, agent: str | None, is_open: bool | None
) -> None:
    """Sessions, the newest first."""
    reply = invocation.ask(FindSessions(task_id=task, effort_id=effort, agent_id=agent, open=is_open))
    columns: Columns[Session] = {**_COLUMNS, "TASK": lambda row: short_path(invocation, row.task_id)}
    show_items(invocation, reply, columns, nothing="no sessions", cut="NATIVE")


@session.command(examples=["ramet session show s7", f"ramet session show {PREFERRED[0]}:2f1c0c4e"])
@click.argument("reference", metavar="SESSION", type=references.session)
@click.pass_obj
def show(invocation: Invocation, reference: int | str) -> None:
    """All about one session."""
    show_session(invocation, reference)


@session.command(
    examples=["ramet session finish s7", """ramet session finish s7 --handoff '{"next": "write the tests"}'"""]
)
@click.argument("reference", metavar="SESSION", type=references.session)
@click.option(
    "--outcome", type=click.Choice(get_args(Outcome)), default="success", help="How it went; success where not given."
)
@click.option("--handoff", type=references.json_object, metavar="JSON", help="What it passes to the next.")
@click.pass_obj
def finish(invocation: Invocation, reference: int | str, outcome: Outcome, handoff: dict[str, Any] | None) -> None:
    """End the session."""
    reply = invocation.ask(FinishSession(session_id=reference, outcome=outcome, dehydration_payload=handoff))
    how = "had already ended" if reply.already else "has ended"
    say(invocation, reply, f"session s{reply.id} {how}: {reply.outcome}")


@session.command("continue", examples=["ramet session continue s7", "ramet session continue --task login --agent blue"])
@click.argument("reference", metavar="[SESSION]", type=references.session, required=False)
@click.option("--task", type=references.path, help="The last one of this task.")
@click.option("--agent", help="The last one of this agent, who goes on with it.")
@click.option(
    "--native",
    type=references.native,
    metavar="DRIVER:ID",
    help="The agent program, and its own name for the new session.",
)
@click.pass_obj
def go_on(
    invocation: Invocation,
    reference: int | str | None,
    task: str | None,
    agent: str | None,
    native: tuple[str, str] | None,
) -> None:
    """Begin the next context window where SESSION ended: the same effort and phase, and what it left.

    An agent that runs this goes on with it in the window that it has.
    """
    if (reference, task, agent) == (None, None, None):
        raise click.UsageError("Say whose work goes on: SESSION, --task or --agent; `ramet session list` has them.")
    driver, native_id = native or callers.find_window(invocation.environ) or (None, None)
    reply = invocation.ask(
        ResumeSession(
            session_id=reference,
            task_id=task,
            agent_id=agent,
            driver=driver,
            native_id=native_id,
        )
    )
    return show_next(invocation, reply)


def show_next(invocation: Invocation, reply: Resumed) -> None:
    """What the next context window is told; and to a person, how to start the agent that it waits for."""
    if invocation.as_json:
        return print_json(reply)
    click.echo(clean(reply.markdown), nl=False)
    if callers.find_session(invocation.environ) is not None or not sys.stderr.isatty():
        return None
    number, agent = reply.session.id, short_agent(reply.session.agent_id)
    program = agent if agent in names("settings") else PREFERRED[0]
    return click.echo(f"\ns{number} waits for its agent, who is told this: RAMET_SESSION={number} {program}", err=True)


@session.command(examples=["ramet session bind s7 e13"])
@click.argument("reference", metavar="SESSION", type=references.session)
@click.argument("effort", type=references.effort)
@click.pass_obj
def bind(invocation: Invocation, reference: int | str, effort: int) -> None:
    """Let the session go on with another EFFORT of its task."""
    reply = invocation.ask(BindEffort(session_id=reference, effort_id=effort))
    say(invocation, reply, f"session s{reply.id} goes on with effort e{reply.effort_id}")


@session.command(examples=["ramet session heartbeat s7"])
@click.argument("reference", metavar="SESSION", type=references.session)
@click.pass_obj
def heartbeat(invocation: Invocation, reference: int | str) -> None:
    """A sign of life: counts one tool call and notes the time."""
    reply = invocation.ask(Heartbeat(session_id=reference))
    say(invocation, reply, f"session s{reply.id}: heartbeat {reply.heartbeat_counter}")


@session.command(examples=["ramet session log s7", "ramet session log s7 --limit 20 --offset 100"])
@click.argument("reference", metavar="SESSION", type=references.session)
@click.option("--limit", type=int, default=100, show_default=True, help="How many messages.")
@click.option("--offset", type=int, default=0, help="How many to pass over first.")
@click.pass_obj
def log(invocation: Invocation, reference: int | str, limit: int, offset: int) -> None:
    """The session's transcript in order, a page at a time."""
    reply = invocation.ask(ListMessages(session_id=reference, limit=limit, offset=offset))
    if invocation.as_json:
        return print_json(reply)
    with paged(invocation):
        for message in reply.items:
            who = " ".join(part for part in (message.role, message.tool_name) if part)
            click.echo(f"--- {clean(who)}  {instant(message.timestamp)}\n{clean(message.content).rstrip()}\n")
    if not reply.items:
        click.echo("no messages")
    if reply.next is not None:
        click.echo(f"there are more: --offset {reply.next}", err=True)
    return None


@session.command(
    "say", examples=["ramet session say s7 user 'look at the tests first'", "ramet session say s7 tool - < out"]
)
@click.argument("reference", metavar="SESSION", type=references.session)
@click.argument("role", type=click.Choice(get_args(Role)))
@click.argument("text")
@click.option("--tool-name", help="The tool that speaks.")
@click.pass_obj
def say_message(invocation: Invocation, reference: int | str, role: Role, text: str, tool_name: str | None) -> None:
    """Add one turn to the session's transcript; `-` reads TEXT from standard input."""
    content = references.text_or_stdin(text)
    request = AppendMessage(session_id=reference, role=role, content=content, tool_name=tool_name)
    reply = invocation.ask(request)
    say(invocation, reply, f"message {reply.id} in session s{reply.session_id}, commit {reply.commit[:12]}")
