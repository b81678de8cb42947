"""Ownership: an agent holds at most one active effort, and an effort has at most one holder, who keeps it."""

import shlex

from ramet.engine.transaction import Transaction
from ramet.errors import AgentBusy, EffortHeld
from ramet.model.record.agent import Agent
from ramet.store.record import agents, efforts


def enlist(tx: Transaction, agent_id: str) -> Agent:
    """The agent with that id, which is registered if it is new."""
    known = agents.find(tx.db, agent_id)
    if known is not None:
        return known
    tx.record("agent.registered", agent_id=agent_id)
    return agents.register(tx.db, agent_id, None, None)


def acquire(tx: Transaction, agent: Agent, effort_id: int) -> None:
    """Let an agent hold an effort; refused if another agent holds it, or if this one holds another active effort."""
    if agent.effort_id == effort_id:
        return
    holder = agents.find_holder(tx.db, effort_id)
    if holder is not None:
        raise EffortHeld(
            f"effort {effort_id} is held by agent {holder!r}",
            field="effort_id",
            value=effort_id,
            fix=f"wait until {holder!r} finishes it, or run `ramet agent release {shlex.quote(holder)}`",
        )
    if agent.effort_id is not None:
        _refuse_if_busy(tx, agent, agent.effort_id)
    agents.assign(tx.db, agent.id, effort_id)
    tx.record("agent.assigned", agent_id=agent.id, effort_id=effort_id)


def _refuse_if_busy(tx: Transaction, agent: Agent, held: int) -> None:
    effort = efforts.find(tx.db, held)
    if effort is not None and effort.lifecycle != "finished":
        raise AgentBusy(
            f"agent {agent.id!r} holds effort {held}, which is {effort.lifecycle}",
            field="agent_id",
            value=agent.id,
            fix=f"run `ramet effort finish e{held}`, or `ramet agent release {shlex.quote(agent.id)}`",
        )


def release(tx: Transaction, effort_id: int) -> None:
    """Release an effort from its holder."""
    holder = agents.find_holder(tx.db, effort_id)
    if holder is not None:
        agents.assign(tx.db, holder, None)
        tx.record("agent.released", agent_id=holder, effort_id=effort_id)
