"""`ramet config` shows every key, its value and where it comes from."""

import json
import re
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
import yaml
from tests.cli.command_line import CommandLine
from tests.cli.terminal import at_terminal
from tests.docs.pages import EVERY_PAGE, ROOT, blocks, name

from ramet.cli.invocation import Invocation
from ramet.cli.main import ramet as command_line
from ramet.config.files import user_file
from ramet.config.keys import KEYS, SECTIONS

DRIVERS_PAGE = ROOT / "docs" / "drivers.md"
_YAML = re.compile(r"^( *)```yaml\n(.*?)^\1```$", re.MULTILINE | re.DOTALL)


class Example(NamedTuple):
    """A configuration that a page shows."""

    page: str
    text: str


def find_examples() -> Iterator[Example]:
    """Every YAML block whose keys are those of a configuration."""
    for page in EVERY_PAGE:
        for _, code in _YAML.findall(page.read_text(encoding="utf-8")):
            text = textwrap.dedent(code)
            document = yaml.safe_load(text)
            if isinstance(document, dict) and {key.partition(".")[0] for key in document} <= set(SECTIONS):
                yield Example(name(page), text)


EXAMPLES = list(find_examples())


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
    assert {"ANTHROPIC_*", "CLAUDE_*", "OPENAI_*", "CODEX_*", "AWS_*", "GOOGLE_*"} <= set(shown["value"])
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
    assert {row.split()[0] for row in wide} == {"work.environment", "redaction.environment", "worktree.lock_files"}
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


def test_the_pages_show_configurations() -> None:
    pages = {example.page for example in EXAMPLES}
    assert {"docs/drivers.md", "docs/sandbox.md", "docs/spawn.md", "docs/work.md", "docs/worktrees.md"} <= pages


@pytest.mark.requirement("R374")
@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.page)
def test_every_configuration_of_the_documentation_is_shown(
    example: Example, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    environ = {"HOME": str(tmp_path), "RAMET_HOME": str(tmp_path / "ramet")}
    file = user_file(environ)
    file.parent.mkdir(parents=True)
    file.write_text(example.text)

    def show(*words: str) -> str:
        command_line.main(["config", *words], prog_name="ramet", standalone_mode=False, obj=Invocation(environ))
        return capsys.readouterr().out

    shown = {item["key"]: item for item in json.loads(show("--json"))["items"]}
    table = {line.split()[0]: line for line in show().splitlines() if line}
    configured = [key for key, item in shown.items() if item["source"] == str(file)]
    assert configured
    for key in configured:
        assert shown[key] == json.loads(show(key, "--json"))
        assert f"source     {file}" in show(key)
        assert table[key].endswith("~/.config/ramet/config.yaml")


@pytest.mark.requirement("R374")
def test_a_configured_profile_fits_a_terminal_of_80_columns(offline: CommandLine) -> None:
    offline.configure(next(example.text for example in EXAMPLES if example.page == "docs/drivers.md"))
    seen = at_terminal(offline, "config", columns=80)
    plain = re.sub(r"\x1b\[[0-9;]*m", "", seen.text)
    assert seen.status == 0
    assert "CLAUDE_CODE_MAX_RETRIES" in "".join(plain.split())
    assert max(map(len, plain.splitlines()[: len(KEYS)])) <= 80


@pytest.mark.requirement("R374")
def test_a_key_is_set_and_unset_in_the_users_file_with_its_comments(offline: CommandLine) -> None:
    offline.configure("# mine\nwork:\n  retries: 3  # enough\n")
    file = user_file(offline.environ)
    assert offline.ok("config", "set", "work.retries", "5") == "set work.retries in ~/.config/ramet/config.yaml\n"
    assert file.read_text() == "# mine\nwork:\n  retries: 5  # enough\n"
    assert offline.json("config", "work.retries")["value"] == 5
    assert offline.json("config", "unset", "work.retries") == {"file": str(file), "removed": ["work.retries"]}
    assert file.read_text() == "# mine\n"
    assert "does not set work.retries" in offline.ok("config", "unset", "work.retries")


@pytest.mark.parametrize(
    ("words", "message", "fix"),
    [
        (("set", "work.retrys", "5"), "'work.retrys'", "did you mean work.retries"),
        (("set", "work.retries", "x"), "must be an integer", "set work.retries to an integer from 0 to 100"),
        (("set", "work.retries"), "has no value", "ramet config set work.retries VALUE"),
        (("unset", "work.retrys"), "'work.retrys'", "did you mean work.retries"),
    ],
)
def test_a_wrong_change_is_refused(offline: CommandLine, words: tuple[str, ...], message: str, fix: str) -> None:
    done = offline("config", *words)
    assert done.returncode == 2
    assert message in done.stderr
    assert fix in done.stderr
    assert not user_file(offline.environ).exists()


def test_a_stronger_source_is_named_when_a_key_is_set(offline: CommandLine) -> None:
    done = offline("config", "set", "work.retries", "5", environ={"RAMET_WORK_RETRIES": "7"})
    assert (done.returncode, done.stderr) == (
        0,
        "note: here work.retries still comes from environment RAMET_WORK_RETRIES\n",
    )


def test_an_agent_cannot_change_the_users_file(offline: CommandLine) -> None:
    for words in (("set", "work.retries", "5"), ("unset", "work.retries")):
        done = offline("config", *words, environ={"RAMET_SESSION": "1"})
        assert (done.returncode, "an agent cannot change" in done.stderr) == (2, True)
    assert not user_file(offline.environ).exists()
