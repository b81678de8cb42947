"""`ramet trust`, and what a cloned repository can do without it."""

import json
import sqlite3
from contextlib import closing

import pytest
from tests.cli.command_line import CommandLine

_OWNED = "drivers: {profiles: {claude: {program: [sh, -c, 'touch $RAMET_HOME/owned; echo 1.0', sh]}}}"


@pytest.fixture
def clone(shop: CommandLine) -> CommandLine:
    """A cloned repository whose file names a program."""
    (shop.cwd / "ramet.yaml").write_text(_OWNED)
    return shop


@pytest.mark.requirement("R327")
@pytest.mark.parametrize("words", [("drivers",), ("doctor",), ("ps",), ("config",), ("work", "--once")])
def test_nothing_of_a_cloned_file_runs_and_it_is_said_once(clone: CommandLine, words: tuple[str, ...]) -> None:
    clone("add", "Do it", "--driver", "claude")
    done = clone(*words)
    assert not list(clone.home.rglob("owned"))
    assert done.stderr.count("cannot set drivers.profiles") == 1
    assert "ramet trust" in done.stderr


@pytest.mark.requirement("R327")
def test_config_and_doctor_name_what_is_ignored(clone: CommandLine) -> None:
    shown = json.loads(clone("config", "drivers.profiles", "--json").stdout)
    assert (shown["value"], shown["key_class"], shown["source"]) == ({}, "owner", "default")
    assert shown["ignored"] == "only you can set it"
    assert "ignored       drivers.profiles: only you can set it" in clone("config").stdout
    (finding,) = [row for row in json.loads(clone("doctor", "--json").stdout)["items"] if row["name"] == "config"]
    assert (finding["result"], "drivers.profiles" in finding["detail"]) == ("warn", True)


@pytest.mark.requirement("R328")
def test_trust_shows_what_the_file_could_do_and_asks(clone: CommandLine) -> None:
    refused = clone("trust")
    assert refused.returncode == 2
    assert "drivers.profiles" in refused.stdout
    assert "touch $RAMET_HOME/owned" in refused.stdout
    assert "give --yes" in refused.stderr
    assert clone.json("trust", "--list")["items"] == []


@pytest.mark.requirement("R328")
def test_a_trusted_file_counts_until_it_changes_or_is_revoked(clone: CommandLine) -> None:
    file = clone.cwd / "ramet.yaml"
    clone("trust", "--yes")
    clone("drivers")
    assert list(clone.home.rglob("owned"))
    assert [row["path"] for row in json.loads(clone("trust", "--list", "--json").stdout)["items"]] == [str(file)]
    file.write_text(f"{_OWNED}\n# changed")
    assert "changed: no longer trusted" in clone("trust", "--list").stdout
    assert "cannot set drivers.profiles" in clone("ps").stderr
    assert "is no longer trusted" in clone("trust", "--revoke").stdout
    assert "was not trusted" in clone("trust", "--revoke", str(file)).stdout


@pytest.mark.requirement("R328")
@pytest.mark.parametrize("variable", ["RAMET_TOKEN", "RAMET_SESSION"])
def test_an_agent_cannot_trust_a_file(clone: CommandLine, variable: str) -> None:
    done = clone("trust", "--yes", environ={variable: "7"})
    assert (done.returncode, "an agent cannot" in done.stderr) == (2, True)
    assert json.loads(clone("trust", "--list", "--json").stdout)["items"] == []


def test_a_place_without_a_file_is_an_error_with_a_fix(offline: CommandLine) -> None:
    done = offline("trust", "--yes")
    assert (done.returncode, "there is no ramet.yaml in" in done.stderr) == (2, True)


@pytest.mark.requirement("R329")
def test_a_daemon_that_a_clone_starts_is_the_owner_s(clone: CommandLine) -> None:
    (clone.cwd / "ramet.yaml").write_text("redaction: {enabled: false}\nspawn: {depth: 50}")
    clone("daemon", "start")
    secret = "ghp_" + "a1B2" * 9
    clone("history", "commit", "main", f"the token is {secret}")
    assert secret not in clone("history", "show", "main").stdout


def test_a_faulty_project_file_stops_only_what_needs_it(shop: CommandLine) -> None:
    (shop.cwd / "ramet.yaml").write_text("work: {timeout")
    done = shop("ps")
    assert (done.returncode, "its settings are ignored" in done.stderr) == (0, True)
    assert shop("work", "--once").returncode == 2
    assert shop("config").returncode == 2


def test_another_user_s_file_above_is_named_by_config(shop: CommandLine) -> None:
    (shop.cwd.parent / "ramet.yaml").write_text("runs: {review_rounds: 9}")
    assert "is above the project" in shop("config").stdout
    assert shop("ps").stderr == ""


@pytest.mark.requirement("R332")
def test_a_database_that_came_with_a_clone_is_not_opened_until_it_is_trusted(shop: CommandLine) -> None:
    theirs, file = shop.home / "theirs.db", shop.cwd / ".cache" / "ramet.db"
    attacker = ("--set", f"database.path={theirs}")
    shop.ok(*attacker, "add", "touch $HOME/owned", "--driver", "shell")
    shop.ok(*attacker, "daemon", "stop")
    file.parent.mkdir()
    file.write_bytes(theirs.read_bytes())
    here = ("--set", f"database.path={file}")
    done = shop(*here, "work", "--once")
    assert (done.returncode, f"ramet trust {file}" in done.stderr) == (5, True), done.stderr
    assert file.read_bytes() == theirs.read_bytes()
    assert "run the efforts in its queue" in shop.ok("trust", str(file), "--yes")
    assert len(shop.json(*here, "queue")["items"]) == 1
    shop.ok(*here, "daemon", "stop")
    with closing(sqlite3.connect(theirs)) as database:
        database.execute("UPDATE efforts SET prompt = 'touch $HOME/owned twice'")
        database.commit()
        database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    file.write_bytes(theirs.read_bytes())
    done = shop(*here, "ps")
    assert (done.returncode, "was replaced" in done.stderr) == (5, True), done.stderr
    assert "changed: no longer trusted" in shop.ok("trust", "--list")
    assert "is no longer trusted" in shop.ok("trust", "--revoke", str(file))
