"""`ramet agent`: register agents, and assign efforts to them."""

import click

from ramet.cli import references
from ramet.cli.command import Group
from ramet.cli.commands.record.project_scope import everywhere_option, find_scope
from ramet.cli.exchanges import ask_as_written
from ramet.cli.invocation import Invocation
from ramet.cli.output import Columns, say, show_items, show_row
from ramet.model.record.agent import Agent
from ramet.protocol.record.agents import AssignAgent, GetAgent, ListAgents, RegisterAgent

_COLUMNS: Columns[Agent] = {
    "AGENT": lambda row: row.id,
    "LABEL": lambda row: row.label,
    "EFFORT": lambda row: row.effort_id and f"e{row.effort_id}",
    "SKILL": lambda row: row.skill,
    "PHASE": lambda row: row.current_phase,
    "TASK": lambda row: row.task_id,
    "CLAIMS": lambda row: row.claims,
}


@click.group(cls=Group)
def agent() -> None:
    """Register agents, list them, and assign efforts to them. An agent holds at most one active effort."""


@agent.command(examples=["ramet agent register blue", "ramet agent register blue --label 'Blue' --claim review"])
@click.argument("agent_id", metavar="ID")
@click.option("--label", help="A name for people.")
@click.option("--claim", "claims", multiple=True, help="A skill that the agent may take on (repeatable).")
@click.pass_obj
def register(invocation: Invocation, agent_id: str, label: str | None, claims: tuple[str, ...]) -> None:
    """Register an agent, or change its label and claims."""
    reply = invocation.ask(RegisterAgent(id=agent_id, label=label, claims=list(claims) or None))
    say(invocation, reply, f"agent {reply.id}")


@agent.command("list", examples=["ramet agent list", "ramet agent list -A"])
@everywhere_option()
@click.pass_obj
def list_agents(invocation: Invocation, everywhere: bool) -> None:
    """List the agents that hold an effort of this project, and those that hold none."""
    scope = find_scope(invocation, everywhere=everywhere)
    reply = invocation.ask(ListAgents(project=scope.project_id))
    columns = scope.widen_table(_COLUMNS, lambda row: row.project_id)
    show_items(invocation, reply, columns, nothing=scope.say("no agents yet: `ramet agent register ID`"))


@agent.command(examples=["ramet agent show blue"])
@click.argument("agent_id", metavar="ID")
@click.pass_obj
def show(invocation: Invocation, agent_id: str) -> None:
    """Show one agent."""
    show_row(invocation, invocation.ask(GetAgent(id=agent_id)))


@agent.command(examples=["ramet agent assign blue e12"])
@click.argument("agent_id", metavar="ID")
@click.argument("effort", type=references.effort)
@click.pass_obj
def assign(invocation: Invocation, agent_id: str, effort: int) -> None:
    """Assign EFFORT to an agent."""
    reply = invocation.ask(AssignAgent(id=agent_id, effort_id=effort))
    say(invocation, reply, f"agent {agent_id} holds effort e{effort}")


@agent.command(examples=["ramet agent release blue"])
@click.argument("agent_id", metavar="ID")
@click.pass_obj
def release(invocation: Invocation, agent_id: str) -> None:
    """Take an agent's effort away."""
    reply = ask_as_written(invocation, AssignAgent, {"id": agent_id, "effort_id": None})
    say(invocation, reply, f"agent {agent_id} holds no effort")
