"""What tests of the queue have in common: a project, efforts in its queue, workers, a keeper that speaks."""

from typing import Any

from tests.world import World

TASK = "/shop/tasks/cart"
NO_CHANGES: dict[str, Any] = {"files": [], "insertions": 0, "deletions": 0}
"""What git says of an attempt that changed no file."""
KEEPER, OTHER_KEEPER = "keeper01", "keeper02"


def add(world: World, prompt: str = "mend the cart", **params: Any) -> Any:
    """An effort in the queue."""
    if "based_on" not in params:
        params.setdefault("task", TASK)
    world.call("db.project.upsert", path="/shop")
    return world.call("work.add", prompt=prompt, **{"skill": "do", **params})


def claim(world: World, worker: str = "host/1", **params: Any) -> Any:
    return world.call("work.claim", worker=worker, **params)


def begin(world: World, claimed: Any, **params: Any) -> Any:
    """An attempt at a claimed effort."""
    known = {"driver": "command", "agent_id": claimed.lease_owner, "instance": KEEPER, "prompt": "go"}
    return world.call("work.begin", effort_id=claimed.id, generation=claimed.generation, **{**known, **params})


def start(world: World, worker: str = "host/1", **params: Any) -> Any:
    """A new effort, claimed and begun: the attempt."""
    effort = add(world, task=f"/shop/tasks/{worker.replace('/', '-')}")
    return begin(world, claim(world, worker, effort_id=effort.id), **params)


def report(world: World, attempt: Any, *events: Any, seq: int = 1, instance: str = KEEPER) -> Any:
    return world.call("work.report", session_id=attempt.session.id, instance=instance, seq=seq, events=list(events))


def complete(world: World, claimed: Any, outcome: str = "success", **params: Any) -> Any:
    """The outcome of a claimed effort, or of an attempt's."""
    effort = getattr(claimed, "effort", claimed)
    generation = params.pop("generation", effort.lease_generation)
    return world.call("work.complete", effort_id=effort.id, generation=generation, outcome=outcome, **params)


def run(world: World, effort: Any, outcome: str = "success", **params: Any) -> Any:
    """Claim an effort and complete it."""
    return complete(world, claim(world, f"runner of {effort.id}", effort_id=effort.id), outcome, **params)


def expire(world: World, effort_id: int) -> None:
    """Let the lease on an effort run out, whoever's clock counts."""
    world.sql("UPDATE efforts SET lease_expires_at = '2000-01-01T00:00:00.000Z' WHERE id = :id", id=effort_id)


def text(said: str) -> dict[str, Any]:
    return {"kind": "text", "text": said}


def end(outcome: str = "success", **facts: Any) -> dict[str, Any]:
    return {"kind": "end", "outcome": outcome, **facts}


def said_by(world: World, session_id: int) -> list[tuple[str, str]]:
    """The transcript of a session: who said what."""
    return [(each.role, each.content) for each in world.call("db.messages.list", session_id=session_id).items]
