"""The steps of landings, for the tests that need some: queue branches, claim them, end them."""

from typing import Any

from tests.world import World

SHA = {name: digit * 40 for name, digit in zip("abcdef", "abcdef", strict=True)}


def queue(world: World, *heads: str, target: str = "main", needs: dict[str, list[int]] | None = None) -> list[Any]:
    """A landing for each head; the effort of the first is 1, of the second 2."""
    world.call("db.project.upsert", path="/shop")
    entries = [
        {"efforts": [ord(head) - 96], "needs": (needs or {}).get(head, []), "branch": f"ramet/e{ord(head) - 96}"}
        | {"head": SHA[head], "message": f"Land {head}\n"}
        for head in heads
    ]
    place = {"directory": "/shop", "repository": "/shop/.git", "target": target, "method": "merge"}
    return list(world.call("landing.queue", project="/shop", **place, entries=entries).items)


def claim(world: World, lander: str = "north", **params: Any) -> Any:
    return world.call("landing.claim", lander=lander, **params).landing


def finish(world: World, landing: Any, outcome: str | None, **params: Any) -> Any:
    return world.call(
        "landing.finish", landing_id=landing.id, generation=landing.lease_generation, outcome=outcome, **params
    )


def land(world: World, landing: Any) -> Any:
    world.call(
        "landing.note_tested", landing_id=landing.id, generation=landing.lease_generation, tip=SHA["a"], tested=SHA["b"]
    )
    return finish(world, landing, "landed")


def expire(world: World, landing: Any) -> None:
    world.sql("UPDATE landings SET lease_expires_at = '2000-01-01T00:00:00.000Z' WHERE id = :id", id=landing.id)
