"""Who an agent is and what it does now, said the same way in every screen.

An agent's name is its driver, then the reference that commands take: `builder e104` for an agent that runs an effort of
the queue, `critic s55` for one that a person started. The driver is the name that the user configured: a driver or a
profile.
"""

import re

from ramet.cli.invocation import Invocation
from ramet.cli.output import clean, short_path
from ramet.cli.screens.effort_lines import first_line, short_agent
from ramet.cli.screens.styled_lines import Line, is_unicode, plain
from ramet.model.record.agent import FleetMember
from ramet.model.spawn.child import TreeRow

_WORKER = re.compile(r"\S+\.[0-9a-f]{4,}/\d+")
"""A slot of a daemon's workers: the agents of the queue are registered under it, and people have no use for it."""


def agent_name(driver: str | None, reference: str, *, agent: str | None = None) -> str:
    """`builder e104`. If no driver is known, the name that the agent was registered with; if none either, `e104`."""
    registered = short_agent(agent)
    if registered is not None and _WORKER.fullmatch(registered):
        registered = None
    return clean(f"{driver or registered or ''} {reference}".strip())


def effort_agent(driver: str | None, effort_id: int) -> str:
    """The name of the agent that runs, ran or will run an effort of the queue."""
    return agent_name(driver, f"e{effort_id}")


def member_name(row: FleetMember) -> str:
    """The name of an agent of the fleet."""
    is_named_after_effort = row.is_queued or row.session_id is None
    reference = f"e{row.effort_id}" if is_named_after_effort else f"s{row.session_id}"
    return agent_name(row.driver_name, reference, agent=row.agent)


def session_name(row: TreeRow, *, is_newest: bool) -> str:
    """The name of the agent behind a session. An effort's name belongs to its newest session (`is_newest`): sessions
    before that one, and those of a program's own sub-agents, go by their own numbers.
    """
    reference = f"e{row.effort_id}" if row.is_queued and is_newest else f"s{row.id}"
    return agent_name(row.driver_name, reference, agent=row.agent_id)


def doing(tool: str | None, prompt: str | None) -> Line:
    """What an agent does now: its newest tool call, then its newest prompt; `Bash: make test · Fix the cart`."""
    asked = first_line(prompt)
    if not tool:
        return plain(asked)
    joint = " · " if is_unicode() else " - "
    return [(first_line(tool), ""), (f"{joint}{asked}" if asked else "", "dim")]


def project_place(invocation: Invocation, task_id: str) -> str:
    """Where an agent works, as people write it: the project, or a task of its own in it; never `.ramet/tasks/…`."""
    return short_path(invocation, task_id.partition("/.ramet/")[0])
