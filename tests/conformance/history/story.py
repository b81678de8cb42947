"""Short words for what these tests do to a history, and for how they look at it."""

from typing import Any

from tests.world import World

from ramet.engine import Engine
from ramet.engine.transaction import Rules
from ramet.model.redaction import Redactor
from ramet.store.database.blobs import Codec


def say(world: World, *texts: str, branch: str = "main", **params: Any) -> list[str]:
    """Commit texts, a second apart; their hashes."""
    hashes = []
    for text in texts:
        world.clock.advance(1)
        hashes.append(str(world.call("history.commit", branch=branch, text=text, **params).hash))
    return hashes


def put(world: World, content_type: str, branch: str = "main", **fields: Any) -> str:
    """Commit a typed content; its hash."""
    world.clock.advance(1)
    content = {"content_type": content_type, **fields}
    return str(world.call("history.commit", branch=branch, content=content).hash)


def call_tool(world: World, call_id: str | None, text: str = "{}", branch: str = "main", name: str = "Bash") -> str:
    return put(world, "tool_io", branch, text=text, tool_name=name, direction="call", call_id=call_id)


def answer_tool(world: World, call_id: str | None, text: str, branch: str = "main", **fields: Any) -> str:
    return put(world, "tool_io", branch, text=text, tool_name="Bash", direction="result", call_id=call_id, **fields)


def compiled(world: World, branch: str = "main", **params: Any) -> Any:
    return world.call("history.compile", branch=branch, **params)


def texts(world: World, branch: str = "main", **params: Any) -> list[str]:
    """What a model reads, one text per message."""
    return [str(message["content"]) for message in compiled(world, branch, **params).messages]


def logged(world: World, branch: str = "main", **params: Any) -> list[str]:
    """The previews of a branch's commits, the oldest first."""
    return [row.preview for row in reversed(world.call("history.log", branch=branch, **params).items)]


def head(world: World, branch: str = "main") -> str | None:
    """Where a branch stands."""
    found: dict[str, str | None] = {row.name: row.hash for row in world.call("history.branches").items}
    return found[branch]


def fork(world: World, name: str, place: str = "main") -> None:
    world.call("history.branch", name=name, **{"from": place})


def merge(world: World, source: str, into: str = "main", **params: Any) -> Any:
    world.clock.advance(1)
    return world.call("history.merge", into=into, **{"from": source}, **params)


def compress(world: World, first: str, last: str, branch: str = "main", **params: Any) -> Any:
    world.clock.advance(1)
    return world.call("history.compress", branch=branch, **{"from": first}, to=last, **params)


def spawn(world: World, child: str, parent: str = "main", **params: Any) -> Any:
    world.clock.advance(1)
    return world.call("history.spawn", parent=parent, child=child, **{"purpose": "look into it", **params})


def collect(world: World, retention_days: int = 0) -> Any:
    """Collect garbage, with nothing so recent that it would be kept for that."""
    world.clock.advance(1)
    return world.call("history.gc", retention_days=retention_days)


def findings(world: World) -> list[str]:
    return [found.detail for found in world.call("history.check").findings]


def forget(world: World) -> None:
    """An engine that has compiled nothing yet, on the same database."""
    world.engine = Engine(Rules(), codec=Codec(), redactor=Redactor())


def is_whole(world: World) -> bool:
    return bool(world.call("history.check").passed)
