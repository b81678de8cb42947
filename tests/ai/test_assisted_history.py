"""A model shortens a range or reports on a child; where it fails, nothing has changed."""

from pathlib import Path
from typing import Any

import pytest
from tests.ai.conftest import KEY, KEY_VARIABLE, AiHome
from tests.ai.scripted import INPUT_TOKENS, ScriptedServer, Step
from tests.daemon.harness import Client

import ramet
from ramet.errors import InvalidRange, ModelFailed, SpawnError

SECRET = "ghp_" + "a" * 40


def _story(client: Client, branch: str = "main") -> list[str]:
    texts = ["the plan", f"the token is {SECRET}", "the tests pass"]
    return [client.call("history.commit", branch=branch, text=text)["result"]["hash"] for text in texts]


def _compiled(client: Client, branch: str = "main") -> str:
    messages = client.call("history.compile", branch=branch, format="text")["result"]["messages"]
    return "\n".join(str(message["content"]) for message in messages)


def _prompt(scripted: ScriptedServer) -> tuple[str, str]:
    """What the model was last told by the system and by the user."""
    said = {message["role"]: message["content"] for message in scripted.asked[-1].body["messages"]}
    return said["system"], said["user"]


def test_a_model_shortens_a_range(home: AiHome, scripted: ScriptedServer) -> None:
    home.serve()
    client = home.connect()
    hashes = _story(client)
    before = _compiled(client)
    span = {"from": hashes[0], "to": hashes[-1]}
    done = client.call("history.compress", branch="main", **span, method="model", target_tokens=40)["result"]
    system, prompt = _prompt(scripted)
    assert "You summarize a part" in system
    assert all(part in prompt for part in ("[user]: the plan", "the tests pass", "40 tokens", "[REDACTED:github:"))
    assert SECRET not in prompt
    assert "a short summary" in _compiled(client)
    assert "the plan" not in _compiled(client)
    used = client.call("events.list", kind="ai.used")["result"]["items"]
    assert [event["data"]["input_tokens"] for event in used] == [INPUT_TOKENS]
    expanded = client.call("history.expand", hash=done["hash"])["result"]
    assert [row["hash"] for row in expanded["commits"]] == hashes
    client.call("history.undo", branch="main")
    assert _compiled(client) == before


@pytest.mark.requirement("R104")
def test_a_model_shortens_the_conversation_of_a_run_and_the_next_task_is_told_the_summary(home: AiHome) -> None:
    home.serve()
    client = home.connect()
    client.call("db.project.upsert", path="/shop")
    lines = [{"key": "1", "text": "paint the cart"}]
    run = client.call("run.start", task="/shop/tasks/cart", name="tasks.md", mode="sequential", lines=lines)["result"]
    said = [("user", "Which colour?"), ("assistant", "Blue, after much thought."), ("user", "And the wheels?")]
    for role, content in said:
        client.call("run.turn", run_id=run["id"], role=role, content=content)
    branch = client.call("run.get", run_id=run["id"])["result"]["branch"]
    newest, _, oldest = client.call("history.log", branch=branch)["result"]["items"]
    span = {"from": oldest["hash"], "to": newest["hash"]}
    client.call("history.compress", branch=branch, **span, method="model")
    told = client.call("run.get", run_id=run["id"])["result"]["conversation"]
    assert [turn["content"] for turn in told] == ["a short summary"]
    client.call("history.undo", branch=branch)
    told = client.call("run.get", run_id=run["id"])["result"]["conversation"]
    assert [(turn["role"], turn["content"]) for turn in told] == said


def test_a_model_reports_on_a_child(home: AiHome, scripted: ScriptedServer) -> None:
    scripted.text = "Subagent completed: the tests pass."
    home.serve()
    client = home.connect()
    _story(client)
    client.call("history.spawn", parent="main", child="work", purpose="make the tests pass")
    client.call("history.commit", branch="work", text="found the bug in cart.py")
    reply = client.call("history.collapse", child="work", method="model", instructions=f"name files, not {SECRET}")
    assert reply["result"]["summary_text"] == scripted.text
    system, prompt = _prompt(scripted)
    assert "You report on the work" in system
    assert all(part in prompt for part in ("Purpose: make the tests pass", "found the bug in cart.py", "name files"))
    assert SECRET not in prompt
    assert scripted.text in _compiled(client)
    expanded = client.call("history.expand", hash=reply["result"]["parent_commit_hash"])["result"]
    assert expanded["branch"] == "work"


def _state(client: Client) -> Any:
    log = client.call("history.log", branch="main")["result"]
    moves = client.call("history.moves", branch="main")["result"]
    events = client.call("events.list", limit=1000)["result"]
    return log, moves, events


@pytest.mark.parametrize("steps", [[Step(401)], [Step(500)] * 3, [Step(body=b"[]")]])
def test_a_failing_model_changes_nothing(home: AiHome, scripted: ScriptedServer, steps: list[Step]) -> None:
    home.serve()
    client = home.connect()
    hashes = _story(client)
    client.call("history.spawn", parent="main", child="work", purpose="look")
    before = _state(client)
    scripted.then(*steps, *steps)
    span = {"from": hashes[0], "to": hashes[-1]}
    compressed = client.call("history.compress", branch="main", **span, method="model")
    collapsed = client.call("history.collapse", child="work", method="model")
    assert [reply["error"]["data"]["code"] for reply in (compressed, collapsed)] == ["model_failed"] * 2
    assert _state(client) == before


@pytest.mark.parametrize(("text", "finish"), [("  \n", "stop"), ("half of it", "length"), ("no", "content_filter")])
def test_an_empty_or_cut_answer_changes_nothing(home: AiHome, scripted: ScriptedServer, text: str, finish: str) -> None:
    scripted.text, scripted.finish = text, finish
    home.serve()
    client = home.connect()
    hashes = _story(client)
    before = _state(client)
    failed = client.call("history.compress", branch="main", **{"from": hashes[0], "to": hashes[1]}, method="model")
    assert failed["error"]["data"]["code"] == "model_failed"
    assert _state(client) == before


def test_what_would_be_refused_is_refused_before_a_model_is_asked(home: AiHome, scripted: ScriptedServer) -> None:
    home.serve()
    client = home.connect()
    hashes = _story(client)
    backwards = client.call("history.compress", branch="main", **{"from": hashes[2], "to": hashes[0]}, method="model")
    orphan = client.call("history.collapse", child="main", method="model")
    nothing = client.call("history.compress", branch="none", **{"from": hashes[0], "to": hashes[0]}, method="model")
    codes = [reply["error"]["data"]["code"] for reply in (backwards, orphan, nothing)]
    assert codes == ["invalid_range", "spawn_error", "branch_not_found"]
    assert scripted.asked == []


def test_a_given_text_needs_no_model(home: AiHome, scripted: ScriptedServer) -> None:
    home.serve()
    client = home.connect()
    hashes = _story(client)
    span = {"from": hashes[0], "to": hashes[1]}
    assert client.call("history.compress", branch="main", **span, method="model", text="in short")["result"]
    assert scripted.asked == []


def test_a_repeated_request_asks_no_second_time(home: AiHome, scripted: ScriptedServer) -> None:
    home.serve()
    client = home.connect()
    hashes = _story(client)
    params = {"branch": "main", "from": hashes[0], "to": hashes[1], "method": "model", "idempotency_key": "k"}
    first = client.call("history.compress", **params)
    scripted.text = "other words"
    assert client.call("history.compress", **params) == first
    assert len(scripted.asked) == 1


def test_on_postgresql_it_is_the_same(home: AiHome, scripted: ScriptedServer, postgres_url: str) -> None:
    home.settings["database"] = {"type": "postgres", "url": postgres_url}
    home.serve()
    client = home.connect()
    hashes = _story(client)
    span = {"from": hashes[0], "to": hashes[-1]}
    assert client.call("history.compress", branch="main", **span, method="model")["result"]["depth"] == 4
    assert "a short summary" in _compiled(client)
    client.call("history.spawn", parent="main", child="work", purpose="look")
    scripted.then(Step(401))
    assert client.call("history.collapse", child="work", method="model")["error"]["data"]["code"] == "model_failed"
    assert client.call("history.collapse", child="work", method="model")["result"]["parent_commit_hash"]


@pytest.fixture
def local(scripted: ScriptedServer, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> ramet.Ramet:
    """The library in process, configured by the environment."""
    for name, value in {
        KEY_VARIABLE: KEY,
        "RAMET_HOME": str(tmp_path / "home"),
        "RAMET_AI_MODEL": "openai:scripted-1",
        "RAMET_AI_BASE_URL": scripted.openai_url,
        "RAMET_AI_API_KEY_ENV": KEY_VARIABLE,
        "RAMET_AI_RETRIES": "0",
    }.items():
        monkeypatch.setenv(name, value)
    return ramet.open(tmp_path / "local.db")


def test_the_library_does_the_same_in_process(local: ramet.Ramet, scripted: ScriptedServer) -> None:
    with local as r:
        first = r.history.commit("main", text=f"the plan, and {KEY}").hash
        r.history.spawn("main", "work", "look around")
        r.history.compress("main", from_=first, to=first, method="model")
        assert r.history.compile("main").messages[0]["content"] == "a short summary"
        assert r.history.collapse("work", method="model").summary_text == "a short summary"
        assert r.ai.generate("hello").usage.input_tokens == INPUT_TOKENS
        assert [event.kind for event in r.events.list(kind="ai.used").items] == ["ai.used"] * 3
    assert all(KEY not in str(asked.body) for asked in scripted.asked)
    assert scripted.asked[0].key == KEY


def test_in_process_too_a_failing_model_changes_nothing(local: ramet.Ramet, scripted: ScriptedServer) -> None:
    with local as r:
        first = r.history.commit("main", text="the plan").hash
        before = r.history.log("main"), r.events.list()
        scripted.then(Step(503))
        with pytest.raises(ModelFailed, match="503"):
            r.history.compress("main", from_=first, to=first, method="model")
        with pytest.raises(SpawnError):
            r.history.collapse("main", method="model")
        r.history.annotate(first, "pinned")
        with pytest.raises(InvalidRange):
            r.history.compress("main", from_=first, to=first, method="model")
        r.history.annotate(first, "normal")
        assert r.history.log("main") == before[0]
    assert len(scripted.asked) == 1
