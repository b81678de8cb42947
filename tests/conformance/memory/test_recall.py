"""Recall: a short answer from earlier sessions of a project, its places, and what an agent cannot reach."""

import json
from itertools import product
from typing import Any

import pytest
from tests.conformance import queue_worker
from tests.conformance.hook_calls import entry, hook, ingest
from tests.world import World

from ramet.errors import EffortNotFound, Forbidden, InvalidParams, RametError, SessionNotFound
from ramet.store.database.blobs import PURGED, PURGED_TEXT

SECRET = "sk-" + "ant-api03-" + "A1b2C3d4" * 11


def window(name: str) -> str:
    return f"47442aa6-0000-0000-0000-{name:0>12}"


def session(world: World, name: str, *entries: dict[str, Any], project: str = "/shop") -> int:
    """A session that somebody started by hand in a project, and what its transcript says."""
    where: dict[str, Any] = {"native_id": window(name), "cwd": f"{project}/src", "transcript_path": f"/t/{name}.jsonl"}
    reply = hook(world, "session_start", source="startup", facts={"project": project}, **where)
    at = (f"2026-01-05T08:{number // 60:02}:{number % 60:02}Z" for number in range(1000))
    dated = [{**each, "key": f"{name}-{each['key']}", "at": next(at)} for each in entries]
    ingest(world, reply.session_id, *dated, path=f"/t/{name}.jsonl")
    return int(reply.session_id)


def said(key: str, text: str, role: str = "assistant") -> dict[str, Any]:
    return entry(key, text, role=role)


def ran(key: str, command: str, output: str = "ok", *, fails: bool = False) -> list[dict[str, Any]]:
    return [
        entry(f"{key}c", json.dumps({"command": command}), kind="tool_call", tool="Bash", call_id=key),
        entry(f"{key}r", output, kind="tool_result", role="tool", call_id=key, is_error=fails),
    ]


def edited(key: str, path: str) -> list[dict[str, Any]]:
    given = {"file_path": path, "old_string": "a", "new_string": "b"}
    return [
        entry(f"{key}c", json.dumps(given), kind="tool_call", tool="Edit", call_id=key),
        entry(f"{key}r", "done", kind="tool_result", role="tool", call_id=key),
    ]


def fill(world: World) -> dict[str, int]:
    """Two projects with a few sessions."""
    filler = [said(f"f{number}", f"The weather report {number} says clouds and wind again.") for number in range(30)]
    return {
        "webhook": session(
            world,
            "1",
            said("u1", "Why do webhook signatures fail in staging?", "user"),
            said(
                "a1", "The webhook signature is computed over the raw body, but the proxy rewrites the charset header."
            ),
            said("u2", "ok, remember that", "user"),
            *edited("e1", "/shop/src/webhooks/signature.py"),
            said("a2", f"Decision: verify webhook signatures before decoding. Key was {SECRET}."),
        ),
        "yaml": session(
            world,
            "2",
            said("u1", "Run the tests.", "user"),
            *ran("a", "make test", "ModuleNotFoundError: No module named 'yaml'", fails=True),
            *ran("b", "uv add pyyaml"),
            *edited("c", "/shop/pyproject.toml"),
            *ran("d", "make test"),
            *ran("e", "docker compose up -d"),
            *ran("f", "docker compose up -d"),
            *ran("g", "grep docker README.md"),
            *ran("h", "docker push nothing", "denied", fails=True),
            *ran("i", "python3 export.py --nightly", "OperationalError: database is locked", fails=True),
            *ran("j", "python3 -c 'import sqlite3'"),
            *ran("k", "python3 export.py --nightly --wait 5"),
        ),
        "filler": session(world, "3", *filler),
        "other": session(
            world, "4", said("u1", "The launch code of the rocket engine is hidden.", "user"), project="/bank"
        ),
    }


def recall(world: World, query: str, principal: str = "user", **given: Any) -> Any:
    return world.call_as(principal, "memory.recall", query=query, **given)


@pytest.mark.requirement("R391")
def test_an_answer_quotes_the_right_place_and_the_place_opens(world: World) -> None:
    sessions = fill(world)
    answer = recall(world, "webhook signature raw body charset")
    assert answer.items[0].place.startswith(f"s{sessions['webhook']}:")
    assert "> The webhook signature is computed over the raw body" in answer.text
    assert len(answer.text.encode()) <= 4096
    assert SECRET not in answer.text
    opened = recall(world, answer.items[0].place)
    assert "Why do webhook signatures fail in staging?" in opened.text
    assert "before decoding" in opened.text
    assert SECRET not in opened.text
    assert len(recall(world, answer.items[0].place, max_bytes=300).text.encode()) <= 300
    assert "before decoding" in recall(world, f"s{sessions['webhook']}").text


IRRELEVANT = [
    "kubernetes operator reconciliation loop",
    "how does the billing invoice rounding work",
    "the weather of quarterly payroll exports",
]


@pytest.mark.requirement("R391")
def test_nothing_relevant_gives_an_empty_answer(world: World) -> None:
    fill(world)
    for question in IRRELEVANT:
        answer = recall(world, question)
        assert (answer.text, answer.items, answer.tokens) == ("", [], 0), question


@pytest.mark.requirement("R394")
def test_fix_says_what_was_done_between_the_failure_and_the_success(world: World) -> None:
    sessions = fill(world)
    answer = recall(world, "ModuleNotFoundError: No module named 'yaml'", mode="fix")
    (item,) = answer.items
    assert item.place.startswith(f"s{sessions['yaml']}:")
    assert item.text.splitlines() == [
        "error: ModuleNotFoundError: No module named 'yaml'",
        "failed: make test",
        "ran: uv add pyyaml",
        "edited: /shop/pyproject.toml",
        "worked: make test",
    ]
    assert "> ran: uv add pyyaml" in answer.text
    assert recall(world, "error: connection reset by the peer of the moon", mode="fix").text == ""


@pytest.mark.requirement("R394")
def test_fix_also_names_another_form_of_the_command_that_worked(world: World) -> None:
    fill(world)
    (item,) = recall(world, "OperationalError: database is locked", mode="fix").items
    assert item.text.splitlines()[-1] == "worked: python3 export.py --nightly --wait 5"


@pytest.mark.requirement("R394")
def test_how_lists_the_commands_of_a_tool_that_worked(world: World) -> None:
    fill(world)
    answer = recall(world, "docker", mode="how")
    assert [(each.text, each.exit_status, each.times) for each in answer.items] == [("docker compose up -d", 0, 2)]
    assert recall(world, "docker compose", mode="how").items[0].text == "docker compose up -d"
    assert recall(world, "podman", mode="how").text == ""


@pytest.mark.requirement("R394")
def test_files_lists_what_sessions_about_a_topic_touched(world: World) -> None:
    fill(world)
    answer = recall(world, "webhook signatures", mode="files")
    assert [(each.text, each.kind) for each in answer.items] == [("/shop/src/webhooks/signature.py", "edited")]
    assert recall(world, "rocket launch gantry", mode="files").text == ""


@pytest.mark.requirement("R391", "R390")
def test_an_agent_reaches_only_the_history_of_its_own_project(world: World) -> None:
    sessions = fill(world)
    principal = f"session:{sessions['filler']}"
    assert recall(world, "rocket engine launch code").text
    assert recall(world, "rocket engine launch code", principal).text == ""
    assert recall(world, "webhook signature raw body charset", principal).text
    assert recall(world, f"s{sessions['webhook']}", principal).text
    for place in (f"s{sessions['other']}", f"s{sessions['other']}:1"):
        with pytest.raises(Forbidden):
            recall(world, place, principal)
    bank = world.call("db.session.get", session_id=sessions["other"]).effort_id
    with pytest.raises(Forbidden):
        recall(world, f"e{bank}", principal)
    with pytest.raises(Forbidden):
        recall(world, "rocket", principal, project="/bank")


@pytest.mark.requirement("R391")
def test_a_program_that_names_its_session_gets_only_that_project(world: World) -> None:
    sessions = fill(world)
    named: dict[str, Any] = {"session_id": sessions["filler"]}
    assert recall(world, "rocket engine launch code", **named).text == ""
    with pytest.raises(Forbidden):
        recall(world, f"s{sessions['other']}", **named)
    own = recall(world, "webhook signature raw body charset", session_id=sessions["webhook"])
    assert own.text == "", "what an agent said itself is in its context"


ODD = [
    "x " * 50_000,
    'webhook "signature',
    "' OR 1=1 --",
    "the of and",
    "NEAR(a b) * ^ {x}: -y",
    "a:b weird:filter",
    "路 径",
]


@pytest.mark.requirement("R391", "R394")
def test_odd_questions_get_an_answer_or_a_clear_refusal(world: World) -> None:
    fill(world)
    for mode, query in product(("recall", "fix", "how", "files"), ODD):
        assert len(recall(world, query, mode=mode).text.encode()) <= 4096
        assert recall(world, "!?", mode=mode).text == ""


@pytest.mark.requirement("R391")
def test_a_place_that_does_not_exist_is_named(world: World) -> None:
    fill(world)
    refusals: dict[str, type[RametError]] = {
        "": InvalidParams,
        " \n": InvalidParams,
        "s999": SessionNotFound,
        "s999:1": SessionNotFound,
        "e999": EffortNotFound,
    }
    for query, error in refusals.items():
        with pytest.raises(error) as refused:
            recall(world, query)
        assert refused.value.field == "query"


def test_a_message_of_another_session_is_no_place_of_this_one(world: World) -> None:
    sessions = fill(world)
    other = recall(world, f"s{sessions['filler']}").items[0].place.partition(":")[2]
    with pytest.raises(SessionNotFound) as refused:
        recall(world, f"s{sessions['webhook']}:{other}")
    assert refused.value.fix == f"`ramet recall s{sessions['webhook']}` shows the end of the session"


@pytest.mark.requirement("R391")
def test_an_effort_opens_with_its_goal_and_its_report(world: World) -> None:
    added = queue_worker.add(world, prompt="Paint the cart.")
    world.call("work.output", effort_id=added.id, output_content="It is blue now.")
    assert [each.kind for each in recall(world, f"e{added.id}").items] == ["goal", "report"]
    assert "> It is blue now." in recall(world, f"e{added.id}").text
    last = said("a1", "It is blue now.")
    spoken = session(world, "9", last, {**last, "key": "a2"})
    places = [each.place.partition(":")[0] for each in recall(world, "It is blue now").items]
    assert places in ([f"e{added.id}"], [f"s{spoken}"]), "the same text is quoted once"


@pytest.mark.requirement("R455")
def test_a_hint_is_given_only_for_several_matching_words_and_between_tags(world: World) -> None:
    sessions = fill(world)
    asking: dict[str, Any] = {"session_id": sessions["filler"], "is_hint": True, "max_bytes": 1536}
    prompt = "Please look why the webhook signature does not match the raw body"
    assert recall(world, prompt, **asking).text == "", "a hook does not wait for the index"
    assert recall(world, prompt).text
    hint = recall(world, prompt, **asking)
    assert hint.text.startswith("<ramet-recall>\nFrom earlier sessions")
    assert len(hint.text.encode()) <= 1536
    for vague in ("continue", "webhook", "ok, remember that", "and now paint the ceiling of the chapel in gold"):
        assert recall(world, vague, **asking).text == ""


@pytest.mark.requirement("R391")
def test_a_purged_text_opens_as_what_is_left_of_it(world: World) -> None:
    place = f"s{fill(world)['webhook']}"
    world.sql(f"UPDATE blobs SET codec = {PURGED}")
    opened = recall(world, place)
    assert PURGED_TEXT.decode() in opened.text
    assert "webhook" not in opened.text
