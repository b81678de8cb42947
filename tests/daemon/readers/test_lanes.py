"""Which read runs next: short reads do not wait for long ones, and clients take turns."""

import pytest

from ramet.daemon.readers.lanes import Lanes


def started(lanes: "Lanes[str]") -> list[str]:
    """Everything that may start now."""
    found = []
    while (read := lanes.take()) is not None:
        found.append(read)
    return found


def taken_back(lanes: "Lanes[str]") -> list[str]:
    """Everything that has to make room now."""
    found = []
    while (read := lanes.take_back()) is not None:
        found.append(read)
    return found


@pytest.fixture
def lanes() -> "Lanes[str]":
    return Lanes(fast=2, slow=2)


def test_reads_start_at_once_until_the_fast_lane_is_full(lanes: "Lanes[str]") -> None:
    for name in "abc":
        lanes.add(name, f"client {name}")
    assert started(lanes) == ["a", "b"]
    lanes.remove("a")
    assert started(lanes) == ["c"]


def test_a_client_has_one_read_at_a_time(lanes: "Lanes[str]") -> None:
    for name in "abc":
        lanes.add(name, "client", is_slow=name == "c")
    assert started(lanes) == ["a"]
    lanes.leave("a")
    assert started(lanes) == [], "its reply is still to be taken"
    lanes.remove("a")
    assert started(lanes) == ["b"]
    lanes.remove("b")
    assert started(lanes) == ["c"]


def test_a_read_whose_reply_is_being_taken_needs_no_place(lanes: "Lanes[str]") -> None:
    for number in range(10):
        lanes.add(f"read {number}", number)
    for _ in range(5):
        for read in started(lanes):
            lanes.leave(read)
    lanes.add("another", "client")
    assert started(lanes) == ["another"]


def test_a_read_that_takes_long_makes_room_for_the_next(lanes: "Lanes[str]") -> None:
    for name in "abc":
        lanes.add(name, f"client {name}")
    assert started(lanes) == ["a", "b"]
    lanes.has_taken_long("a")
    assert lanes.take_back() is None
    assert started(lanes) == ["c"]


@pytest.mark.requirement("R343")
def test_beside_eight_long_reads_a_short_one_starts_at_once(lanes: "Lanes[str]") -> None:
    stopped: list[str] = []
    for number in range(8):
        lanes.add(f"long {number}", f"client {number}")
    for _ in range(8):
        for read in started(lanes):
            lanes.has_taken_long(read)
        stopped += taken_back(lanes)
    lanes.add("short", "another client")
    stopped += taken_back(lanes)
    assert started(lanes) == ["short"]
    assert len(stopped) == len(set(stopped)) <= 6, "no read is stopped twice"


def test_a_long_read_runs_on_while_nobody_needs_its_place(lanes: "Lanes[str]") -> None:
    for name in "abcd":
        lanes.add(name, name)
        started(lanes)
        lanes.has_taken_long(name)
    assert lanes.take_back() is None
    lanes.add("short", "client")
    assert lanes.take_back() == "c"
    assert started(lanes) == ["short"]


def test_a_read_that_was_stopped_starts_again_in_the_slow_lane_and_is_not_stopped_again(lanes: "Lanes[str]") -> None:
    for name in "abcd":
        lanes.add(name, name)
        started(lanes)
        lanes.has_taken_long(name)
    lanes.add("short", "client")
    assert lanes.take_back() == "c"
    assert started(lanes) == ["short"]
    lanes.remove("a")
    assert started(lanes) == ["c"]
    lanes.has_taken_long("c")
    lanes.add("another short one", "another client")
    assert lanes.take_back() == "d"


def test_a_read_that_is_known_to_be_slow_never_takes_a_place_of_a_short_one(lanes: "Lanes[str]") -> None:
    for name in "abc":
        lanes.add(name, f"client {name}", is_slow=True)
    assert started(lanes) == ["a", "b"]
    for name in "de":
        lanes.add(name, f"client {name}")
    assert started(lanes) == ["d", "e"]
    lanes.remove("b")
    assert started(lanes) == ["c"]


def test_clients_take_turns(lanes: "Lanes[str]") -> None:
    for number in range(100):
        lanes.add(f"many {number}", "client with many")
    lanes.add("one", "client with one")
    lanes.add("another", "client with another")
    assert started(lanes) == ["many 0", "one"]
    lanes.remove("many 0")
    assert started(lanes) == ["another"]


@pytest.mark.parametrize("name", ["running", "waiting", "slow", "waiting slow", "unknown"])
def test_a_read_that_needs_no_answer_leaves_no_trace(name: str) -> None:
    lanes: Lanes[str] = Lanes(fast=1, slow=1)
    for read in ("running", "waiting"):
        lanes.add(read, f"client {read}")
    for read in ("slow", "waiting slow"):
        lanes.add(read, f"client {read}", is_slow=True)
    assert started(lanes) == ["running", "slow"]
    lanes.remove(name)
    found = started(lanes)
    for read in ("running", "slow", "waiting"):
        lanes.remove(read)
        found += started(lanes)
    assert set(found) == {"waiting", "waiting slow"} - {name}
    lanes.remove("waiting slow")
    assert len(lanes) == 0
