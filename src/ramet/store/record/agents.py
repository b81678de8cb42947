"""What is remembered of agents and what they hold."""

from ramet.model.record.agent import Agent, FleetMember
from ramet.protocol.record.agents import Counts
from ramet.store.database.connection import Connection, to_json
from ramet.store.database.queries import QueryFile

_sql = QueryFile("record/agents")


def register(db: Connection, agent_id: str, label: str | None, claims: list[str] | None) -> Agent:
    """Register an agent, or change what is given."""
    db.run(_sql.register, id=agent_id, label=label, claims=to_json(claims))
    return db.must_struct(Agent, _sql.by_id, id=agent_id)


def find(db: Connection, agent_id: str) -> Agent | None:
    """An agent by its id."""
    return db.struct(Agent, _sql.by_id, id=agent_id)


def list_all(db: Connection, project_id: int | None) -> list[Agent]:
    """Every agent, or none that holds an effort of another project."""
    return db.structs(Agent, _sql.everything, project_id=project_id)


def find_holder(db: Connection, effort_id: int) -> str | None:
    """Who holds an effort."""
    row = db.one(_sql.holder, effort_id=effort_id)
    return None if row is None else str(row[0])


def assign(db: Connection, agent_id: str, effort_id: int | None) -> None:
    """Give an agent an effort, or none."""
    db.run(_sql.assign, id=agent_id, effort_id=effort_id)


def count(db: Connection) -> Counts:
    """How much there is of everything."""
    return db.must_struct(Counts, _sql.counts)


def list_fleet(db: Connection, project_id: int | None, now: str) -> list[FleetMember]:
    """Who is doing what, everywhere or in a project."""
    return db.structs(FleetMember, _sql.fleet, project_id=project_id, now=now)
