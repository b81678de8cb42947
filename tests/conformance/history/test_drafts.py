"""What a change needs of a long history is read before it; the change uses it if the history still says the same."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from tests.conformance.history.bulk import Reading
from tests.conformance.history.story import put, say, texts
from tests.world import World

from ramet.engine.history.drafts import Drafted
from ramet.protocol.operation import Request
from ramet.protocol.wire.frames import decode_params, find_operation

SAID = [f"{letter} is what was said here. And more of it." for letter in "abcdef"]


def ask(name: str, params: dict[str, Any]) -> Request[Any]:

    return decode_params(find_operation(name), json.dumps(params).encode())


def change(world: World, name: str, params: dict[str, Any], between: Callable[[], Any]) -> Reading:
    """Read first, let something happen, and make the change as the daemon does; what the change read."""
    request = ask(name, params)
    draft = request.draft()
    assert draft is not None
    found = world.perform("user", draft.op, draft)
    between()
    before, world.db = world.db, Reading(world)
    reading = world.db
    world.perform("user", find_operation(name), Drafted(asked=request, found=found))
    world.db = before
    return reading


def _compress(said: list[str]) -> tuple[str, dict[str, Any], str]:
    return "history.compress", {"branch": "main", "from": said[1], "to": said[3]}, "main"


def _snapshot(said: list[str]) -> tuple[str, dict[str, Any], str]:
    return "history.spawn", {"parent": "main", "child": "kid", "purpose": "look"}, "kid"


def _select(said: list[str]) -> tuple[str, dict[str, Any], str]:
    chosen = {"inherit": "selective", "filter": {"last_turns": 3}}
    return "history.spawn", {"parent": "main", "child": "kid", "purpose": "look", **chosen}, "kid"


CHANGES = pytest.mark.parametrize("make", [_compress, _snapshot, _select])


@CHANGES
def test_a_change_with_a_draft_does_what_it_does_without_one(world: World, make: Any) -> None:
    found = []
    for is_drafted in (True, False):
        said = say(world, *SAID)
        name, params, branch = make(said)
        if is_drafted:
            change(world, name, params, lambda: None)
        else:
            world.call(name, **params)
        found.append(texts(world, branch))
        for each in {branch, "main"}:
            world.call("history.delete", branch=each)
        world.sql("DELETE FROM spawn_pointers")
    assert found[0] == found[1]
    assert any(SAID[3][:6] in text for text in found[0])


@pytest.mark.requirement("R447")
@pytest.mark.parametrize("make", [_compress, _snapshot])
def test_a_change_with_a_draft_reads_no_text_in_its_transaction(world: World, make: Any) -> None:
    name, params, branch = make(say(world, *SAID))
    reading = change(world, name, params, lambda: say(world, "one more"))
    assert reading.texts == 0
    assert "a is what was said" in texts(world, branch)[0]


@CHANGES
@pytest.mark.parametrize("happens", ["edit", "annotate", "reset"])
def test_a_draft_of_a_history_that_has_changed_is_not_used(world: World, make: Any, happens: str) -> None:
    said = say(world, *SAID)
    name, params, branch = make(said)

    def between() -> None:
        match happens:
            case "edit":
                world.call("history.edit", branch="main", target=said[3], text="changed in between")
            case "annotate":
                world.call("history.annotate", hash=said[0], priority="pinned")
            case "reset":
                world.call("history.reset", branch="main", to=said[3])
                put(world, "dialogue", text="changed in between")

    change(world, name, params, between)
    shown = "\n".join(texts(world, branch))
    assert ("changed in between" in shown) == (happens != "annotate")
    assert (SAID[5] in shown) == (happens != "reset")


def test_a_change_that_needs_no_reading_has_no_draft() -> None:
    given = {"branch": "main", "from": "0000", "to": "0000"}
    assert ask("history.compress", {**given, "text": "in short"}).draft() is None
    assert ask("history.compress", {**given, "method": "model"}).draft() is None
    child = {"parent": "main", "child": "kid", "purpose": "look"}
    assert ask("history.spawn", {**child, "inherit": "full_clone"}).draft() is None
    assert ask("history.spawn", {**child, "inherit": "none"}).draft() is None
