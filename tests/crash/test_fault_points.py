"""The daemon dies at each named point; the next one starts, has everything acknowledged, and repeats nothing."""

import pytest
from tests.crash.audit import Audit, check_whole
from tests.crash.daemon_deaths import count_efforts, lose_one, prepared, work_until_it_dies
from tests.crash.daemons import Home
from tests.crash.hands import Crew
from tests.store.landed_schemas import find, load

from ramet.store.database.schema.migrations import load_migrations
from ramet.store.database.schema.repairs import load_repairs

MIGRATIONS = load_migrations("sqlite")
LATEST = MIGRATIONS[-1].number
MOMENTS = sum(len(migration.statements) + 1 for migration in MIGRATIONS)
"""How often a fresh database comes to `during_migration`: before each statement, and before each commit."""
BOUNDARIES = [1, len(MIGRATIONS[0].statements) + 1, len(MIGRATIONS[0].statements) + 2, MOMENTS]


@pytest.mark.parametrize("count", [1, 13])
@pytest.mark.parametrize("point", ["before_commit", "after_commit_before_reply"])
def test_death_around_a_commit_loses_and_repeats_nothing(sqlite_home: Home, point: str, count: int) -> None:
    crew = Crew(4)
    audit = Audit(crew)
    prepared(sqlite_home, crew)
    for _ in range(2):
        work_until_it_dies(sqlite_home.start(f"{point}:{count}"), crew)
        with sqlite_home.start().connect() as connection:
            audit.compare(connection)
            audit.settle(connection)
            assert check_whole(connection, crew) == crew.acknowledged()
        sqlite_home.close()


@pytest.mark.parametrize(("point", "kept"), [("before_commit", 0), ("after_commit_before_reply", 1)])
def test_a_request_repeated_with_its_key_has_one_effect(sqlite_home: Home, point: str, kept: int) -> None:
    crew = Crew(1)
    prepared(sqlite_home, crew)
    lose_one(sqlite_home.start(f"{point}:1"), crew)
    with sqlite_home.start().connect() as connection:
        assert count_efforts(connection) == kept
        crew.repeat_pending(connection)
        crew.hands[0].pending = crew.hands[0].ledger.pop().sent
        crew.repeat_pending(connection)
        assert count_efforts(connection) == 1
        assert crew.hands[0].ledger[0].reply["ordinal"] == 1


def again(moment: int) -> int:
    """The same moment for a start that finds the migrations before it done."""
    for migration in MIGRATIONS:
        if moment <= len(migration.statements) + 1:
            return moment
        moment -= len(migration.statements) + 1
    raise ValueError(moment)


def die_while_migrating(home: Home, moment: int) -> None:
    """Twice in a row at the same moment, then a start that nobody disturbs."""
    for countdown in (moment, again(moment)):
        assert home.launch(f"during_migration:{countdown}").died_by_its_fault()
    daemon = home.start()
    crew = Crew(1)
    with daemon.connect() as connection:
        assert connection.call("daemon.status")["schema_version"] == LATEST
        crew.prepare(connection)
        crew.hands[0].step(connection)
        check_whole(connection, crew)
    daemon.kill()


@pytest.mark.parametrize("moment", BOUNDARIES)
def test_a_migration_that_was_cut_off_is_done_by_the_next_start(sqlite_home: Home, moment: int) -> None:
    die_while_migrating(sqlite_home, moment)


@pytest.mark.slow
@pytest.mark.requirement("R463")
def test_a_repair_that_is_killed_at_any_statement_is_done_by_the_next_start(sqlite_home: Home) -> None:
    """The daemon that migrates dies again and again, each time one statement later, and the last one works."""
    load(find("42209b82"), sqlite_home.path, None)
    repairs = [repair for repair in load_repairs("sqlite") if repair.name.startswith("0006")]
    for repair in repairs:
        for moment in range(1, len(repair.statements) + 2):
            assert sqlite_home.launch(f"during_migration:{moment}").died_by_its_fault()
        # The next repair starts once this one is kept, and dies at once.
        assert sqlite_home.launch(f"during_migration:{len(repair.statements) + 2}").died_by_its_fault()
    with sqlite_home.start().connect() as connection:
        assert connection.call("db.check")["findings"] == []
        assert len(connection.call("work.list")["items"]) > 3
        assert connection.call("daemon.status")["schema_version"] == LATEST


@pytest.mark.slow
@pytest.mark.parametrize("moment", range(1, MOMENTS + 1))
def test_a_migration_may_be_cut_off_at_every_statement(sqlite_home: Home, moment: int) -> None:
    die_while_migrating(sqlite_home, moment)


def test_a_migration_has_no_more_moments_than_these(sqlite_home: Home) -> None:
    sqlite_home.start(f"during_migration:{MOMENTS + 1}")


def test_death_during_recovery_after_a_kill_is_recovered_from(sqlite_home: Home) -> None:
    crew = Crew(4)
    audit = Audit(crew)
    prepared(sqlite_home, crew)
    for _ in range(2):
        work_until_it_dies(sqlite_home.start("after_commit_before_reply:40"), crew)
        for _ in range(2):
            assert sqlite_home.launch("during_recovery:1").died_by_its_fault()
        with sqlite_home.start().connect() as connection:
            audit.compare(connection)
            audit.settle(connection)
            assert check_whole(connection, crew) == crew.acknowledged()
        sqlite_home.close()
