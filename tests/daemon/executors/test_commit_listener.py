"""What other daemons commit to a shared server is heard at once, and a lost connection is made again."""

import asyncio
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.conformance.queue_worker import add, claim, complete
from tests.world import World, open_in, open_world

from ramet.daemon.executors.commit_listener import CommitListener
from ramet.store.database.postgres.store import PostgresStore
from ramet.store.database.store import Topic

PATIENCE_SECONDS = 30.0


class AgentOutput:
    """A loop on a thread of its own, and what was heard on it."""

    def __init__(self, store: PostgresStore) -> None:
        self.loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self.loop.run_forever)
        self._thread.start()
        self.heard: list[Topic] = []
        self.listening = CommitListener(store.listen, self.heard.append, self.loop)
        self.wait(lambda: self.heard == ["work", "events"])  # as soon as it listens, everything is looked at
        self.heard.clear()

    def wait(self, fact: Callable[[], bool]) -> None:
        deadline = time.monotonic() + PATIENCE_SECONDS
        while not fact():
            assert time.monotonic() < deadline, f"heard {self.heard}"
            time.sleep(0.01)

    def close(self) -> None:
        self.listening.close()
        self.loop.call_soon_threadsafe(self.loop.stop)
        self._thread.join()
        self.loop.close()


@pytest.fixture
def world(tmp_path: Path, postgres_url: str) -> Iterator[World]:
    with open_world(tmp_path, postgres_url) as opened:
        yield opened


@pytest.fixture
def hearing(world: World) -> Iterator[AgentOutput]:
    assert isinstance(world.store, PostgresStore)
    hears = AgentOutput(world.store)
    yield hears
    hears.close()


@pytest.mark.requirement("R310")
def test_work_is_heard_of_when_it_is_committed_and_once_for_each_transaction(
    world: World, hearing: AgentOutput
) -> None:
    add(world)
    hearing.wait(lambda: hearing.heard == ["work"])
    claimed = claim(world)
    complete(world, claimed, "error", failure="transient")
    hearing.wait(lambda: hearing.heard == ["work", "work"])


def test_what_is_rolled_back_is_not_heard_of_and_what_is_no_work_neither(world: World, hearing: AgentOutput) -> None:
    add(world)
    hearing.wait(lambda: hearing.heard == ["work"])
    world.session()
    world.db.begin()
    world.sql("SELECT pg_notify('ramet_work', current_schema())")
    world.db.rollback()
    add(world, task="/shop/tasks/another")
    hearing.wait(lambda: hearing.heard == ["work", "work"])


def test_another_database_on_the_same_server_is_not_heard(world: World, hearing: AgentOutput) -> None:
    world.sql("SELECT pg_notify('ramet_work', 'another')")
    world.sql("SELECT pg_notify('ramet_events', current_schema())")
    hearing.wait(lambda: hearing.heard == ["events"])


def test_whatever_another_user_of_the_server_says_is_only_ever_a_reason_to_look(
    world: World, hearing: AgentOutput
) -> None:
    for said in ("", "x" * 7999, "'; DROP TABLE efforts; --", "\u202e\u0007", '{"topic": "work"}'):
        world.sql("SELECT pg_notify('ramet_work', :said)", said=said)
    world.sql("SELECT pg_notify('ramet_other', current_schema())")
    world.sql("SELECT pg_notify('ramet_events', current_schema())")
    hearing.wait(lambda: hearing.heard == ["events"])


def test_others_hear_of_commits_here_and_of_many_in_a_row_once(world: World, hearing: AgentOutput) -> None:
    assert isinstance(world.store, PostgresStore)
    other = AgentOutput(world.store)
    try:
        for _ in range(50):
            hearing.listening.committed()
        other.wait(lambda: "events" in other.heard)
        assert len(other.heard) <= 3
        assert hearing.heard == []
    finally:
        other.close()


def test_a_connection_that_the_server_ends_is_made_again_and_everything_looked_at(
    world: World, hearing: AgentOutput
) -> None:
    listens = "(query LIKE 'LISTEN%' OR query LIKE '%clock_timestamp%')"
    others = f"FROM pg_stat_activity WHERE {listens} AND pid <> pg_backend_pid()"
    world.sql(f"SELECT pg_terminate_backend(pid) {others.replace('%', '%%')}")
    hearing.wait(lambda: hearing.heard == ["work", "events"])
    add(world)
    hearing.wait(lambda: hearing.heard == ["work", "events", "work"])


def test_a_server_that_cannot_be_reached_is_asked_again_until_it_can(tmp_path: Path, postgres_url: str) -> None:
    store = open_in(tmp_path, postgres_url)
    assert isinstance(store, PostgresStore)
    reach, store._url = store._url, "postgresql://nobody@127.0.0.1:1/nothing"
    loop = asyncio.new_event_loop()
    heard: list[Topic] = []
    listening = CommitListener(store.listen, heard.append, loop)
    try:
        store._url = reach
        deadline = time.monotonic() + PATIENCE_SECONDS
        while len(heard) < 2 and time.monotonic() < deadline:
            loop.call_later(0.05, loop.stop)
            loop.run_forever()
        assert heard == ["work", "events"]
    finally:
        listening.close()
        store.close()
        loop.close()
