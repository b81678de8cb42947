"""`ai.*` through a real daemon: it answers, records what was used, waits for nobody, and keeps the key to itself."""

import signal
from typing import Any

import pytest
from tests.ai.conftest import KEY, AiHome
from tests.ai.scripted import DIMENSION, INPUT_TOKENS, OUTPUT_TOKENS, PATIENCE_SECONDS, ScriptedServer, Step
from tests.daemon.harness import Client, line
from tests.daemon.process import finish


def _used(client: Client) -> list[Any]:
    page = client.call("events.list", kind="ai.used")["result"]
    return [event["data"] for event in page["items"]]


@pytest.mark.requirement("R251")
def test_a_model_writes_and_its_use_is_recorded(home: AiHome, scripted: ScriptedServer) -> None:
    home.serve()
    client = home.connect()
    reply = client.call("ai.generate", prompt="what now?", system="be brief")["result"]
    assert reply["text"] == "a short summary"
    assert reply["usage"] == {"input_tokens": INPUT_TOKENS, "output_tokens": OUTPUT_TOKENS}
    assert reply["finish_reason"] == "stop"
    assert _used(client) == [
        {"model": "openai:scripted-1", "input_tokens": INPUT_TOKENS, "output_tokens": OUTPUT_TOKENS}
    ]
    assert scripted.asked[0].key == KEY


@pytest.mark.requirement("R251")
def test_vectors_come_the_same_way(home: AiHome) -> None:
    home.serve()
    client = home.connect()
    reply = client.call("ai.embed", texts=["one", "two", "three"])["result"]
    assert (reply["model"], reply["dimension"], len(reply["vectors"])) == ("openai:scripted-embed", DIMENSION, 3)
    assert [used["input_tokens"] for used in _used(client)] == [INPUT_TOKENS]


def test_a_key_makes_it_once_and_pays_once(home: AiHome, scripted: ScriptedServer) -> None:
    home.serve()
    client = home.connect()
    first = client.call("ai.generate", prompt="what now?", idempotency_key="k")
    scripted.text = "something else"
    assert client.call("ai.generate", prompt="what now?", idempotency_key="k") == first
    other = client.call("ai.generate", prompt="and then?", idempotency_key="k")
    assert other["error"]["data"]["code"] == "idempotency_conflict"
    assert len(scripted.asked) == 1
    assert len(_used(client)) == 1


def test_without_a_model_the_error_names_the_setting(home: AiHome) -> None:
    home.settings = {}
    home.serve()
    error = home.connect().call("ai.generate", prompt="what now?")["error"]
    assert error["data"]["code"] == "model_missing"
    assert error["data"]["field"] == "ai.model"


def test_others_go_on_while_a_model_thinks(home: AiHome, scripted: ScriptedServer) -> None:
    scripted.then(Step(is_silent=True))
    home.serve()
    asker, other = home.connect(), home.connect()
    asker.ask("ai.generate", 1, prompt="what now?")
    scripted.wait_asked(1)
    assert other.call("history.commit", branch="main", text="meanwhile")["result"]["depth"] == 1
    assert other.call("history.log", branch="main")["result"]["items"][0]["preview"] == "meanwhile"
    scripted.go_on.set()
    assert asker.receive()["result"]["text"] == "a short summary"


def test_many_models_are_asked_at_once(home: AiHome, scripted: ScriptedServer) -> None:
    scripted.then(*[Step(is_silent=True)] * 6)
    home.serve()
    askers = [home.connect() for _ in range(6)]
    for asker in askers:
        asker.ask("ai.generate", 1, prompt="what now?")
    scripted.wait_asked(6)
    scripted.go_on.set()
    assert all(asker.receive()["result"]["text"] == "a short summary" for asker in askers)


def test_stopping_waits_for_the_answer(home: AiHome, scripted: ScriptedServer) -> None:
    scripted.then(Step(is_silent=True))
    process = home.serve(drain_seconds=60)
    client = home.connect()
    client.ask("ai.generate", 1, prompt="what now?")
    scripted.wait_asked(1)
    process.send_signal(signal.SIGTERM)
    while not client_is_refused(home):
        pass
    scripted.go_on.set()
    assert client.receive()["result"]["text"] == "a short summary"
    assert process.wait(PATIENCE_SECONDS) == 0


def client_is_refused(home: AiHome) -> bool:
    """Whether the daemon lets nobody in any more."""
    try:
        return home.connect().call("daemon.ping") is None
    except OSError:
        return True


def test_stopping_does_not_wait_for_ever(home: AiHome, scripted: ScriptedServer) -> None:
    scripted.then(Step(is_silent=True))
    process = home.serve(drain_seconds=1)
    client = home.connect()
    client.ask("ai.generate", 1, prompt="what now?")
    scripted.wait_asked(1)
    process.send_signal(signal.SIGTERM)
    assert client.receive() is None
    assert process.wait(PATIENCE_SECONDS) == 0
    assert not home.socket.exists()


def test_what_is_sent_behind_a_question_takes_effect_behind_it(home: AiHome, scripted: ScriptedServer) -> None:
    home.serve()
    client = home.connect()
    first = client.call("history.commit", branch="main", text="a long story " * 50)["result"]["hash"]
    client.send(
        line("history.commit", 1, branch="main", text="one more")
        + line("history.compress", 2, branch="main", **{"from": first, "to": first}, method="model")
        + line("history.commit", 3, branch="main", text="behind it")
        + line("history.log", 4, branch="main")
    )
    replies = {reply["id"]: reply["result"] for reply in (client.receive() for _ in range(4))}
    previews = [row["preview"] for row in replies[4]["items"]]
    assert previews[:3] == ["behind it", "a short summary", "one more"]


@pytest.mark.parametrize("steps", [[Step(401)], [Step(500)] * 3, [Step(body=b"{not json")]])
def test_the_key_is_found_nowhere(home: AiHome, scripted: ScriptedServer, steps: list[Step]) -> None:
    scripted.then(*steps)
    home.serve()
    client = home.connect()
    failed = client.call("ai.generate", prompt="a prompt that nobody keeps")
    assert failed["error"]["data"]["code"] == "model_failed"
    assert KEY not in str(failed)
    scripted.text = f"the key is {KEY}"
    assert client.call("ai.generate", prompt="a prompt that nobody keeps", idempotency_key="k")["result"]
    client.call("history.commit", branch="main", text=f"look: {KEY}", metadata={"k": KEY})
    assert KEY not in str(client.call("history.show", hash=KEY))
    client.call("daemon.stop")
    home.processes[0].wait(PATIENCE_SECONDS)
    files = [path for path in home.path.rglob("*") if path.is_file()]
    assert {path.name for path in files} >= {"ramet.db", "daemon.log"}
    for path in files:
        content = path.read_bytes()
        assert KEY.encode() not in content
        assert b"a prompt that nobody keeps" not in content


def test_a_pattern_that_cannot_be_used_keeps_the_daemon_from_starting(home: AiHome) -> None:
    home.settings = {"redaction": {"patterns": ["fine", "(unclosed"]}}
    status, _, complaint = finish(home.start())
    assert status == 2
    assert "(unclosed" in complaint
    assert "redaction.patterns" in complaint


def test_what_is_configured_holds_for_what_is_stored_and_for_errors(home: AiHome) -> None:
    home.settings = {"redaction": {"patterns": ["corp-[0-9]+"]}, "tokens": {"counter": "o200k"}}
    home.serve()
    client = home.connect()
    done = client.call("history.commit", branch="main", text="see corp-12345", metadata={"id": "corp-12345"})["result"]
    assert done["redactions"] == 2
    shown = client.call("history.show", hash=done["hash"])["result"]
    assert shown["text"].startswith("see [REDACTED:configured:")
    assert shown["tokens"] == done["tokens"] != len(shown["text"]) // 4
    assert "corp-12345" not in str(client.call("history.show", hash="corp-12345"))
