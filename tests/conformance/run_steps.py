"""What tests of runs have in common: a task file's lines, somebody who attends, a worker that does the next line."""

from typing import Any

from tests.conformance import queue_worker
from tests.world import World

TASK = "/shop/tasks/cart"


def line(key: str, *depends_on: str, **facts: Any) -> dict[str, Any]:
    return {"key": key, "text": f"do {key}", "depends_on": list(depends_on), **facts}


def start(world: World, *lines: dict[str, Any] | str, **params: Any) -> Any:
    """A run of some lines, attended by `host`."""
    run = record(world, *lines, **params)
    attend(world, run)
    return run


def record(world: World, *lines: dict[str, Any] | str, **params: Any) -> Any:
    """A run that nobody attends."""
    world.call("db.project.upsert", path="/shop")
    given = [line(each) if isinstance(each, str) else each for each in lines]
    return world.call("run.start", **{"task": TASK, **({"lines": given} if given else {}), **params})


def attend(world: World, run: Any, attender: str = "host", **params: Any) -> Any:
    return world.call("run.attend", run_id=run.id, attender=attender, **{"begins": True, **params})


def leave(world: World, run: Any, attender: str = "host") -> Any:
    return world.call("run.leave", run_id=run.id, attender=attender)


def get(world: World, run: Any, **params: Any) -> Any:
    return world.call("run.get", run_id=run.id, **params)


def claim(world: World, run: Any, worker: str = "host/1", **params: Any) -> Any:
    return queue_worker.claim(world, worker, run=run.id, **params)


def do_next(world: World, run: Any, outcome: str = "success", **params: Any) -> str:
    """The next line, from claim to outcome; its key."""
    attempt = queue_worker.begin(world, claim(world, run))
    queue_worker.complete(world, attempt, outcome, **params)
    return str(attempt.effort.run_line)


def do_all(world: World, run: Any, **params: Any) -> list[str]:
    """Whatever is ready, until nothing is."""
    done = []
    while world.call("work.next", run=run.id) is not None:
        done.append(do_next(world, run, **params))
    return done


def states(world: World, run: Any) -> dict[str, str]:
    return {each.key: each.state for each in get(world, run).lines}


def notices(world: World, kind: str) -> list[Any]:
    return [notice for notice in world.call("fleet.notices").items if notice.kind == kind]
