"""What earlier sessions add to the answer of a hook: bounded in bytes and in time, once, and counted."""

import asyncio
from typing import Any

import pytest

from ramet.config.settings import RecallSettings
from ramet.daemon.hooks.recall import RecalledHistory
from ramet.errors import RametError
from ramet.model.hooks.hook import HookAnswer, HookEvent, RecallWish
from ramet.model.memory.recollection import Recollection
from ramet.protocol.hooks.hooks import HookReply, Injected, NoteInjected, RecordHook
from ramet.protocol.memory.recall import Recall, Recalled

FOUND = [
    Recollection(place=f"s{number}:1", kind="decision", time="2026-11-02T08:00:00.000Z", text="lacquer " * 100)
    for number in range(1, 9)
]
PROMPT = RecallWish(query="mend the cart", is_start=False)


class Engine:
    """The engine's part: a hook's reply, and what is recalled."""

    def __init__(self, wish: RecallWish | None, found: list[Recollection] | RametError | None) -> None:
        self.wish = wish
        self.found = found
        self.asked: list[Recall] = []
        self.noted: list[NoteInjected] = []

    async def ask(self, request: Any, principal: str = "runner") -> Any:
        match request:
            case RecordHook():
                return HookReply(answer=HookAnswer(context="rules", recall=self.wish), session_id=7)
            case NoteInjected():
                self.noted.append(request)
                return Injected(session_id=7, tokens=request.tokens)
            case Recall():
                self.asked.append(request)
                return Recalled(text="", items=await self._find())
        return request

    async def _find(self) -> list[Recollection]:
        match self.found:
            case None:
                await asyncio.Event().wait()
                return []
            case RametError():
                raise self.found
        return self.found


def hooked(engine: Engine, settings: RecallSettings | None = None, times: int = 1) -> list[str]:
    """What an agent reads at each of some hooks."""

    async def call() -> list[str]:
        chosen = settings or RecallSettings()
        history = RecalledHistory(engine, chosen, lambda _: chosen, asyncio.get_running_loop())
        event = HookEvent(vendor="claude", moment="user_prompt", name="UserPromptSubmit", native_id="w", cwd="/shop")
        replies = [await history.ask(RecordHook(event=event)) for _ in range(times)]
        await asyncio.sleep(0)
        return [str(reply.answer.context) for reply in replies]

    return asyncio.run(call())


@pytest.mark.requirement("R455")
@pytest.mark.parametrize(
    ("wish", "most"),
    [
        (PROMPT, 1536),
        (RecallWish(query="x", is_start=True), 2048),
        (RecallWish(query="x", is_start=True, spent_bytes=1024), 1024),
    ],
)
def test_the_text_has_at_most_the_bytes_of_its_hook_and_is_counted(wish: RecallWish, most: int) -> None:
    engine = Engine(wish, FOUND)
    (context,) = hooked(engine)
    rules, _, recalled = context.partition("\n\n")
    assert rules == "rules"
    assert most // 2 < len(recalled.encode()) <= most
    (noted,) = engine.noted
    assert (noted.session_id, noted.size, noted.tokens) == (7, len(recalled.encode()), len(recalled) // 4)
    assert noted.places[0] == "s1:1"
    assert all(f"\n{place} " in recalled for place in noted.places)
    (asked,) = engine.asked
    assert (asked.session_id, asked.is_hint) == (7, True)


@pytest.mark.requirement("R455")
def test_a_place_is_given_to_a_session_once() -> None:
    engine = Engine(PROMPT, FOUND[:1])
    first, second = hooked(engine, times=2)
    assert "s1:1" in first
    assert second == "rules"
    assert len(engine.noted) == 1


@pytest.mark.requirement("R455")
@pytest.mark.parametrize(
    ("engine", "settings"),
    [
        (Engine(None, FOUND), RecallSettings()),
        (Engine(PROMPT, []), RecallSettings()),
        (Engine(PROMPT, None), RecallSettings()),
        (Engine(PROMPT, RametError("the index is damaged")), RecallSettings()),
        (Engine(PROMPT, FOUND), RecallSettings(prompt_bytes=0)),
        (Engine(RecallWish(query="x", is_start=True), FOUND), RecallSettings(start_bytes=0)),
    ],
    ids=["no wish", "nothing relevant", "too slow", "refused", "off with prompts", "off at starts"],
)
def test_the_answer_of_a_hook_is_the_same_without_anything_to_recall(engine: Engine, settings: RecallSettings) -> None:
    assert hooked(engine, settings) == ["rules"]
    assert engine.noted == []
