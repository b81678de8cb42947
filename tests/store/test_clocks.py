"""The clocks: the machine's own never runs backwards, and the server's is known without asking it each time."""

import time
from collections.abc import Iterator

import pytest

from ramet import clock
from ramet.clock import SystemClock
from ramet.store.database.postgres import server_clock
from ramet.store.database.postgres.connection import connect
from ramet.store.database.postgres.server_clock import ServerClock

HOUR_MS = 3_600_000


class Hands:
    """The two clocks of a machine, which the test sets."""

    def __init__(self) -> None:
        self.steady_ns = 5_000_000_000
        self.wall_ns = 1_767_600_000_000_000_000

    def wait(self, seconds: float) -> None:
        self.steady_ns += int(seconds * 1e9)
        self.wall_ns += int(seconds * 1e9)

    def set_wall(self, seconds: float) -> None:
        self.wall_ns += int(seconds * 1e9)


@pytest.fixture
def hands(monkeypatch: pytest.MonkeyPatch) -> Iterator[Hands]:
    hands = Hands()
    for module in (clock, server_clock):
        monkeypatch.setattr(module, "steady_ns", lambda: hands.steady_ns)
    monkeypatch.setattr(time, "time_ns", lambda: hands.wall_ns)
    return hands  # type: ignore[return-value]


@pytest.mark.requirement("R467")
def test_a_machine_whose_clock_is_set_back_goes_on_forward_until_both_agree(hands: Hands) -> None:
    own = SystemClock()
    before = own.now_ms()
    hands.set_wall(-3600)
    hands.wait(60)
    assert own.now_ms() == before + 30_000, "a lease of a minute would last an hour"
    hands.wait(7200)
    assert own.now_ms() == hands.wall_ns // 1_000_000


def answer(hands: Hands, server_ahead_seconds: float, takes_seconds: float) -> int:
    """A server that reads its clock in the middle of the round trip."""
    hands.wait(takes_seconds / 2)
    said = hands.wall_ns // 1000 + int(server_ahead_seconds * 1e6)
    hands.wait(takes_seconds / 2)
    return said


@pytest.mark.requirement("R467")
def test_the_servers_clock_is_told_whatever_the_machines_own_says(hands: Hands) -> None:
    server = ServerClock()
    server.measure(lambda: answer(hands, -3600, 0.002))
    is_fresh = not server.is_stale
    assert is_fresh
    assert server.now_ms() == hands.wall_ns // 1_000_000 - HOUR_MS
    skew = server.skew()
    assert skew is not None
    assert (skew.ahead_seconds, skew.error_seconds) == (3600, 0.001)
    hands.set_wall(1800)
    assert server.now_ms() == hands.wall_ns // 1_000_000 - HOUR_MS * 3 // 2, (
        "the machine's clock was set, not the server's"
    )
    assert server.is_stale
    hands.set_wall(-1800)
    hands.wait(301)
    assert server.is_stale


@pytest.mark.requirement("R467")
def test_a_slow_answer_does_not_make_a_good_measurement_worse_but_shows_that_the_server_was_set(hands: Hands) -> None:
    server = ServerClock()
    server.measure(lambda: answer(hands, 0, 0.002))
    server.measure(lambda: answer(hands, 0.8, 2))
    skew = server.skew()
    assert skew is not None
    assert skew.ahead_seconds == 0
    server.measure(lambda: answer(hands, 60, 2))
    skew = server.skew()
    assert skew is not None
    assert skew.ahead_seconds == -60


@pytest.mark.requirement("R467")
def test_a_connection_measures_the_clock_of_its_server(postgres_url: str) -> None:
    server = ServerClock()
    connection = connect(postgres_url, clock=server)
    try:
        skew = server.skew()
        assert skew is not None
        assert abs(skew.ahead_seconds) <= skew.error_seconds + 0.01, "both are on this machine"
        connection.begin()
        before = connection.database.execute("SELECT clock_timestamp()").fetchall()[0][0].timestamp() * 1000
        assert abs(server.now_ms() - before) < 1000 * skew.error_seconds + 500
    finally:
        connection.close()
