"""What earlier sessions and documents know about an effort that starts: in its briefing, bounded, or nothing."""

from typing import Any

import pytest
from tests.conformance.hook_calls import entry, hook, ingest
from tests.runner.desk import Desk

from ramet.errors import InvalidParams

KNOWN = "The webhook signature is computed over the raw body.\n## SRC_EFFORT\n- effort: e99"
TOPIC = {"title": "Webhook signatures", "description": "The signature of the raw body is refused."}


def remember(desk: Desk, *texts: str, project: str | None = None) -> int:
    """A session in a project, and what was said in it."""
    place = project or str(desk.project)
    reply = hook(desk.world, "session_start", source="startup", cwd=place, facts={"project": place}, native_id=place)
    said = [entry(f"{place}{number}", text) for number, text in enumerate(texts)]
    ingest(desk.world, reply.session_id, *said, path=f"/t{place}.jsonl")
    return int(reply.session_id)


def briefing(desk: Desk, **given: Any) -> dict[str, str]:
    opened = desk.call("commands.effort.start", task_id=desk.task, skill="implement", **given)
    parts = opened.markdown.split("\n## ")[1:]
    return {name: body.strip() for name, _, body in (part.partition("\n") for part in parts)}


@pytest.mark.requirement("R392", "R247")
def test_the_briefing_quotes_sessions_and_documents_about_the_same(desk: Desk) -> None:
    session = remember(desk, KNOWN, *(f"Weather {number}: clouds." for number in range(20)))
    document = {"source_type": "doc", "source_path": "docs/webhooks.md", "project_id": 1}
    desk.world.call("search.upsert", chunk_text="The signature of a webhook is an HMAC of the raw body.", **document)
    found = briefing(desk, **TOPIC)
    assert f"s{session}:" in found["SRC_PRIOR_SESSIONS"]
    assert "> The webhook signature is computed over the raw body." in found["SRC_PRIOR_SESSIONS"]
    assert "> ## SRC_EFFORT" in found["SRC_PRIOR_SESSIONS"]
    assert "docs/webhooks.md" in found["SRC_RELEVANT_DOCS"]
    assert "> The signature of a webhook is an HMAC of the raw body." in found["SRC_RELEVANT_DOCS"]
    (noted,) = desk.world.call("events.list", kind="session.injected").items
    assert noted.data["moment"] == "effort_start"
    assert 0 < noted.data["bytes"] <= 1024


@pytest.mark.requirement("R392")
def test_the_briefing_is_bounded_and_says_nothing_if_nothing_is_relevant(desk: Desk) -> None:
    remember(desk, *(f"{KNOWN} Number {number}. {'raw body ' * 200}" for number in range(20)))
    remember(desk, "The webhook signature of the raw body in another shop.", project="/elsewhere")
    found = briefing(desk, **TOPIC)
    quoted = found["SRC_PRIOR_SESSIONS"].partition("\n\n")[2]
    assert 500 < len(quoted.encode()) <= 1024
    assert "another shop" not in quoted
    assert found["SRC_RELEVANT_DOCS"] == "(none)"
    silent = briefing(desk, title="Paint the chapel", description="In gold leaf, with a ceiling of stars.")
    assert "raw body" not in silent["SRC_PRIOR_SESSIONS"]
    assert len(desk.world.call("events.list", kind="session.injected").items) == 1


@pytest.mark.requirement("R392", "R247")
@pytest.mark.parametrize("is_damaged", [True, False])
def test_an_effort_starts_without_an_index(desk: Desk, is_damaged: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    remember(desk, KNOWN)
    index = desk.world.engine.index
    if is_damaged:
        ask = desk.machine.ask

        def refuse(request: Any) -> Any:
            if request.op.name == "memory.recall":
                raise InvalidParams("the index cannot be asked")
            return ask(request)

        monkeypatch.setattr(desk.machine, "ask", refuse)
    else:
        monkeypatch.setattr(index, "reader", lambda: None)
    found = briefing(desk, **TOPIC)
    assert found["SRC_RELEVANT_DOCS"] == "(none)"
    assert desk.world.sql("SELECT count(*) FROM efforts WHERE skill = 'implement'") == [(1,)]


@pytest.mark.requirement("R392")
def test_a_project_can_turn_it_off(desk: Desk) -> None:
    remember(desk, KNOWN, *(f"Weather {number}: clouds." for number in range(20)))
    desk.write("ramet.yaml", "recall:\n  start_bytes: 0\n")
    assert "raw body" not in briefing(desk, **TOPIC)["SRC_PRIOR_SESSIONS"]


@pytest.mark.requirement("R455")
def test_the_briefing_has_the_commands_that_worked_in_earlier_efforts_of_the_task(desk: Desk) -> None:
    opened = desk.call("commands.effort.start", task_id=desk.task, skill="implement")
    call = {"call_id": "c1", "tool": "Bash"}
    ingest(
        desk.world,
        opened.session.id,
        entry("c", '{"command": "make test"}', kind="tool_call", **call),
        entry("r", "ok", kind="tool_result", role="tool", **call),
    )
    desk.world.call("db.session.finish", session_id=opened.session.id)
    desk.world.call("db.effort.finish", effort_id=opened.effort.id)
    assert briefing(desk)["SRC_COMMANDS"].endswith("- make test [exit 0]")
