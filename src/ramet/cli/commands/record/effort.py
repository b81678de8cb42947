"""`ramet effort`: skills applied to tasks, phase by phase."""

from typing import Any, get_args

import click

from ramet.cli import callers, references
from ramet.cli.command import Group
from ramet.cli.invocation import Invocation
from ramet.cli.output import Columns, clean, print_json, print_table, say, show_items
from ramet.cli.screens.effort import show_effort
from ramet.cli.times import ago
from ramet.model.hooks.artifact import REQUEST_FILES
from ramet.model.record.effort import Outcome
from ramet.protocol.hooks.effort_starts import OpenEffort
from ramet.protocol.record.efforts import (
    EffortReply,
    EnterPhase,
    FinishEffort,
    ListEfforts,
    ValidateEffort,
)

_COLUMNS: Columns[EffortReply] = {
    "EFFORT": lambda row: f"e{row.id}",
    "#": lambda row: row.ordinal,
    "SKILL": lambda row: row.skill,
    "STATE": lambda row: row.outcome or row.lifecycle,
    "PHASE": lambda row: row.current_phase,
    "AGE": lambda row: ago(row.created_at),
    "FILES": lambda row: row.artifact_prefix,
}


@click.group(cls=Group)
def effort() -> None:
    """Start, list and finish efforts: skills applied to tasks. Name one as e12 or 12."""


@effort.command(
    examples=[
        "ramet effort start login implement",
        "ramet effort start login plan --session s7",
        "ramet effort start login review --agent blue",
    ]
)
@click.argument("task", type=references.path)
@click.argument("skill")
@click.option("--mode", help="The mode of the skill.")
@click.option("--session", type=references.session, help="The session that continues with the new effort.")
@click.option("--agent", help="The agent that works on it (default: the agent that runs this command).")
@click.option(
    "--native",
    type=references.native,
    metavar="DRIVER:ID",
    help="The agent program, and its own ID for the session.",
)
@click.option(
    "--directory",
    "directories",
    type=references.path,
    multiple=True,
    help="Another directory of the work, whose directives apply (repeatable).",
)
@click.option(
    "--request",
    "requests",
    type=references.path,
    multiple=True,
    help="A request file that the effort responds to (repeatable). `ramet effort validate` checks it.",
)
@click.option(
    "--metadata",
    type=references.json_object,
    metavar="JSON",
    help="Any facts to store with the effort, as a JSON object.",
)
@click.pass_obj
def start(  # noqa: PLR0913  one for each option
    invocation: Invocation,
    *,
    task: str,
    skill: str,
    mode: str | None,
    session: int | str | None,
    agent: str | None,
    native: tuple[str, str] | None,
    directories: tuple[str, ...],
    requests: tuple[str, ...],
    metadata: dict[str, Any] | None,
) -> None:
    """Start an effort: apply SKILL to TASK.

    Creates TASK if it is new, starts a session or continues the caller's, and prints a briefing for the agent: the
    skill, the debriefs of the task's finished efforts, and the directives that apply.
    """
    is_named = session is not None or agent is not None or native is not None
    who = callers.Caller() if is_named else callers.identify(invocation.environ)
    driver, native_id = native or (who.get("driver"), who.get("native_id"))
    opened = invocation.ask(
        OpenEffort(
            task_id=task,
            skill=skill,
            mode=mode,
            metadata={**(metadata or {}), REQUEST_FILES: list(requests)} if requests else metadata,
            directories=list(directories),
            session_id=who.get("session_id", session),
            agent_id=who.get("agent_id", agent),
            driver=driver,
            native_id=native_id,
        )
    )
    return print_json(opened) if invocation.as_json else click.echo(clean(opened.markdown), nl=False)


@effort.command("list", examples=["ramet effort list login"])
@click.argument("task", type=references.path)
@click.pass_obj
def list_efforts(invocation: Invocation, task: str) -> None:
    """List the efforts of TASK in order."""
    reply = invocation.ask(ListEfforts(task_id=task))
    show_items(invocation, reply, _COLUMNS, nothing="no efforts yet: `ramet effort start TASK SKILL`")


@effort.command(
    examples=[
        "ramet effort phase e12 '2: Build'",
        """ramet effort phase e12 3 --proof '{"tests": "12 passed"}'""",
        "ramet effort phase e12 1 --reason 'the plan was wrong'",
    ]
)
@click.argument("effort_id", metavar="EFFORT", type=references.effort)
@click.argument("label")
@click.option(
    "--proof", type=references.json_object, metavar="JSON", help="The proof that the phase asks for, as a JSON object."
)
@click.option("--reason", help="Why phases are skipped or repeated.")
@click.pass_obj
def phase(invocation: Invocation, effort_id: int, label: str, proof: dict[str, Any] | None, reason: str | None) -> None:
    """Enter phase LABEL of the effort's skill."""
    reply = invocation.ask(EnterPhase(effort_id=effort_id, label=label, proof=proof, reason=reason))
    where = "is now in" if reply.recorded else "was already in"
    say(invocation, reply, f"effort e{effort_id} {where} {reply.current_phase}")


@effort.command(examples=["ramet effort finish e12", "ramet effort finish e12 --outcome error"])
@click.argument("effort_id", metavar="EFFORT", type=references.effort)
@click.option(
    "--outcome",
    type=click.Choice(get_args(Outcome)),
    default="success",
    help="The outcome to record (default: success).",
)
@click.option("--keywords", help="Keywords for finding its task, separated by commas.")
@click.pass_obj
def finish(invocation: Invocation, effort_id: int, outcome: Outcome, keywords: str | None) -> None:
    """Finish an effort. Its agent becomes free."""
    reply = invocation.ask(FinishEffort(effort_id=effort_id, outcome=outcome, keywords=keywords))
    how = "was already finished" if reply.already else "is finished"
    say(invocation, reply, f"effort e{effort_id} {how}: {reply.outcome}")


@effort.command(examples=["ramet effort validate e12"])
@click.argument("effort_id", metavar="EFFORT", type=references.effort)
@click.pass_context
def validate(ctx: click.Context, effort_id: int) -> None:
    """Check that an effort's record is complete, and its files, checklists and requests. Exits with 1 if not."""
    invocation: Invocation = ctx.obj
    reply = invocation.ask(ValidateEffort(effort_id=effort_id))
    if invocation.as_json:
        print_json(reply)
    else:
        marked = [["ok" if row.passed else "fail", row.name, row.detail] for row in reply.checks]
        print_table(["RESULT", "CHECK", "DETAIL"], marked)
    if not reply.passed:
        ctx.exit(1)


@effort.command(examples=["ramet effort show e12"])
@click.argument("effort_id", metavar="EFFORT", type=references.effort)
@click.pass_obj
def show(invocation: Invocation, effort_id: int) -> None:
    """Show one effort."""
    show_effort(invocation, effort_id)
