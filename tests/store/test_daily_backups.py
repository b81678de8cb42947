"""Backups that the daemon makes by itself: what is made, what is kept, and what is never touched."""

import asyncio
import logging
import os
import shutil
import stat
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple, cast

import pytest
from tests.store.damaged_files import count_pages, overwrite_pages
from tests.world import START_MS, FakeClock, World, open_world, places_in

from ramet.config.settings import BackupSettings
from ramet.daemon.daily_backups import DailyBackups
from ramet.errors import InvalidParams, StorageFailed, StoreError
from ramet.protocol.system.backups import BackUpDaily, DailyBackup, NamedBackup, name_backup, read_name
from ramet.store.database.sqlite.backup_file import verify
from ramet.store.database.sqlite.daily_backups import back_up_daily, choose_old
from ramet.store.database.sqlite.store import SqliteReadableStore

DAY_MS = 86_400_000


@pytest.fixture
def sqlite(tmp_path: Path) -> Iterator[World]:
    with open_world(tmp_path, None) as world:
        world.session(agent_id="ada", driver="claude", native_id="n")
        yield world


def make(world: World, folder: Path, days: float, **kept: int) -> DailyBackup:
    """The backup of so many days after the start."""
    at_ms = START_MS + int(days * DAY_MS)
    path = folder / name_backup("ramet", at_ms, "daily")
    assert isinstance(world.store, SqliteReadableStore)
    return back_up_daily(world.store, BackUpDaily(path=str(path), at_ms=at_ms, **kept))


def say(world: World, text: str) -> None:
    world.call("db.messages.append", session_id=1, role="user", content=text)


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


@pytest.mark.requirement("R464")
def test_a_backup_is_made_only_if_something_has_changed(sqlite: World, tmp_path: Path) -> None:
    first = make(sqlite, tmp_path / "b", 0)
    assert first.is_new
    assert stat.S_IMODE(Path(first.path).stat().st_mode) == 0o600
    again = make(sqlite, tmp_path / "b", 1)
    assert (again.is_new, again.path) == (False, first.path)
    assert Path(first.path).stat().st_mtime * 1000 == pytest.approx(START_MS + DAY_MS)
    say(sqlite, "more")
    assert make(sqlite, tmp_path / "b", 2).is_new
    assert len(names(tmp_path / "b")) == 2


@pytest.mark.requirement("R464")
def test_the_last_backups_of_days_and_weeks_are_kept() -> None:
    newest = datetime(2026, 3, 31, 12, tzinfo=UTC)
    every_six_hours = [newest - timedelta(hours=6 * number) for number in range(4 * 60)]
    backups = [NamedBackup(Path(str(at)), "ramet", at, "daily") for at in every_six_hours]
    old = {each.made_at for each in choose_old(backups, keep_days=3, keep_weeks=2)}
    kept = [at for at in every_six_hours if at not in old]
    assert kept == [
        *(newest - timedelta(hours=6 * number) for number in range(5)),  # of the last 24 hours, all
        datetime(2026, 3, 29, 18, tzinfo=UTC),  # the third day, and at once the end of the second week
    ]
    # A machine that was off for months: what it has is the newest that there is.
    seldom = [NamedBackup(Path(str(n)), "ramet", newest - timedelta(days=90 * n), "daily") for n in range(4)]
    assert [each.path.name for each in choose_old(seldom, keep_days=3, keep_weeks=1)] == ["3"]


@pytest.mark.requirement("R464")
def test_only_daily_backups_of_this_database_are_removed(sqlite: World, tmp_path: Path) -> None:
    folder = tmp_path / "b"
    folder.mkdir()
    theirs = [
        folder / name_backup("ramet", START_MS - 400 * DAY_MS, "before-v9"),
        folder / name_backup("ramet-0123456789ab", START_MS - 400 * DAY_MS, "daily"),
        folder / name_backup("ramet", START_MS - 500 * DAY_MS, "daily"),  # of another database, once in this place
        folder / "notes.db",
    ]
    with open_world(tmp_path / "other", None) as other:
        other.store.back_up(theirs[2])
    for path in (theirs[0], theirs[1], theirs[3]):
        path.write_bytes(b"precious")
    link = folder / name_backup("ramet", START_MS - 300 * DAY_MS, "daily")
    link.symlink_to(theirs[3])
    removed: list[str] = []
    for day in range(4):
        say(sqlite, f"day {day}")
        removed += make(sqlite, folder, day, keep_days=2, keep_weeks=0).removed
    daily = [folder / name_backup("ramet", START_MS + day * DAY_MS, "daily") for day in range(4)]
    assert removed == [str(daily[0]), str(daily[1])]
    assert names(folder) == sorted(path.name for path in [*theirs, link, *daily[2:]])


@pytest.mark.requirement("R464")
def test_a_damaged_database_pushes_out_no_backup_of_a_good_one(tmp_path: Path) -> None:
    with open_world(tmp_path, None) as world:
        world.session(agent_id="ada", driver="claude", native_id="n")
        for number in range(60):
            say(world, f"{number} " + os.urandom(2000).hex())
        good = make(world, tmp_path / "b", 0, keep_days=1, keep_weeks=0)
    database = tmp_path / "ramet.db"
    overwrite_pages(database, list(range(count_pages(database) // 2, count_pages(database))))
    store = SqliteReadableStore(database)
    target = tmp_path / "b" / name_backup("ramet", START_MS + 9 * DAY_MS, "daily")
    with pytest.raises(StoreError):
        back_up_daily(store, BackUpDaily(path=str(target), at_ms=START_MS + 9 * DAY_MS, keep_days=1, keep_weeks=0))
    assert names(tmp_path / "b") == [Path(good.path).name]
    assert verify(Path(good.path)).last_event > 0


@pytest.mark.requirement("R464")
def test_a_backup_never_fills_the_disk(sqlite: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Usage(NamedTuple):
        free: int

    monkeypatch.setattr(shutil, "disk_usage", lambda _: Usage(200_000_000))
    with pytest.raises(StorageFailed, match="no backup was made: it needs 1 MiB and leaves 190 MiB free"):
        make(sqlite, tmp_path / "b", 0)
    assert names(tmp_path / "b") == []


def test_what_a_killed_daemon_left_of_a_backup_is_removed(sqlite: World, tmp_path: Path) -> None:
    folder = tmp_path / "b"
    folder.mkdir()
    stem = name_backup("ramet", START_MS - DAY_MS, "daily")
    for end in (".partial", ".partial-journal"):
        (folder / f"{stem}{end}").write_bytes(b"half")
    others = [folder / "ramet-notes-daily.db.partial"]
    others.append(folder / (name_backup("ramet-0123456789ab", START_MS, "daily") + ".partial"))
    for path in others:
        path.write_bytes(b"somebody else's")
    made = make(sqlite, folder, 0)
    assert names(folder) == sorted([*(path.name for path in others), Path(made.path).name])


def test_only_the_daemon_chooses_where_a_daily_backup_goes(sqlite: World, tmp_path: Path) -> None:
    for name in ("ramet.db", name_backup("ramet", START_MS, "before-reset"), "../daily.db"):
        with pytest.raises(InvalidParams):
            sqlite.call("db.backup_daily", path=str(tmp_path / "b" / name), at_ms=0)
    assert not (tmp_path / "b").exists()


@pytest.mark.requirement("R464")
def test_the_daemon_makes_a_backup_when_one_is_due(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    asked: list[BackUpDaily] = []
    clock, folder = FakeClock(), tmp_path / "backups"
    folder.mkdir()

    def written(request: BackUpDaily) -> None:
        Path(request.path).touch()
        os.utime(request.path, ns=(request.at_ms * 1_000_000,) * 2)

    async def ask(request: Any) -> DailyBackup:
        asked.append(request)
        if len(asked) == 3:
            raise StorageFailed("no room")
        written(request)
        return DailyBackup(path=request.path, is_new=True, removed=[])

    backups = DailyBackups(
        cast("Any", ask), BackupSettings(every_hours=24), folder, places_in(folder, None).name, clock
    )
    for hours, made in ((0, 1), (23, 1), (2, 2), (-72, 3), (0, 3)):  # the last two: the clock was set back; it fails
        clock.advance(hours * 3600)
        asyncio.run(backups.look())
        assert len(asked) == made, hours
    assert [record.message for record in caplog.records if record.levelno == logging.WARNING] == [
        "no backup was made: no room"
    ]


@pytest.mark.requirement("R464")
def test_a_damaged_database_takes_the_place_of_no_backup(tmp_path: Path) -> None:
    asked: list[BackUpDaily] = []
    damage = [True]

    async def ask(request: Any) -> DailyBackup:
        asked.append(request)
        return DailyBackup(path=request.path, is_new=True, removed=[])

    backups = DailyBackups(
        cast("Any", ask),
        BackupSettings(every_hours=24),
        tmp_path,
        places_in(tmp_path, None).name,
        FakeClock(),
        is_damaged=lambda: bool(damage),
    )
    asyncio.run(backups.look())
    assert asked == []
    damage.clear()
    asyncio.run(backups.look())
    assert len(asked) == 1


def test_a_name_tells_of_which_database_a_backup_is() -> None:
    for name in (name_backup("ramet", START_MS, "daily"), "ramet-20260105T080000.123000Z.db"):
        named = read_name(Path(name))
        assert named is not None
        assert (named.database, named.made_at) == ("ramet", datetime(2026, 1, 5, 8, 0, 0, 123_000, tzinfo=UTC))
    for name in ("ramet.db", "ramet-20261305T080000123Z-daily.db", "ramet-x-20260105T080000123Z-daily.db", "a"):
        assert read_name(Path(name)) is None, name
