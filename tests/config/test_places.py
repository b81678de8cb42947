"""Each database has places of its own."""

from pathlib import Path

import pytest

from ramet.config.places import find_places
from ramet.config.settings import DatabaseSettings, Settings
from ramet.errors import InvalidSetting


def sqlite(path: str | Path | None = None) -> Settings:
    return Settings(database=DatabaseSettings(path=str(path) if path else None))


def postgres(url: str) -> Settings:
    return Settings(database=DatabaseSettings(type="postgres", url=url))


@pytest.mark.requirement("R174", "R258")
def test_the_default_database_is_in_the_home(tmp_path: Path) -> None:
    places = find_places({"RAMET_HOME": str(tmp_path)}, sqlite())
    assert places.database == tmp_path / "ramet.db"
    assert places.lock_file == tmp_path / "ramet.db.lock"
    assert places.pid_file == tmp_path / "run" / "ramet.pid"
    assert places.log_file == tmp_path / "logs" / "ramet.log"
    assert places.backups == tmp_path / "backups"


@pytest.mark.requirement("R258")
def test_the_home_is_under_the_data_directory() -> None:
    assert find_places({"HOME": "/me"}, sqlite()).home == Path("/me/.local/share/ramet")
    assert find_places({"HOME": "/me", "XDG_DATA_HOME": "/d"}, sqlite()).home == Path("/d/ramet")
    assert find_places({"HOME": "/me", "RAMET_HOME": "~/r"}, sqlite()).home == Path("/me/r")


def test_a_relative_home_is_refused() -> None:
    with pytest.raises(InvalidSetting, match="RAMET_HOME"):
        find_places({"RAMET_HOME": "here"}, sqlite())


def test_another_database_has_a_socket_of_its_own(tmp_path: Path) -> None:
    environ = {"RAMET_HOME": "/r"}
    default, other, third = (find_places(environ, sqlite(p)) for p in (None, tmp_path / "a.db", tmp_path / "b.db"))
    assert len({places.socket for places in (default, other, third)}) == 3
    assert len({places.pid_file for places in (default, other, third)}) == 3
    assert other.lock_file == tmp_path / "a.db.lock"


def test_two_names_of_one_file_are_one_database(tmp_path: Path) -> None:
    (tmp_path / "link.db").symlink_to(tmp_path / "real.db")
    environ = {"RAMET_HOME": "/r"}
    assert find_places(environ, sqlite(tmp_path / "link.db")) == find_places(environ, sqlite(tmp_path / "real.db"))
    assert find_places(environ, sqlite("/r/ramet.db")) == find_places(environ, sqlite())


@pytest.mark.requirement("R175")
def test_a_server_is_the_same_database_whatever_the_password() -> None:
    environ = {"RAMET_HOME": "/r"}
    one = find_places(environ, postgres("postgres://me:old@db/ramet"))
    assert one == find_places(environ, postgres("postgresql://me:new@db/ramet"))
    assert one != find_places(environ, postgres("postgres://me:old@db/other"))
    assert one.database is None
    assert one.lock_file.parent == Path("/r/run")


def test_a_socket_path_that_is_too_long_becomes_a_short_one() -> None:
    long = find_places({"RAMET_HOME": f"/r/{'x' * 100}"}, sqlite())
    longer = find_places({"RAMET_HOME": f"/r/{'x' * 101}"}, sqlite())
    assert str(long.socket).startswith("/tmp/ramet-")
    assert len(str(long.socket)) < 104
    assert long.pid_file.parent == long.socket.parent
    assert long.socket != longer.socket
