"""`ramet config` shows every key, its value and where it comes from."""

import json

import pytest
from tests.cli.command_line import CommandLine
from tests.docs.pages import ROOT, blocks

from ramet.config.keys import KEYS

DRIVERS_PAGE = ROOT / "docs" / "drivers.md"


@pytest.mark.requirement("R298")
def test_every_key_is_shown_with_its_value_default_and_source(offline: CommandLine) -> None:
    (offline.cwd / "ramet.yaml").write_text("work: {prompt_max_tokens: 700}")
    items = {item["key"]: item for item in offline.json("config")["items"]}
    assert list(items) == list(KEYS)
    shown = items["work.prompt_max_tokens"]
    assert (shown["value"], shown["default"], shown["source"]) == (700, 50_000, str(offline.cwd / "ramet.yaml"))
    assert (shown["key_class"], items["database.path"]["key_class"]) == ("narrows", "owner")


@pytest.mark.requirement("R298")
def test_the_table_has_the_same_for_people(offline: CommandLine) -> None:
    text = offline.ok("--set", "daemon.drain_seconds=3", "config")
    lines = {line.split()[0]: line.split()[1:] for line in text.splitlines() if line}
    assert lines["KEY"] == ["VALUE", "DEFAULT", "CLASS", "SOURCE"]
    assert lines["daemon.drain_seconds"] == ["3", "10", "owner", "flag"]
    assert set(KEYS) <= set(lines)


@pytest.mark.requirement("R176", "R296")
def test_a_password_is_never_shown(offline: CommandLine) -> None:
    environ = {"RAMET_DATABASE_TYPE": "postgres", "RAMET_DATABASE_URL": "postgres://me:hunter2@127.0.0.1:9/r"}
    for arguments in (("config",), ("config", "database.url"), ("config", "--json"), ("ps",), ("doctor",)):
        done = offline(*arguments, environ=environ)
        assert "hunter2" not in done.stdout + done.stderr
    assert "postgres://me:***@127.0.0.1:9/r" in offline("config", environ=environ).stdout


def test_one_key_is_told_in_full(offline: CommandLine) -> None:
    shown = offline.json("config", "database.type")
    assert (shown["allowed"], shown["variable"]) == ("postgres or sqlite", "RAMET_DATABASE_TYPE")


def test_agents_see_the_variables_of_their_programs_unless_somebody_says_otherwise(offline: CommandLine) -> None:
    shown = offline.json("config", "work.environment")
    assert shown["value"] == shown["default"]
    assert shown["value"][-4:] == ["ANTHROPIC_*", "CLAUDE_*", "OPENAI_*", "CODEX_*"]
    narrowed = offline.json("--set", 'work.environment=["PATH"]', "config", "work.environment")
    assert (narrowed["value"], narrowed["default"]) == (["PATH"], shown["default"])


@pytest.mark.parametrize("words", [(), ("drivers.profiles",), ("--json",), ("drivers.profiles", "--json")])
def test_profiles_are_shown_like_any_other_value(offline: CommandLine, words: tuple[str, ...]) -> None:
    profiles = '{"careful": {"driver": "shell", "model": "large"}}'
    assert '"model": "large"' in offline.ok("--set", f"drivers.profiles={profiles}", "config", *words)


@pytest.mark.parametrize("words", [(), ("drivers.profiles",), ("--json",), ("drivers.profiles", "--json")])
def test_the_profiles_of_the_documentation_are_shown(offline: CommandLine, words: tuple[str, ...]) -> None:
    example = next(block.code for block in blocks(DRIVERS_PAGE) if block.language == "yaml")
    offline.configure(example)
    shown = offline.ok("config", *words)
    assert "careful" in shown
    assert "CLAUDE_CODE_MAX_RETRIES" in shown


def test_a_long_value_does_not_widen_the_other_rows(offline: CommandLine) -> None:
    rows = offline.ok("config").splitlines()
    wide = [row for row in rows if len(row) > 120]
    assert {row.split()[0] for row in wide} == {"work.environment", "redaction.environment"}
    assert all(row.split()[-3:] == ["same", "owner", "default"] for row in wide)


def test_a_key_that_does_not_exist_is_refused_with_what_may_be_meant(offline: CommandLine) -> None:
    done = offline("config", "database.typ")
    assert done.returncode == 2
    assert "fix: did you mean database.type" in done.stderr


@pytest.mark.requirement("R176")
@pytest.mark.parametrize(
    ("environ", "complaint"),
    [
        ({"RAMET_DATABASE_TYPE": "postgres"}, "database.url is not set"),
        ({"RAMET_DATABASE_TYPE": "mysql"}, "must be postgres or sqlite"),
        ({"RAMET_DATABASE_PTAH": "x"}, "RAMET_DATABASE_PTAH sets no key"),
    ],
)
def test_a_wrong_configuration_stops_every_command(
    offline: CommandLine, environ: dict[str, str], complaint: str
) -> None:
    done = offline("ps", "--json", environ=environ)
    assert done.returncode == 2
    assert complaint in json.loads(done.stderr)["error"]["message"]
