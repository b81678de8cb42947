"""Machines whose clocks differ share a queue: only the clock of the server counts."""

from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace
from tests.crash.daemons import Home, ask
from tests.project_settings import write_trusted

from ramet.config.settings import WorkSettings
from ramet.model.instant import from_datetime

AHEAD_SECONDS = 3600
BACKOFF_SECONDS = 1
SHIM = Path(__file__).with_name("shifted_clock")
FAILS_ONCE = "test -e {mark} && echo done || {{ touch {mark}; exit 75; }}"


def start(place: Path, url: str, name: str, ahead_seconds: int) -> tuple[Home, Any]:
    """A host whose clock is ahead; its home, and its daemon."""
    inside = ("env", f"PYTHONPATH={SHIM}", f"RAMET_TEST_AHEAD={ahead_seconds}") if ahead_seconds else ()
    home = Home(place / name, url, inside)
    work = WorkSettings(host=name, backoff_seconds=BACKOFF_SECONDS, grace_seconds=1)
    home.settings = replace(home.settings, work=work)
    return home, home.start()


@pytest.mark.timeout(180)
@pytest.mark.requirement("R467")
def test_a_host_whose_clock_is_an_hour_ahead_lets_nobody_wait_for_it(place: Path, postgres_url: str) -> None:
    project = place / "shop"
    project.mkdir()
    (fast, one), (right, other) = (
        start(place, postgres_url, "fast", AHEAD_SECONDS),
        start(place, postgres_url, "right", 0),
    )
    program = ["sh", "-c", FAILS_ONCE.format(mark=place / "mark")]
    profiles = {"failing": {"driver": "command", "program": program}}
    for home in (fast, right):
        write_trusted(project, home.path, {"drivers": {"default": "failing", "profiles": profiles}})
    try:
        with one.connect() as ahead, other.connect() as connection:
            skews = [each.call("daemon.status")["clock"]["ahead_seconds"] for each in (ahead, connection)]
            assert abs(skews[0] - AHEAD_SECONDS) < 5
            assert abs(skews[1]) < 5
            for name, each in (("fast", ahead), ("right", connection)):
                each.call("db.project.upsert", {"path": str(project), "host": name})
            ahead.call("work.add", {"prompt": "go", "skill": "do", "task": str(project / "t1")})
            ahead.call("work.run", {"workers": 1, "once": True})
            ((outcome, reason),) = ask(connection, "SELECT outcome, reason FROM efforts")
            assert outcome == "success", reason
            connection.call("work.add", {"prompt": "once more", "skill": "do", "task": str(project / "t2")})
            events = connection.call("events.list", {"after": 0, "limit": 1000})["items"]
    finally:
        for home in (fast, right):
            home.close()
    at = [(each["kind"], from_datetime(datetime.fromisoformat(each["at"]))) for each in events]
    for (_, earlier), (kind, later) in pairwise(at):
        assert later >= earlier - 1000, f"{kind} is older than the event before it"
    assert abs(at[-1][1] - from_datetime(datetime.now(UTC))) < 120_000
    (requeued,) = (each for each in events if each["kind"] == "effort.requeued")
    failed_at = from_datetime(datetime.fromisoformat(requeued["at"]))
    not_before = from_datetime(datetime.fromisoformat(requeued["data"]["not_before"]))
    assert not_before < from_datetime(datetime.now(UTC)) + 10_000, "other hosts would wait for an hour"
    waits_ms = not_before - failed_at
    assert 0 < waits_ms < 10_000, f"the next attempt waits for {waits_ms / 1000} seconds"
