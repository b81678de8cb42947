"""`ramet session`: the context windows of agents, and their transcripts."""

import sys
from collections.abc import Iterator
from itertools import islice
from typing import Any, get_args

import click

from ramet.cli import callers, references
from ramet.cli.command import Group
from ramet.cli.commands.record.project_scope import Scope, everywhere_option, find_scope
from ramet.cli.invocation import Invocation
from ramet.cli.output import clean, count, paged, print_json, say, short_path
from ramet.cli.screens.agent_names import agent_name
from ramet.cli.screens.effort_lines import short_agent
from ramet.cli.screens.session import show_session
from ramet.cli.screens.states import style_of
from ramet.cli.screens.styled_lines import Column, draw_table, plain, print_lines, terminal_width
from ramet.cli.times import ago, instant
from ramet.model.record.effort import Outcome
from ramet.model.record.message import Message, Role
from ramet.model.record.session import Session
from ramet.protocol.hooks.effort_starts import Resumed, ResumeSession
from ramet.protocol.memory.archives import ArchiveSession
from ramet.protocol.pages import follow
from ramet.protocol.record.messages import AppendMessage, ListMessages, MessagePage
from ramet.protocol.record.sessions import (
    BindEffort,
    FindSessions,
    FinishSession,
    Heartbeat,
    ListedSession,
    StartSession,
)
from ramet.vendors.registry import PREFERRED, names

_SHOWN_MESSAGES = 100
_PAGE = 1000


def _word(row: Session) -> str:
    if row.purged_at is not None:
        return "purged"
    word = "open" if row.ended_at is None else row.outcome or "ended"
    return f"{word} (archived)" if row.archived_at else word


def _columns(invocation: Invocation) -> list[Column[ListedSession]]:
    return [
        Column("AGENT", lambda row: [(agent_name(row.driver, f"s{row.id}", agent=row.agent_id), "bold")]),
        Column("STATE", lambda row: [(_word(row), style_of(_word(row).split()[0]))]),
        Column("LAST", lambda row: plain(ago(row.last_heartbeat or row.created_at)), is_number=True),
        Column("EFFORT", lambda row: plain(f"e{row.effort_id}")),
        Column("NATIVE", lambda row: plain(row.native_id and f"{row.driver}:{row.native_id}"), is_extra=True),
        Column("TASK", lambda row: plain(short_path(invocation, row.task_id))),
    ]


@click.group(cls=Group)
def session() -> None:
    """List, show and record sessions: the context windows of agents. Name one as s7, 7 or driver:native_id."""


@session.command(examples=["ramet session start login e12", "ramet session start login e12 --agent blue --prev s7"])
@click.argument("task", type=references.path)
@click.argument("effort", type=references.effort)
@click.option("--pid", type=int, help="The process ID of the agent.")
@click.option("--prev", type=references.session, help="The session that this one continues.")
@click.option("--parent", type=references.session, help="The session that spawned this one.")
@click.option("--agent", help="The agent that works in this session.")
@click.option(
    "--native",
    type=references.native,
    metavar="DRIVER:ID",
    help="The agent program, and its own ID for the session.",
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
    """Record a new session for EFFORT of TASK. The agent's previous session ends."""
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
    how = "continues" if reply.already else "started"
    say(invocation, reply, f"session s{reply.id} {how} on effort e{reply.effort_id}")


@session.command(
    "list", examples=["ramet session list", "ramet session list --open", "ramet session list --task login"]
)
@everywhere_option()
@click.option("--task", type=references.path, help="List only sessions of this task.")
@click.option("--effort", type=references.effort, help="List only sessions of this effort.")
@click.option("--agent", help="List only sessions of this agent.")
@click.option("--open/--ended", "is_open", default=None, help="List only open, or only ended sessions.")
@click.option("--archived", is_flag=True, help="List archived sessions too.")
@click.pass_obj
def list_sessions(
    invocation: Invocation,
    *,
    everywhere: bool,
    task: str | None,
    effort: int | None,
    agent: str | None,
    is_open: bool | None,
    archived: bool,
) -> None:
    """List the sessions of this project, newest first."""
    is_named = task is not None or effort is not None
    scope = Scope.named() if is_named else find_scope(invocation, everywhere=everywhere)
    reply = invocation.ask(
        FindSessions(
            task_id=task, effort_id=effort, agent_id=agent, open=is_open, project=scope.project_id, archived=archived
        )
    )
    if invocation.as_json:
        return print_json(reply)
    if not reply.items:
        return click.echo(scope.say("no sessions"))
    columns = scope.widen(_columns(invocation), lambda row: row.project_id)
    with paged(invocation):
        return print_lines(draw_table(columns, reply.items, terminal_width()), cut=True)


@session.command(examples=["ramet session show s7", f"ramet session show {PREFERRED[0]}:2f1c0c4e"])
@click.argument("reference", metavar="SESSION", type=references.session)
@click.pass_obj
def show(invocation: Invocation, reference: int | str) -> None:
    """Show one session."""
    show_session(invocation, reference)


@session.command(
    examples=["ramet session finish s7", """ramet session finish s7 --handoff '{"next": "write the tests"}'"""]
)
@click.argument("reference", metavar="SESSION", type=references.session)
@click.option(
    "--outcome",
    type=click.Choice(get_args(Outcome)),
    default="success",
    help="The outcome to record (default: success).",
)
@click.option("--handoff", type=references.json_object, metavar="JSON", help="Facts for the next session, as JSON.")
@click.pass_obj
def finish(invocation: Invocation, reference: int | str, outcome: Outcome, handoff: dict[str, Any] | None) -> None:
    """Mark a session as ended."""
    reply = invocation.ask(FinishSession(session_id=reference, outcome=outcome, dehydration_payload=handoff))
    how = "had already ended" if reply.already else "has ended"
    say(invocation, reply, f"session s{reply.id} {how}: {reply.outcome}")


@session.command("continue", examples=["ramet session continue s7", "ramet session continue --task login --agent blue"])
@click.argument("reference", metavar="[SESSION]", type=references.session, required=False)
@click.option("--task", type=references.path, help="Continue the last session of this task.")
@click.option("--agent", help="Continue the last session of this agent.")
@click.option(
    "--native",
    type=references.native,
    metavar="DRIVER:ID",
    help="The agent program, and its own ID for the new session.",
)
@click.pass_obj
def go_on(
    invocation: Invocation,
    reference: int | str | None,
    task: str | None,
    agent: str | None,
    native: tuple[str, str] | None,
) -> None:
    """Start a session that continues SESSION. It has the same effort and phase, and receives the handoff.

    If an agent runs this command, it continues the work in its own context window.
    """
    if (reference, task, agent) == (None, None, None):
        raise click.UsageError("give SESSION, --task or --agent; `ramet session list` lists sessions.")
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
    """Print the text for the next context window; on a terminal, also the command that starts its agent."""
    if invocation.as_json:
        return print_json(reply)
    click.echo(clean(reply.markdown), nl=False)
    if callers.find_session(invocation.environ) is not None or not sys.stderr.isatty():
        return None
    number, agent = reply.session.id, short_agent(reply.session.agent_id)
    program = agent if agent in names("settings") else PREFERRED[0]
    return click.echo(f"\ns{number} has no agent yet. Start it with: RAMET_SESSION={number} {program}", err=True)


@session.command(examples=["ramet session bind s7 e13"])
@click.argument("reference", metavar="SESSION", type=references.session)
@click.argument("effort", type=references.effort)
@click.pass_obj
def bind(invocation: Invocation, reference: int | str, effort: int) -> None:
    """Move a session to another EFFORT of its task."""
    reply = invocation.ask(BindEffort(session_id=reference, effort_id=effort))
    say(invocation, reply, f"session s{reply.id} now works on effort e{reply.effort_id}")


@session.command(examples=["ramet session archive s7"])
@click.argument("reference", metavar="SESSION", type=references.session)
@click.pass_obj
def archive(invocation: Invocation, reference: int | str) -> None:
    """Hide a session from lists. It can still be shown, and retention never removes its texts."""
    reply = invocation.ask(ArchiveSession(session_id=reference))
    say(invocation, reply, f"session s{reply.id} " + ("was archived before" if reply.already else "is archived"))


@session.command(examples=["ramet session unarchive s7"])
@click.argument("reference", metavar="SESSION", type=references.session)
@click.pass_obj
def unarchive(invocation: Invocation, reference: int | str) -> None:
    """List an archived session again."""
    reply = invocation.ask(ArchiveSession(session_id=reference, archived=False))
    say(invocation, reply, f"session s{reply.id} " + ("was not archived" if reply.already else "is listed again"))


@session.command(examples=["ramet session purge s7", "ramet session purge s7 --reason 'customer data' --yes"])
@click.argument("reference", metavar="SESSION", type=references.session)
@click.option("--reason", default="", metavar="TEXT", help="Why, for the tombstones.")
@click.option("--yes", is_flag=True, help="Do not ask for confirmation.")
@click.pass_obj
def purge(invocation: Invocation, reference: int | str, reason: str, yes: bool) -> None:
    """Remove the texts of an ended session and of the sessions below it. This cannot be undone.

    Hashes, sizes, times and usage stay, and a tombstone says who removed the texts, when and why. Texts that another
    session shows too stay for it.
    """
    from ramet.cli.commands.record.purge import purge_session  # noqa: PLC0415

    purge_session(invocation, reference, reason, yes=yes)


@session.command(examples=["ramet session heartbeat s7"])
@click.argument("reference", metavar="SESSION", type=references.session)
@click.pass_obj
def heartbeat(invocation: Invocation, reference: int | str) -> None:
    """Record a heartbeat: count one tool call and store the time."""
    reply = invocation.ask(Heartbeat(session_id=reference))
    say(invocation, reply, f"session s{reply.id}: heartbeat {reply.heartbeat_counter}")


@session.command(
    examples=[
        "ramet session log s7",
        "ramet session log s7 --tail 20",
        "ramet session log s7 --all > s7.txt",
        "ramet session log s7 --offset 100 --limit 20 --json",
    ]
)
@click.argument("reference", metavar="SESSION", type=references.session)
@click.option(
    "--tail", type=click.IntRange(min=1), metavar="N", help=f"Show the last N messages (default: {_SHOWN_MESSAGES})."
)
@click.option("--all", "everything", is_flag=True, help="Show every message.")
@click.option("--offset", type=click.IntRange(min=0), metavar="N", help="Show a page that starts after N messages.")
@click.option("--limit", type=click.IntRange(min=1), metavar="N", help="Messages per page (default: 100).")
@click.pass_obj
def log(
    invocation: Invocation,
    reference: int | str,
    *,
    tail: int | None,
    everything: bool,
    offset: int | None,
    limit: int | None,
) -> None:
    """Show a session's transcript, oldest message first.

    With --json, print one page from the start unless --tail or --all is given; `next` is the --offset of the next page.
    """
    is_page = offset is not None or limit is not None
    if (tail is not None) + everything + is_page > 1:
        raise click.UsageError("give only one of --tail, --all, and a page with --offset or --limit.")
    if everything and not invocation.as_json:
        return _show_all_messages(invocation, reference)
    if everything:
        page = MessagePage(items=list(_messages(invocation, reference)), earlier=0)
    elif is_page or (invocation.as_json and tail is None):
        page = invocation.ask(ListMessages(session_id=reference, offset=offset or 0, limit=limit or _SHOWN_MESSAGES))
    else:
        page = _read_tail(invocation, reference, tail or _SHOWN_MESSAGES)
    return _show_messages(invocation, page)


def _read_tail(invocation: Invocation, reference: int | str, number: int) -> MessagePage:
    """The last messages. If they are more than one page holds, the rest is read forward from its start."""
    last = invocation.ask(ListMessages(session_id=reference, newest=True, limit=number))
    start = max(last.earlier - (number - len(last.items)), 0)
    before = islice(_messages(invocation, reference, offset=start), last.earlier - start)
    return MessagePage(items=[*before, *last.items], earlier=start)


def _messages(invocation: Invocation, reference: int | str, offset: int = 0) -> Iterator[Message]:
    """The messages from a place on, page after page."""
    for page in follow(invocation.ask, ListMessages(session_id=reference, offset=offset, limit=_PAGE)):
        yield from page.items


def _show_all_messages(invocation: Invocation, reference: int | str) -> None:
    """Every message, printed when it is there: a transcript may be very long."""
    has_any = False
    with paged(invocation):
        for message in _messages(invocation, reference):
            has_any = True
            _print_message(message)
    if not has_any:
        click.echo("no messages")


def _print_message(message: Message) -> None:
    who = " ".join(part for part in (message.role, message.tool_name) if part)
    click.echo(f"--- {clean(who)}  {instant(message.timestamp)}\n{clean(message.content).rstrip()}\n")


def _show_messages(invocation: Invocation, page: MessagePage) -> None:
    if invocation.as_json:
        return print_json(page)
    with paged(invocation):
        for message in page.items:
            _print_message(message)
    if page.earlier:
        click.echo(f"{count(page.earlier, 'earlier message')} not shown; --all shows every message", err=True)
    if not page.items:
        click.echo("no messages")
    if page.next is not None:
        click.echo(f"more messages follow: --offset {page.next}", err=True)
    return None


@session.command(
    "say", examples=["ramet session say s7 user 'run the tests first'", "ramet session say s7 tool - < out"]
)
@click.argument("reference", metavar="SESSION", type=references.session)
@click.argument("role", type=click.Choice(get_args(Role)))
@click.argument("text")
@click.option("--tool-name", help="The tool whose output TEXT is.")
@click.pass_obj
def say_message(invocation: Invocation, reference: int | str, role: Role, text: str, tool_name: str | None) -> None:
    """Add one message to a session's transcript. With `-`, read TEXT from standard input."""
    content = references.text_or_stdin(text)
    request = AppendMessage(session_id=reference, role=role, content=content, tool_name=tool_name)
    reply = invocation.ask(request)
    say(invocation, reply, f"message {reply.id} in session s{reply.session_id}, commit {reply.commit[:12]}")
