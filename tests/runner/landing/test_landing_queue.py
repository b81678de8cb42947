"""The queue of one machine, whose landers are stood in for."""

import asyncio
import threading
import time
from contextlib import suppress
from types import SimpleNamespace
from typing import Any, cast

import pytest

from ramet.protocol.landing.landings import ListLandings
from ramet.runner.landing import landing_queue
from ramet.runner.landing.landing_queue import LandingQueue

PATIENCE_SECONDS = 60


@pytest.mark.requirement("R402")
def test_a_landing_that_is_claimed_again_waits_for_its_former_lander(monkeypatch: pytest.MonkeyPatch) -> None:
    claims = [SimpleNamespace(landing=SimpleNamespace(id=1, turn=turn)) for turn in (1, 2)]
    said: list[str] = []
    has_ended = threading.Event()

    def land(_runner: object, claimed: Any, *_: object) -> None:
        said.append(f"{claimed.landing.turn} begins")
        time.sleep(0.05)  # long enough for the other one to begin, if it could
        said.append(f"{claimed.landing.turn} ends")
        if len(said) == 2 * 2:
            has_ended.set()

    async def ask(request: object) -> Any:
        if isinstance(request, ListLandings):
            return SimpleNamespace(items=list(claims))
        return claims.pop(0) if claims else SimpleNamespace(landing=None)

    async def follow() -> None:
        runner = SimpleNamespace(ask=ask, host=None, name="north")
        following = asyncio.create_task(LandingQueue(cast("Any", runner), asyncio.get_running_loop()).follow())
        assert await asyncio.to_thread(has_ended.wait, PATIENCE_SECONDS)
        following.cancel()
        with suppress(asyncio.CancelledError):
            await following

    monkeypatch.setattr(landing_queue, "land", land)
    asyncio.run(follow())
    assert said == ["1 begins", "1 ends", "2 begins", "2 ends"]
