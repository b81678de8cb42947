"""The disk fails at each write and flush in turn: the error says so, and what was acknowledged is there."""

import shutil
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from tests.crash.faulty_disk import FAULTS, Fault, FaultyDisk, open_on
from tests.crash.incompressible_text import incompressible
from tests.world import FakeClock, World

from ramet.errors import StorageFailed, StoreError

LONGEST = 2000
"""More changes than the work below ever makes."""


class Work:
    """Some of everything: small rows, contents larger than a page, and what was acknowledged of it."""

    def __init__(self) -> None:
        self.efforts: list[int] = []
        self.messages: list[str] = []
        self.refused: str | None = None

    def run(self, world: World) -> None:
        task = world.task()
        for turn in range(3):
            effort = world.effort("plan")
            self.efforts.append(effort.id)
            session = world.call("db.session.start", task_id=task, effort_id=effort.id, agent_id=f"of {effort.id}")
            for content in (f"short {turn}", incompressible(turn)):
                self.refused = content
                world.call("db.messages.append", session_id=session.id, role="user", content=content)
                self.messages.append(content)
                self.refused = None
            world.call("db.effort.phase", effort_id=effort.id, label="1")
            world.call("db.effort.finish", effort_id=effort.id)

    def check(self, path: Path) -> None:
        """Open the database on a sound disk and compare."""
        world = World(open_on(None, path), FakeClock())
        try:
            assert world.call("db.check").findings == []
            efforts = [row[0] for row in world.sql("SELECT id FROM efforts ORDER BY id")]
            assert efforts[: len(self.efforts)] == self.efforts
            assert len(efforts) <= len(self.efforts) + 1
            messages = list(read_messages(world))
            assert messages[: len(self.messages)] == self.messages
            assert messages[len(self.messages) :] in ([], [self.refused])
            world.effort()
        finally:
            world.store.close()


def read_messages(world: World) -> Iterator[str]:
    for (session_id,) in world.sql("SELECT id FROM sessions ORDER BY id"):
        for message in world.call("db.messages.list", session_id=session_id).items:
            yield message.content


def work_on(disk: FaultyDisk, path: Path) -> Work:
    """Open, work and close on a disk that fails on the way; every failure must be a typed one of the store's."""
    work = Work()
    with suppress(StoreError):
        store = open_on(disk, path)
        try:
            store.connect().database.wal_autocheckpoint(12)
            work.run(World(store, FakeClock()))
        finally:
            store.close()
    return work


def fail_at_every(fault: Fault, place: Path, moments: range, *, lasting: bool) -> int:
    """How often the disk failed before the work had nothing more to ask of it."""
    disk = FaultyDisk()
    for count, countdown in enumerate(moments):
        path = place / str(countdown) / "ramet.db"
        disk.arm(fault, countdown, lasting=lasting)
        work = work_on(disk, path)
        failures = disk.failures
        disk.mend()
        if not failures:
            return count
        work.check(path)
        shutil.rmtree(path.parent)
    raise AssertionError("the work never ends")


SOME: dict[Fault, range] = {
    "short write": range(1, LONGEST, 37),
    "io error": range(2, LONGEST, 37),
    "disk full": range(3, LONGEST, 37),
    "sync error": range(1, LONGEST, 3),
    "read error": range(1, LONGEST, 17),
}
ALL: dict[Fault, range] = {
    # A third of the writes each: between them, every one.
    "short write": range(1, LONGEST, 3),
    "io error": range(2, LONGEST, 3),
    "disk full": range(3, LONGEST, 3),
    "sync error": range(1, LONGEST),
    "read error": range(1, LONGEST),
}


@pytest.mark.parametrize("lasting", [False, True], ids=["once", "lasting"])
@pytest.mark.parametrize("fault", SOME)
def test_a_failing_disk_loses_nothing_that_was_acknowledged(place: Path, fault: Fault, *, lasting: bool) -> None:
    assert fail_at_every(fault, place, SOME[fault], lasting=lasting) > 2


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize("lasting", [False, True], ids=["once", "lasting"])
@pytest.mark.parametrize("fault", ALL)
def test_a_disk_that_fails_at_any_moment_loses_nothing(place: Path, fault: Fault, *, lasting: bool) -> None:
    assert fail_at_every(fault, place, ALL[fault], lasting=lasting) > 20


@pytest.mark.parametrize("fault", FAULTS)
def test_the_error_names_the_disk_and_what_to_do(place: Path, fault: Fault) -> None:
    disk = FaultyDisk()
    world = World(open_on(disk, place / "ramet.db"), FakeClock())
    disk.arm(fault, 1)
    with pytest.raises(StorageFailed, match="disk") as failed:
        world.call("db.project.upsert", path="/p")
    assert "repair the disk" in failed.value.fix
    assert world.call("db.project.list").items == []
    world.call("db.project.upsert", path="/p")
    world.store.close()


def test_a_file_whose_making_was_cut_off_opens(place: Path) -> None:
    """Its first page is written with a journal beside it, which a connection that only reads cannot undo."""
    disk = FaultyDisk()
    journals = 0
    for countdown in range(1, 15):
        path = place / str(countdown) / "ramet.db"
        disk.arm("io error", countdown, lasting=True)
        with suppress(StoreError):
            open_on(disk, path).close()
        disk.mend()
        journals += path.with_name("ramet.db-journal").exists()
        open_on(None, path).close()
    assert journals > 0


def test_a_checkpoint_that_cannot_truncate_is_a_typed_error(place: Path) -> None:
    disk = FaultyDisk()
    world = World(open_on(disk, place / "ramet.db"), FakeClock())
    world.call("db.project.upsert", path="/p")
    disk.arm("truncate error", 1)
    with pytest.raises(StorageFailed):
        world.store.close()
    again = World(open_on(None, place / "ramet.db"), FakeClock())
    assert [project.path for project in again.call("db.project.list").items] == ["/p"]
    again.store.close()
