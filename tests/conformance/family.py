"""What tests of spawning have in common: a parent at work, children of it, an agent that asks for its own session."""

from typing import Any

from tests.conformance import queue_worker
from tests.world import World

from ramet.config.settings import DriverSettings, ProfileSettings, SpawnSettings, WorkSettings
from ramet.engine import Engine
from ramet.engine.transaction import Rules
from ramet.model.principal import of_session
from ramet.model.redaction import Redactor
from ramet.store.database.blobs import Codec
from ramet.vendors import selection


def bound(
    world: World, work: WorkSettings | None = None, profiles: dict[str, ProfileSettings] | None = None, **spawn: Any
) -> None:
    """Let the configuration say otherwise from here on."""
    known = selection.confinements(DriverSettings(profiles=profiles or {}))
    rules = Rules(work=work or WorkSettings(), spawn=SpawnSettings(**spawn), profiles=known)
    world.engine = Engine(rules, codec=Codec(), redactor=Redactor())


def parent(world: World, worker: str = "host/1", **params: Any) -> Any:
    """An attempt at an effort of the queue: its session may have children."""
    return queue_worker.start(world, worker, **params)


def spawn(world: World, above: Any, goal: str = "look into it", **params: Any) -> Any:
    """A child of an attempt, of a child, or of a session by its id."""
    return world.call("spawn.agent", parent_session_id=session_of(above), goal=goal, **params)


def session_of(above: Any) -> int:
    if isinstance(above, int):
        return above
    return int(above.session.id if hasattr(above, "session") else getattr(above, "child_session_id", None) or above.id)


def as_agent(world: World, above: Any, name: str, **params: Any) -> Any:
    """What an agent asks with its own token."""
    return world.call_as(of_session(session_of(above)), name, **params)


def begin(world: World, child: Any, worker: str = "host/2", **params: Any) -> Any:
    """The attempt at a child, claimed as whoever lends it a slot does."""
    claimed = queue_worker.claim(world, worker, effort_id=child.effort_id)
    return queue_worker.begin(world, claimed, **{"instance": f"keeper{child.effort_id:04d}", **params})


def run(world: World, child: Any, outcome: str = "success", **params: Any) -> Any:
    """A child from claim to outcome; what its parent learns of it."""
    queue_worker.complete(world, begin(world, child, f"runner of {child.effort_id}"), outcome, **params)
    return result(world, child)


def result(world: World, child: Any) -> Any:
    (found,) = world.call("spawn.results", session_ids=[session_of(child)]).results
    return found


def session(world: World, of: Any) -> Any:
    return world.call("db.session.get", session_id=session_of(of))


def effort(world: World, child: Any) -> Any:
    return world.call("work.get", effort_id=child.effort_id)


def history(world: World, of: Any) -> list[tuple[str, str]]:
    """What stands on a session's branch, the oldest first: kinds and how each begins."""
    rows = world.call("history.log", branch=session(world, of).branch, limit=100).items
    return [(row.content_type, row.preview) for row in reversed(rows)]
