"""What a database records of its migrations: which texts were applied, and whether its schema is what they make."""

import shutil
from pathlib import Path
from typing import Any

import pytest
from tests.store.landed_schemas import change, count_rows, find, load, read
from tests.world import DATABASE_NAME, World, open_in, open_world

from ramet.errors import DatabaseForeign, MigrationFailed
from ramet.store.database.schema.hashes import superseded_hashes
from ramet.store.database.schema.migrations import load_migrations

OLD = "f2414985"
"""A commit of version 6 whose texts are the present ones."""


def hashes(world: World) -> set[Any]:
    return {digest for (digest,) in world.sql("SELECT hash FROM schema_migrations")}


def ours(world: World) -> set[str]:
    return {step.hash for step in load_migrations("sqlite" if world.is_sqlite else "postgres")}


@pytest.mark.requirement("R463")
def test_a_new_database_records_the_hash_of_each_text(tmp_path: Path, database_url: str | None) -> None:
    with open_world(tmp_path, database_url) as world:
        assert hashes(world) == ours(world)


@pytest.mark.requirement("R463")
@pytest.mark.parametrize(
    ("statement", "problem"),
    [
        ("UPDATE schema_migrations SET name = 'walks' WHERE number = 6", "it is called walks, and ours is runs"),
        ("DELETE FROM schema_migrations WHERE number = 6", "it is missing from the records"),
        (f"UPDATE schema_migrations SET hash = '{'0' * 64}' WHERE number = 6", "the hash of its text is 000000000000"),
    ],
)
def test_a_database_with_another_migration_is_refused_by_its_number_and_left_alone(
    tmp_path: Path, database_url: str | None, statement: str, problem: str
) -> None:
    with open_world(tmp_path, database_url) as world:
        world.sql(statement)
        before = world.dump()["schema_migrations"]
    with pytest.raises(DatabaseForeign, match="migration 6 of this database is not ours") as refusal:
        open_in(tmp_path, database_url)
    assert problem in refusal.value.message
    assert "open it with the build of Ramet that made it" in refusal.value.fix
    assert not (tmp_path / "backups").exists()
    rows = read(tmp_path, database_url, "SELECT * FROM schema_migrations")
    assert sorted(repr(tuple(row.values())) for row in rows) == before


@pytest.mark.requirement("R463")
def test_another_migration_is_named_also_if_it_is_older_than_the_hashes(
    tmp_path: Path, database_url: str | None
) -> None:
    load(find(OLD), tmp_path, database_url)
    change(tmp_path, database_url, "UPDATE schema_migrations SET name = 'queues' WHERE number = 5")
    with pytest.raises(DatabaseForeign, match="migration 5 of this database is not ours: it is called queues"):
        open_in(tmp_path, database_url)
    assert not (tmp_path / "backups").exists()


@pytest.mark.requirement("R463")
def test_the_record_of_a_superseded_text_is_no_reason_to_refuse_a_database(
    tmp_path: Path, database_url: str | None
) -> None:
    with open_world(tmp_path, database_url) as world:
        (digest,) = superseded_hashes(6, "sqlite" if world.is_sqlite else "postgres")
        world.sql("UPDATE schema_migrations SET hash = :hash WHERE number = 6", hash=digest)
    with open_world(tmp_path, database_url) as world:
        assert hashes(world) == ours(world)


@pytest.mark.requirement("R463")
def test_a_schema_that_was_changed_by_hand_is_named_and_proved_once_it_is_put_right(
    tmp_path: Path, database_url: str | None
) -> None:
    load(find(OLD), tmp_path, database_url)
    change(tmp_path, database_url, "DROP INDEX idx_efforts_owner", "ALTER TABLE parked ADD COLUMN note TEXT")
    differences = [
        "the column parked.note is not Ramet's: TEXT",
        "the index idx_efforts_owner is missing: CREATE INDEX idx_efforts_owner ON efforts",
    ]
    with open_world(tmp_path, database_url) as world:
        assert len(world.store.migrated.differences) == 2
        found = world.call("db.check")
        assert [finding.check for finding in found.findings] == ["schema", "schema"]
        for difference, finding in zip(differences, sorted(each.detail for each in found.findings), strict=True):
            assert finding.lower().startswith(difference.lower())
        assert None in hashes(world)
    index = "CREATE INDEX idx_efforts_owner ON efforts (lease_owner) WHERE lease_owner IS NOT NULL"
    change(tmp_path, database_url, "ALTER TABLE parked DROP COLUMN note", index)
    with open_world(tmp_path, database_url) as world:
        assert hashes(world) == ours(world)
        assert world.call("db.check").passed


@pytest.mark.requirement("R463", "R315")
@pytest.mark.parametrize("commit", ["83891017", "42209b82"])
def test_the_backup_before_a_migration_has_what_the_old_schema_had(
    commit: str, tmp_path: Path, database_url: str | None
) -> None:
    schema = find(commit)
    load(schema, tmp_path, database_url)
    store = open_in(tmp_path, database_url)
    store.close()
    restored = tmp_path / "restored"
    restored.mkdir()
    shutil.copy(str(store.migrated.backup), restored / DATABASE_NAME)
    if commit == "83891017":
        assert read(restored, None, "SELECT revision FROM annotations")[0]["revision"] >= 1
    with open_world(restored, None) as world:
        assert world.store.migrated.before == schema["version"]
        assert world.store.schema_differences() == []
        assert count_rows(world, list(schema["rows"])) == schema["rows"]
        assert world.call("db.check").findings == []


@pytest.mark.requirement("R463")
def test_a_backup_that_fails_leaves_the_database_as_it_was_and_no_file(
    tmp_path: Path, database_url: str | None
) -> None:
    schema = find(OLD)
    load(schema, tmp_path, database_url)
    if database_url is None:
        (tmp_path / "backups").write_text("This is no directory.")
    else:  # a value that the file cannot have: the export fails when a part of it is written
        change(
            tmp_path,
            database_url,
            "INSERT INTO parked (driver, reason, failures) VALUES ('claude', 'limit', 1)",
            "ALTER TABLE parked ALTER failures DROP DEFAULT",
            "ALTER TABLE parked ALTER failures TYPE TEXT USING 'many'",
        )
    with pytest.raises(MigrationFailed, match="the backup that comes before a migration failed") as failure:
        open_in(tmp_path, database_url)
    assert "ramet db migrate" in failure.value.fix
    assert not list(tmp_path.rglob("*.partial*"))
    rows = read(tmp_path, database_url, "SELECT max(number) AS number FROM schema_migrations")
    assert rows == [{"number": schema["version"]}]
