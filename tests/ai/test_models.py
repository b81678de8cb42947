"""Asking a model: both wire formats, what is tried again and what is not, and nothing told that must not be."""

import json

import pytest
from tests.ai.scripted import DIMENSION, INPUT_TOKENS, OUTPUT_TOKENS, ScriptedServer, Step

from ramet.ai import Models
from ramet.config.environment import read_environment
from ramet.config.settings import AiSettings, Settings
from ramet.errors import ModelFailed, ModelMissing
from ramet.protocol.system.ai import Embed, Embedded, Generate, Generated

KEY = "test-key-4711-abcdefgh"


class Requester:
    """Models that ask the scripted server, and the pauses that they made."""

    def __init__(self, server: ScriptedServer, kind: str = "openai", retries: int = 2, **ai: object) -> None:
        base_url = server.openai_url if kind == "openai" else server.address
        chosen = {"model": f"{kind}:scripted-1", "embed_model": f"{kind}:scripted-embed", "base_url": base_url} | ai
        settings = Settings(ai=AiSettings(retries=retries, **chosen))  # type: ignore[arg-type]
        environ = {"OPENAI_API_KEY": KEY, "ANTHROPIC_API_KEY": KEY}
        self.pauses: list[float] = []
        self.models = Models(settings, read_environment(environ, settings), sleep=self.pauses.append)

    def generate(self, prompt: str = "what now?", **params: object) -> Generated:
        answer = self.models.answer(Generate(prompt=prompt, **params))  # type: ignore[arg-type]
        assert isinstance(answer, Generated)
        return answer


@pytest.mark.requirement("R251")
@pytest.mark.parametrize("kind", ["openai", "anthropic"])
def test_a_model_writes_and_says_what_it_used(scripted: ScriptedServer, kind: str) -> None:
    answer = Requester(scripted, kind).generate(system="be brief", max_tokens=99, temperature=0.5)
    assert answer.text == "a short summary"
    assert answer.model == f"{kind}:scripted-1"
    assert (answer.usage.input_tokens, answer.usage.output_tokens) == (INPUT_TOKENS, OUTPUT_TOKENS)
    assert answer.finish_reason == "stop"
    asked = scripted.asked[0]
    said = json.dumps(asked.body)
    assert all(part in said for part in ("what now?", "be brief", "scripted-1", "99", "0.5"))
    assert asked.key == KEY


@pytest.mark.requirement("R251")
def test_a_model_makes_a_vector_of_each_text(scripted: ScriptedServer) -> None:
    answer = Requester(scripted).models.answer(Embed(texts=["one", "two"]))
    assert isinstance(answer, Embedded)
    assert (answer.model, answer.dimension) == ("openai:scripted-embed", DIMENSION)
    assert answer.vectors == [[0.0] * DIMENSION, [1.0] * DIMENSION]
    assert answer.usage.input_tokens == INPUT_TOKENS
    assert scripted.asked[0].body["input"] == ["one", "two"]


@pytest.mark.parametrize("kind", ["openai", "anthropic"])
@pytest.mark.parametrize("status", [429, 500, 503])
def test_one_that_is_busy_or_failing_is_asked_again(scripted: ScriptedServer, kind: str, status: int) -> None:
    scripted.then(Step(status), Step(status))
    asking = Requester(scripted, kind)
    assert asking.generate().text == "a short summary"
    assert len(scripted.asked) == 3
    assert len(asking.pauses) == 2
    assert asking.pauses[0] < asking.pauses[1] < 2


def test_the_pause_is_as_long_as_the_provider_asks_but_bounded(scripted: ScriptedServer) -> None:
    scripted.then(Step(429, retry_after="3"), Step(429, retry_after="100000"))
    asking = Requester(scripted)
    asking.generate()
    assert 3 <= asking.pauses[0] < 4
    assert 20 <= asking.pauses[1] <= 25


@pytest.mark.parametrize("kind", ["openai", "anthropic"])
def test_after_the_last_attempt_the_status_is_told(scripted: ScriptedServer, kind: str) -> None:
    scripted.then(*[Step(500)] * 3)
    with pytest.raises(ModelFailed, match=f"{kind}:scripted-1 answered with status 500") as failed:
        Requester(scripted, kind).generate()
    assert failed.value.value == 500
    assert len(scripted.asked) == 3


@pytest.mark.parametrize("kind", ["openai", "anthropic"])
@pytest.mark.parametrize("status", [400, 401, 404])
def test_what_will_not_change_is_not_asked_again(scripted: ScriptedServer, kind: str, status: int) -> None:
    scripted.then(Step(status))
    with pytest.raises(ModelFailed, match=str(status)):
        Requester(scripted, kind).generate()
    assert len(scripted.asked) == 1


@pytest.mark.parametrize("status", [401, 500])
def test_an_error_tells_nothing_of_key_or_prompt(scripted: ScriptedServer, status: int) -> None:
    scripted.then(Step(status))
    with pytest.raises(ModelFailed) as failed:
        Requester(scripted, retries=0).generate("a secret prompt")
    told = f"{failed.value.to_wire()}{failed.value!r}{failed.value.__cause__!r}"
    assert KEY not in told
    assert "a secret prompt" not in told


def test_silence_is_bounded_and_asked_again(scripted: ScriptedServer) -> None:
    scripted.then(Step(is_silent=True), Step(is_silent=True))
    asking = Requester(scripted, retries=1)
    with pytest.raises(ModelFailed, match=r"did not answer within 0.5 seconds"):
        asking.generate(timeout_seconds=0.5)
    assert len(asking.pauses) == 1


@pytest.mark.parametrize("body", [b"{not json", b"[]", b'{"choices": []}', b'{"choices": [{"message": 7}]}', b"null"])
def test_an_answer_that_is_not_one_is_an_error(scripted: ScriptedServer, body: bytes) -> None:
    scripted.then(Step(body=body))
    with pytest.raises(ModelFailed, match="openai:scripted-1"):
        Requester(scripted).generate()
    assert len(scripted.asked) == 1


@pytest.mark.parametrize("body", [b'{"data": "none"}', b'{"object": "list", "model": "m", "data": []}'])
def test_malformed_or_missing_vectors_are_an_error(scripted: ScriptedServer, body: bytes) -> None:
    scripted.then(Step(body=body))
    with pytest.raises(ModelFailed, match="openai:scripted-embed"):
        Requester(scripted).models.answer(Embed(texts=["one"]))


def test_nobody_there_is_an_error(scripted: ScriptedServer) -> None:
    with pytest.raises(ModelFailed, match="cannot be reached"):
        Requester(scripted, base_url="http://127.0.0.1:9/v1").generate()


def test_without_a_model_that_is_said() -> None:
    settings = Settings()
    models = Models(settings, read_environment({}, settings))
    with pytest.raises(ModelMissing, match=r"ai\.model is not set"):
        models.answer(Generate(prompt="hello"))
    with pytest.raises(ModelMissing, match=r"ai\.embed_model is not set"):
        models.answer(Embed(texts=["hello"]))


@pytest.mark.parametrize(
    ("model", "said"),
    [
        ("openai:gpt-5", "OPENAI_API_KEY is not set"),
        ("anthropic:claude", "ANTHROPIC_API_KEY is not set"),
        ("nobody:x", "no such provider"),
    ],
)
def test_without_a_key_the_variable_is_named(model: str, said: str) -> None:
    settings = Settings(ai=AiSettings(model=model))
    with pytest.raises(ModelMissing, match=said):
        Models(settings, read_environment({}, settings)).answer(Generate(prompt="hello"))


def test_a_server_of_ones_own_needs_no_key(scripted: ScriptedServer) -> None:
    settings = Settings(ai=AiSettings(model="openai:x", base_url=scripted.openai_url))
    Models(settings, read_environment({}, settings)).answer(Generate(prompt="hello"))
    assert scripted.asked[0].key == "none"


def test_no_key_goes_to_an_address_that_was_configured_for_another_provider(scripted: ScriptedServer) -> None:
    settings = Settings(ai=AiSettings(model="openai:x", base_url=scripted.openai_url, retries=0))
    environment = read_environment({"ANTHROPIC_API_KEY": KEY}, settings)
    with pytest.raises(ModelFailed):
        Models(settings, environment).answer(Generate(prompt="hello", model="anthropic:y", timeout_seconds=1))
    assert scripted.asked == []


def test_a_package_that_is_not_installed_is_named(monkeypatch: pytest.MonkeyPatch, scripted: ScriptedServer) -> None:
    monkeypatch.setitem(__import__("sys").modules, "pydantic_ai.providers.openai", None)
    with pytest.raises(ModelMissing) as missing:
        Requester(scripted).generate()
    assert "ramet[ai]" in missing.value.fix


async def _inside_a_loop(asking: Requester) -> str:
    return asking.generate().text


def test_a_program_with_a_loop_of_its_own_may_ask(scripted: ScriptedServer) -> None:
    import asyncio

    assert asyncio.run(_inside_a_loop(Requester(scripted))) == "a short summary"
