"""What the history refuses: with a typed error that names the field, the value and the fix, and nothing changed."""

from collections.abc import Callable
from typing import Any

import pytest
from tests.conformance.history.story import (
    compress,
    fork,
    merge,
    put,
    say,
    spawn,
)
from tests.world import World

from ramet import errors
from ramet.errors import RametError


def build(world: World) -> dict[str, str]:
    first, second = say(world, "a", "b")
    fork(world, "side")
    say(world, "s", branch="side")
    say(world, "c")
    merge(world, "side")
    (last,) = say(world, "d")
    boundary = put(world, "session", session_type="checkpoint", summary="here")
    spawn(world, "kid", inherit="full_clone")
    spawn(world, "bare", inherit="selective", filter={"last_turns": 1})
    world.call("history.branch", name="empty")
    return {"first": first, "second": second, "last": last, "boundary": boundary}


Attempt = Callable[[World, dict[str, str]], Any]

REFUSED: dict[str, tuple[type[RametError], str, Attempt]] = {
    "an unknown type": (
        errors.UnknownContentType,
        "content_type",
        lambda world, _: say(world, "x", content_type="nope"),
    ),
    "an unknown type of payload": (
        errors.UnknownContentType,
        "content.content_type",
        lambda world, _: put(world, "nope", text="x"),
    ),
    "a payload that lacks a field": (
        errors.InvalidParams,
        "content",
        lambda world, _: put(world, "artifact", text="x"),
    ),
    "a payload of the wrong kind": (
        errors.InvalidParams,
        "content.direction",
        lambda world, _: put(world, "tool_io", text="x", tool_name="t", direction="sideways"),
    ),
    "text and content": (
        errors.InvalidParams,
        "text",
        lambda world, _: say(world, "x", content={"content_type": "reasoning", "text": "x"}),
    ),
    "neither text nor content": (
        errors.InvalidParams,
        "text",
        lambda world, _: world.call("history.commit", branch="main"),
    ),
    "a branch with a space": (errors.InvalidParams, "branch", lambda world, _: say(world, "x", branch="a b")),
    "a role that is none": (errors.InvalidParams, "role", lambda world, _: say(world, "x", role="robot")),
    "a priority that is none": (
        errors.InvalidParams,
        "priority",
        lambda world, said: world.call("history.annotate", hash=said["first"], priority="loud"),
    ),
    "a commit that is not there": (
        errors.CommitNotFound,
        "hash",
        lambda world, _: world.call("history.annotate", hash="0" * 64, priority="skip"),
    ),
    "a branch that is not there": (
        errors.BranchNotFound,
        "branch",
        lambda world, _: world.call("history.compile", branch="nowhere"),
    ),
    "a place that is not there": (
        errors.BranchNotFound,
        "to",
        lambda world, _: world.call("history.reset", branch="main", to="nowhere"),
    ),
    "a branch and a hash": (
        errors.InvalidParams,
        "branch",
        lambda world, said: world.call("history.compile", branch="main", hash=said["first"]),
    ),
    "a cycle": (errors.SpawnCycle, "child", lambda world, _: spawn(world, "main", parent="kid")),
    "itself": (errors.SpawnCycle, "child", lambda world, _: spawn(world, "main", parent="main")),
    "a second parent": (errors.SpawnError, "child", lambda world, _: spawn(world, "kid", parent="side")),
    "a selective spawn without a filter": (
        errors.SpawnError,
        "filter",
        lambda world, _: spawn(world, "new", inherit="selective"),
    ),
    "a selective spawn with an empty filter": (
        errors.SpawnError,
        "filter",
        lambda world, _: spawn(world, "new", inherit="selective", filter={}),
    ),
    "a mode that is none": (
        errors.InvalidParams,
        "inherit",
        lambda world, _: spawn(world, "new", inherit="partial"),
    ),
    "a collapse with nothing to say": (
        errors.SpawnError,
        "text",
        lambda world, _: world.call("history.collapse", child="bare"),
    ),
    "a collapse of what was not spawned": (
        errors.SpawnError,
        "child",
        lambda world, _: world.call("history.collapse", child="side", text="x"),
    ),
    "a range that crosses a merge": (
        errors.InvalidRange,
        "to",
        lambda world, said: compress(world, said["first"], said["last"], text="x"),
    ),
    "a range that ends before it begins": (
        errors.InvalidRange,
        "from",
        lambda world, said: compress(world, said["second"], said["first"], text="x"),
    ),
    "a range of boundaries": (
        errors.InvalidRange,
        "from",
        lambda world, said: compress(world, said["boundary"], said["boundary"], text="x"),
    ),
    "a target of no tokens": (
        errors.InvalidParams,
        "target_tokens",
        lambda world, said: compress(world, said["last"], said["last"], target_tokens=0),
    ),
    "an edit of what is elsewhere": (
        errors.NotInHistory,
        "target",
        lambda world, said: world.call("history.edit", branch="empty", target=said["first"], text="x"),
    ),
    "undo of nothing": (errors.NothingToUndo, "steps", lambda world, _: world.call("history.undo", branch="side")),
    "a strategy that is none": (
        errors.InvalidParams,
        "strategy",
        lambda world, _: merge(world, "side", strategy="mine"),
    ),
    "an unknown parameter": (
        errors.InvalidParams,
        "colour",
        lambda world, _: world.call("history.compile", branch="main", colour="red"),
    ),
}


@pytest.mark.parametrize("attempt", REFUSED)
def test_bad_input_is_refused_and_changes_nothing(world: World, attempt: str) -> None:
    said = build(world)
    kind, field, try_it = REFUSED[attempt]
    before = world.dump()
    with pytest.raises(kind) as refusal:
        try_it(world, said)
    assert type(refusal.value) is kind
    assert refusal.value.field == field
    assert refusal.value.fix
    assert refusal.value.message
    world.db.rollback()
    assert world.dump() == before
