"""A damaged database, as a person meets it: what is said, what still works, and how to continue."""

import json
import os
from pathlib import Path

import apsw
import pytest
from tests.cli.command_line import CommandLine
from tests.store.damage import DAMAGE, PAGE, furnish, overwrite, page_of


@pytest.fixture
def file(ramet: CommandLine) -> Path:
    """A database that no daemon has opened yet."""
    return furnish(Path(ramet.environ["RAMET_HOME"]))


@pytest.mark.requirement("R464")
@pytest.mark.parametrize("name", ["a leaf of random bytes", "an inner page", "a page of the schema", "the first page"])
def test_check_and_doctor_say_what_is_damaged(ramet: CommandLine, file: Path, name: str) -> None:
    DAMAGE[name](file)
    checked = ramet("db", "check", "--json")
    assert (checked.returncode, checked.stderr) == (1, "")
    assert json.loads(checked.stdout)["findings"]
    examined = ramet("doctor", "--json")
    failed = {finding["name"] for finding in json.loads(examined.stdout)["items"] if finding["result"] == "fail"}
    assert (examined.returncode, failed) == (1, {"database"})


@pytest.mark.requirement("R464")
def test_the_first_sign_of_damage_makes_the_database_read_only(ramet: CommandLine, file: Path) -> None:
    whole = file.read_bytes()
    overwrite(file, page_of(file, "leaf", "blobs"), os.urandom(PAGE))
    ramet.ok("project", "add", ".")
    assert ramet("db", "check").returncode == 1
    refused = ramet("project", "remove", ".", "--json")
    error = json.loads(refused.stderr)["error"]
    assert (refused.returncode, error["code"]) == (5, "database_damaged")
    assert "`ramet db check`" in error["fix"]
    assert [item["path"] for item in ramet.json("project", "list")["items"]][-1:] == [str(ramet.cwd)]
    assert "the database is read-only since" in ramet.ok("status")
    assert "the database is read-only since" in ramet.ok("ps")
    assert [item["kind"] for item in ramet.json("notices")["items"]] == ["damaged"]
    assert [item["kind"] for item in ramet.json("events", "--kind", "database.damaged")["items"]] == [
        "database.damaged"
    ]
    ramet.ok("daemon", "stop")
    assert ramet("project", "remove", ".").returncode == 5, "a new daemon is read-only too"
    ramet.ok("daemon", "stop")
    file.write_bytes(whole)
    assert "Ramet writes to it again" in ramet("db", "check").stderr
    ramet.ok("project", "add", ".")


@pytest.mark.requirement("R464")
def test_a_person_can_accept_the_damage(ramet: CommandLine, file: Path) -> None:
    overwrite(file, page_of(file, "leaf", "blobs"), os.urandom(PAGE))
    assert ramet("db", "check").returncode == 1
    assert ramet("project", "add", ".").returncode == 5
    ramet.ok("db", "accept", "--yes")
    ramet.ok("project", "add", ".")


@pytest.mark.requirement("R464")
def test_a_damaged_database_is_checked_also_if_it_waits_for_a_migration(ramet: CommandLine, file: Path) -> None:
    database = apsw.Connection(str(file))
    database.execute("DELETE FROM schema_migrations WHERE number = (SELECT max(number) FROM schema_migrations)")
    database.close()
    overwrite(file, page_of(file, "leaf", "blobs"), os.urandom(PAGE))
    assert ramet("status").returncode == 5
    checked = ramet("db", "check", "--json")
    assert (checked.returncode, checked.stderr) == (1, "")
    assert json.loads(checked.stdout)["findings"]
    assert ramet("db", "salvage", str(file)).returncode == 2
