"""A database that another person made: nothing in it runs, others cannot read it, and it costs what it says."""

import stat
from pathlib import Path

import apsw
import pytest
import zstandard
from tests.world import open_world

from ramet.errors import DatabaseForeign
from ramet.store.database.blobs import ZSTD, Codec
from ramet.store.database.schema.foreign import made_by
from ramet.store.database.schema.migrations import load_migrations

_ATTACKS = {
    "trigger steal": "CREATE TRIGGER steal AFTER INSERT ON messages BEGIN DELETE FROM efforts; END",
    "view innocent": "CREATE VIEW innocent AS SELECT 1",
    "table searched": "CREATE VIRTUAL TABLE searched USING fts5(text)",
}


def tamper(folder: Path, *statements: str) -> bytes:
    """What somebody does to the file; its content afterwards."""
    with open_world(folder, None):
        pass
    database = apsw.Connection(str(folder / "ramet.db"))
    for statement in statements:
        database.execute(statement)
    database.close()
    return (folder / "ramet.db").read_bytes()


def refuse(folder: Path) -> DatabaseForeign:
    with pytest.raises(DatabaseForeign) as refusal, open_world(folder, None):
        pass
    return refusal.value


@pytest.mark.requirement("R332")
@pytest.mark.parametrize("named", _ATTACKS)
def test_a_foreign_trigger_or_view_is_refused_by_name_before_anything_is_written(tmp_path: Path, named: str) -> None:
    before = tamper(tmp_path, _ATTACKS[named])
    refusal = refuse(tmp_path)
    assert named in refusal.message
    assert "DROP" in refusal.fix
    assert (tmp_path / "ramet.db").read_bytes() == before


@pytest.mark.requirement("R332")
@pytest.mark.parametrize("instead", ["CREATE VIEW fleet_status AS SELECT 1", "SELECT 1"])
def test_a_view_of_ours_that_was_changed_or_removed_is_refused_by_name(tmp_path: Path, instead: str) -> None:
    before = tamper(tmp_path, "DROP VIEW fleet_status", instead)
    assert "fleet_status" in refuse(tmp_path).message
    assert (tmp_path / "ramet.db").read_bytes() == before


@pytest.mark.requirement("R332")
def test_a_trigger_on_a_server_is_refused_by_name_and_a_view_for_people_is_not(
    postgres_url: str, tmp_path: Path
) -> None:
    with open_world(tmp_path, postgres_url) as world:
        world.sql("CREATE VIEW dashboard AS SELECT 1")
        world.db.commit()
    with open_world(tmp_path, postgres_url) as world:
        world.sql("CREATE FUNCTION steal() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END'")
        world.sql("CREATE TRIGGER steal AFTER INSERT ON messages EXECUTE FUNCTION steal()")
        world.db.commit()
    with pytest.raises(DatabaseForeign, match="trigger steal"), open_world(tmp_path, postgres_url):
        pass


def test_a_function_on_a_server_stands_in_for_none_of_the_system_s(postgres_url: str, tmp_path: Path) -> None:
    with open_world(tmp_path, postgres_url) as world:
        for signature in ("now()", "length(text)", "min(bigint)", "current_schema()", "pg_notify(text, text)"):
            world.sql(f"CREATE FUNCTION {signature} RETURNS bigint LANGUAGE plpgsql AS 'BEGIN RAISE ''shadow''; END'")
        world.sql("CREATE FUNCTION same(text, text) RETURNS boolean LANGUAGE sql AS 'SELECT true'")
        world.sql("CREATE OPERATOR = (LEFTARG = text, RIGHTARG = text, FUNCTION = same)")
        session = world.session()
        assert world.call("db.session.get", session_id=session.id).id == session.id
        assert world.call("db.task.find", query="nowhere").items == []


@pytest.mark.requirement("R332")
def test_what_the_migrations_make_is_known_at_every_version(tmp_path: Path) -> None:
    database = apsw.Connection(str(tmp_path / "bare.db"))
    migrations = load_migrations("sqlite")
    for count, migration in enumerate(migrations, 1):
        for statement in migration.statements:
            database.execute(statement)
        rows = database.execute("SELECT type, name, sql FROM sqlite_schema WHERE type IN ('trigger', 'view')")
        assert {(kind, name): text for kind, name, text in rows} == made_by(migrations[:count])


@pytest.mark.requirement("R332")
def test_a_file_that_others_could_read_is_for_the_user_alone_once_it_is_open(tmp_path: Path) -> None:
    with open_world(tmp_path, None) as world:
        world.session()
        files = {suffix: (tmp_path / f"ramet.db{suffix}").read_bytes() for suffix in ("", "-wal", "-shm")}
    for suffix, content in files.items():
        file = tmp_path / f"ramet.db{suffix}"
        file.write_bytes(content)
        file.chmod(0o644)
    with open_world(tmp_path, None):
        modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in tmp_path.glob("ramet.db*")}
    assert set(modes.values()) == {0o600}
    assert "ramet.db-wal" in modes


@pytest.mark.requirement("R332")
@pytest.mark.parametrize("is_named", [True, False])
def test_a_blob_unpacks_to_no_more_than_its_row_says(is_named: bool) -> None:
    parameters = zstandard.ZstdCompressionParameters(compression_level=1, write_content_size=is_named)
    bomb = zstandard.ZstdCompressor(compression_params=parameters).compress(bytes(64 * 1024 * 1024))
    assert len(bomb) < 10_000
    with pytest.raises(ValueError, match="damaged blob"):
        Codec().unpack(ZSTD, 17, bomb)
