"""The power goes at any moment: with durability full every acknowledged write is there when it comes back."""

import random
import shutil
from pathlib import Path
from typing import Literal, NamedTuple

import pytest
from tests.crash.faulty_disk import open_on
from tests.crash.power import Disk
from tests.world import FakeClock, World


class Cut(NamedTuple):
    """What was acknowledged when the power went, and what the disk had then."""

    acknowledged: int
    folder: Path


class Load:
    """Messages, one after the other, with a power cut at one change in `rarity`, on average."""

    def __init__(self, place: Path, seed: int, rarity: int) -> None:
        self.place = place
        self.cuts: list[Cut] = []
        self.acknowledged = 0
        self._chance = random.Random(seed)
        self._rarity = rarity
        self._is_working = False
        self._disk = Disk(self._maybe_cut)

    def _maybe_cut(self) -> None:
        if self._is_working and self._chance.randrange(self._rarity) == 0:
            folder = self.place / f"cut-{len(self.cuts)}"
            self._disk.cut(folder, self._chance)
            self.cuts.append(Cut(self.acknowledged, folder))

    def run(self, messages: int, durability: Literal["full", "process"]) -> None:
        store = open_on(self._disk, self.place / "ramet.db", durability)
        world = World(store, FakeClock())
        store.connect().database.wal_autocheckpoint(40)
        session = world.session()
        self._is_working = True
        for number in range(messages):
            content = text(number, self._chance)
            world.call("db.messages.append", session_id=session.id, role="user", content=content)
            self.acknowledged = number + 1
        self._is_working = False
        store.close()


def text(number: int, chance: random.Random) -> str:
    return f"{number} " + "".join(chance.choices("abcdefgh ", k=chance.choice([10, 300, 9000])))


def survivors(cut: Cut) -> int:
    """How many messages are there when the power is back; the database is whole, and none is missing in between."""
    world = World(open_on(None, cut.folder / "ramet.db"), FakeClock())
    try:
        assert world.call("db.check").findings == []
        if not world.call("db.session.find").items:
            return 0
        messages = world.call("db.messages.list", session_id=1, limit=1000).items
        assert [int(message.content.split()[0]) for message in messages] == list(range(len(messages)))
        return len(messages)
    finally:
        world.store.close()
        shutil.rmtree(cut.folder)


def check_full(place: Path, seed: int, messages: int, rarity: int) -> None:
    load = Load(place, seed, rarity)
    load.run(messages, "full")
    assert len(load.cuts) > 10
    for cut in load.cuts:
        # The message under way may be there, though nobody was told so yet.
        assert survivors(cut) in (cut.acknowledged, cut.acknowledged + 1)


@pytest.mark.parametrize("seed", range(3))
def test_an_acknowledged_write_survives_a_power_cut(place: Path, seed: int) -> None:
    check_full(place, seed, messages=60, rarity=25)


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize("seed", range(100, 108))
def test_an_acknowledged_write_survives_hundreds_of_power_cuts(place: Path, seed: int) -> None:
    check_full(place, seed, messages=150, rarity=12)


def test_durability_process_may_lose_the_last_writes_but_never_the_database(place: Path) -> None:
    """It shows too that the disk above does forget."""
    load = Load(place, seed=7, rarity=25)
    load.run(60, "process")
    lost = [cut.acknowledged - survivors(cut) for cut in load.cuts]
    assert max(lost) > 0
