"""A real daemon under what would fill its memory or stop it: hooks are answered meanwhile, and the memory returns.

Elapsed times belong to `python -m benchmarks pressure`. Here only the order of events, counts and sizes are compared,
which a busy machine does not change.
"""

import json
import select
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from benchmarks.daemons import make_sessions, places_in, running
from benchmarks.hooks_load import payloads
from benchmarks.large_database import LONG
from benchmarks.pressure import TRIALS, Ground, Pace, Result, run_trial
from benchmarks.pressure_attacks import Client

from ramet.client.connection import Connection
from ramet.config.settings import Places

_SCALE = 0.15
"""150,000 messages, and a branch of 24,000 commits, whose compile is as long as a reply may be."""
_PACE = Pace(quiet_seconds=0.5, beside_seconds=3.0, longest_seconds=30.0)
_PEAK_MB = 300
_SEVERAL_READERS_MB = 700
"""Three clients ask for the largest possible replies: a busy machine makes all three at the same time, each in a reader
that may take 192 MiB.
"""
_AFTER_MB = 120
_FEW = 5
"""A daemon that does not answer meanwhile answers at most one or two."""

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def ground(tmp_path_factory: pytest.TempPathFactory) -> Ground:
    return Ground(tmp_path_factory.mktemp("g"), scale=_SCALE)


@pytest.fixture
def places(ground: Ground) -> Iterator[Places]:
    places = places_in(ground.home("large"))
    with running(places):
        yield places


@pytest.mark.requirement("R447")
def test_hooks_and_appends_are_answered_while_a_long_read_runs(ground: Ground, places: Places) -> None:
    (session,) = make_sessions(places.socket, 1)
    reading, told = Client(str(places.socket), Counter()), 0
    with closing(reading), Connection(places.socket, 60) as connection:
        _start_agent(connection, ground.project)
        reading.send("history.compile", branch=LONG)
        while not select.select([reading], [], [], 0)[0]:
            _call_hook(connection, ground.project, told)
            connection.call("db.messages.append", {"session_id": session, "role": "user", "content": f"{told}"})
            told += 1
        assert told >= _FEW
        assert b'"result"' in reading.read()[:100]


def _start_agent(connection: Connection, project: Path) -> None:
    for payload in payloads(project, "pressed")[:2]:
        connection.call("hooks.event", {"vendor": "claude", "pid": 1, "payload": payload})


def _call_hook(connection: Connection, project: Path, number: int) -> None:
    said = json.loads(payloads(project, "pressed")[2]) | {"tool_use_id": f"call{number}"}
    connection.call("hooks.event", {"vendor": "claude", "pid": 1, "payload": json.dumps(said)})


def _press(ground: Ground, name: str) -> Result:
    (trial,) = (trial for trial in TRIALS if trial.name == name)
    return run_trial(ground, trial, _PACE)


@pytest.mark.requirement("R343")
@pytest.mark.parametrize("name", ["zeroblob", "wide rows", "unfinished lines", "unread"])
def test_memory_stays_bounded_and_returns(ground: Ground, name: str) -> None:
    result = _press(ground, name)
    assert result.details["peak_mb"] <= (_SEVERAL_READERS_MB if name == "unread" else _PEAK_MB)
    assert result.details["daemon_peak_mb"] <= _PEAK_MB
    assert result.details["after_mb"] <= _AFTER_MB
    assert result.refused == 0


@pytest.mark.requirement("R343")
def test_a_short_query_is_answered_while_eight_long_ones_run(ground: Ground) -> None:
    result = _press(ground, "long queries")
    assert result.details["short queries answered"] >= 1
    assert result.details["after_mb"] <= _AFTER_MB
    assert result.refused == 0
