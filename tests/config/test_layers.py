"""Which layer wins, and what no layer may say."""

from pathlib import Path

import pytest
from tests.project_settings import write_trusted
from tests.workspace.repositories import mark_repository

from ramet.config.keys import KEYS, find_defaults
from ramet.config.layers import load
from ramet.config.places import find_home
from ramet.errors import InvalidSetting, RametError, UnknownKey


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    return {"HOME": str(tmp_path / "me"), "PATH": "/bin"}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    directory = tmp_path / "site"
    (directory / "deep" / "er").mkdir(parents=True)
    mark_repository(directory)
    return directory


def write_trusted_file(environ: dict[str, str], project: Path, text: str) -> None:
    write_trusted(project, find_home(environ), text)


def write_user_file(environ: dict[str, str], text: str) -> Path:
    path = Path(environ["HOME"]) / ".config" / "ramet" / "config.yaml"
    path.parent.mkdir(parents=True)
    path.write_text(text)
    return path


@pytest.mark.requirement("R174")
def test_without_configuration_everything_is_the_default(environ: dict[str, str], tmp_path: Path) -> None:
    configuration = load(environ, tmp_path, {})
    assert configuration.settings.database.type == "sqlite"
    assert configuration.settings.database.path is None
    assert set(configuration.sources.values()) == {"default"}
    assert configuration.project_file is None


def test_the_variables_of_agent_programs_belong_to_the_default_and_to_nothing_else(
    environ: dict[str, str], tmp_path: Path
) -> None:
    neutral = KEYS["work.environment"].default
    assert isinstance(neutral, list)
    found = load(environ, tmp_path, {}, agent_variables=["AGENT_*"])
    assert found.settings.work.environment == [*neutral, "AGENT_*"] == find_defaults(["AGENT_*"])["work.environment"]
    assert found.sources["work.environment"] == "default"
    narrowed = load(environ, tmp_path, {"work.environment": '["PATH"]'}, agent_variables=["AGENT_*"])
    assert narrowed.settings.work.environment == ["PATH"]


def test_a_flag_wins_over_the_environment_over_the_project_over_the_user(
    environ: dict[str, str], project: Path
) -> None:
    user_file = write_user_file(environ, "query: {max_rows: 1, timeout_seconds: 1}\nlimits: {page_max: 1}")
    write_trusted_file(environ, project, "query: {max_rows: 2, timeout_seconds: 2}\ndaemon: {log_files: 2}")
    environ |= {"RAMET_QUERY_MAX_ROWS": "3", "RAMET_QUERY_TIMEOUT_SECONDS": "3"}
    configuration = load(environ, project, {"query.max_rows": "4"})
    settings, sources = configuration.settings, configuration.sources
    assert (settings.query.max_rows, sources["query.max_rows"]) == (4, "flag")
    assert settings.query.timeout_seconds == 3
    assert sources["query.timeout_seconds"] == "environment RAMET_QUERY_TIMEOUT_SECONDS"
    assert (settings.daemon.log_files, sources["daemon.log_files"]) == (2, str(project / "ramet.yaml"))
    assert (settings.limits.page_max, sources["limits.page_max"]) == (1, str(user_file))


def test_the_nearest_project_file_counts(environ: dict[str, str], project: Path) -> None:
    write_trusted_file(environ, project, "daemon: {log_files: 1}")
    write_trusted_file(environ, project / "deep", "daemon: {log_files: 2}")
    configuration = load(environ, project / "deep" / "er", {})
    assert configuration.project_file == project / "deep" / "ramet.yaml"
    assert configuration.settings.daemon.log_files == 2


def test_the_user_file_is_where_xdg_says(environ: dict[str, str], tmp_path: Path) -> None:
    (tmp_path / "xdg" / "ramet").mkdir(parents=True)
    (tmp_path / "xdg" / "ramet" / "config.yaml").write_text("daemon.autostart: false")
    environ["XDG_CONFIG_HOME"] = str(tmp_path / "xdg")
    assert load(environ, tmp_path, {}).settings.daemon.autostart is False


@pytest.mark.parametrize(
    ("written", "meant"), [("data/r.db", "site/data/r.db"), ("~/r.db", "me/r.db"), ("/abs/r.db", "/abs/r.db")]
)
def test_a_database_path_begins_at_the_file_that_names_it(
    environ: dict[str, str], project: Path, tmp_path: Path, written: str, meant: str
) -> None:
    write_trusted_file(environ, project, f"database: {{path: {written}}}")
    configuration = load(environ, project / "deep", {})
    assert configuration.settings.database.path == str(tmp_path / meant)


def test_a_database_path_in_a_flag_begins_at_the_current_directory(environ: dict[str, str], project: Path) -> None:
    assert load(environ, project, {"database.path": "r.db"}).settings.database.path == str(project / "r.db")


def test_an_empty_variable_and_an_empty_key_say_nothing(environ: dict[str, str], project: Path) -> None:
    (project / "ramet.yaml").write_text("database:\n  path:\ndaemon:\n")
    environ["RAMET_DATABASE_URL"] = ""
    assert set(load(environ, project, {}).sources.values()) == {"default"}


def test_an_unknown_key_is_refused_with_its_file_and_what_may_be_meant(environ: dict[str, str], project: Path) -> None:
    (project / "ramet.yaml").write_text("database: {tpye: postgres}")
    with pytest.raises(UnknownKey) as caught:
        load(environ, project, {})
    assert "'database.tpye'" in caught.value.message
    assert str(project / "ramet.yaml") in caught.value.message
    assert "database.type" in caught.value.fix


def test_a_value_for_a_whole_section_is_refused(environ: dict[str, str], project: Path) -> None:
    (project / "ramet.yaml").write_text("database: postgres")
    with pytest.raises(InvalidSetting, match="database is a section"):
        load(environ, project, {})


@pytest.mark.parametrize("variable", ["RAMET_DATABASE_FOO", "RAMET_DATBASE_URL", "RAMET_QUERY_MAXROWS"])
def test_a_variable_that_looks_like_a_key_and_is_none_is_refused(
    environ: dict[str, str], tmp_path: Path, variable: str
) -> None:
    with pytest.raises(UnknownKey, match=variable):
        load({**environ, variable: "1"}, tmp_path, {})


@pytest.mark.parametrize(
    "variable", ["RAMET_HOME", "RAMET_AGENT", "RAMET_SESSION", "RAMET_FAULT", "RAMET_TEST_POSTGRES", "RAMETX"]
)
def test_other_variables_are_nobodys_business(environ: dict[str, str], tmp_path: Path, variable: str) -> None:
    assert set(load({**environ, variable: "/x"}, tmp_path, {}).sources.values()) == {"default"}


@pytest.mark.parametrize(
    ("key", "value", "allowed"),
    [
        ("database.type", "mysql", "postgres or sqlite"),
        ("daemon.autostart", "maybe", "true or false"),
        ("query.max_rows", "0", "an integer from 1 to 10000000"),
        ("query.max_rows", "many", "an integer from 1 to 10000000"),
    ],
)
@pytest.mark.requirement("R176", "R298")
def test_a_wrong_value_is_refused_with_key_value_source_and_what_is_allowed(
    environ: dict[str, str], tmp_path: Path, key: str, value: str, allowed: str
) -> None:
    environ[KEYS[key].variable] = value
    with pytest.raises(InvalidSetting) as caught:
        load(environ, tmp_path, {})
    assert caught.value.field == key
    for part in (key, repr(value), f"environment {KEYS[key].variable}", allowed):
        assert part in caught.value.message


def test_a_wrong_structure_is_named_but_not_unfolded(environ: dict[str, str], project: Path) -> None:
    bomb = "".join(f"x{n}: &x{n} [{', '.join([f'*x{n - 1}'] * 9)}]\n" for n in range(1, 4))
    (project / "ramet.yaml").write_text(f"query:\n  max_rows:\n    x0: &x0 [1]\n{_indent(bomb)}")
    with pytest.raises(InvalidSetting, match=r"query\.max_rows is a mapping"):
        load(environ, project, {})


@pytest.mark.parametrize(
    ("profile", "error", "message", "fix"),
    [
        (
            "claude: {argumens: [--verbose]}",
            UnknownKey,
            "there is no configuration key 'drivers.profiles.claude.argumens' (in {file})",
            "did you mean drivers.profiles.claude.arguments?",
        ),
        (
            "claude: {model: large, zzz: 1}",
            UnknownKey,
            "there is no configuration key 'drivers.profiles.claude.zzz' (in {file})",
            "use one of: driver, program, model, permission_mode, arguments, wrapper, sandbox, environment, output",
        ),
        (
            "careful: {arguments: --verbose}",
            InvalidSetting,
            "drivers.profiles.careful.arguments is a string (from {file}), but must be a list of strings",
            "set drivers.profiles.careful.arguments to a list of strings",
        ),
        (
            "x: {environment: {A: 1}}",
            InvalidSetting,
            "drivers.profiles.x.environment is a mapping (from {file}), but must be a mapping of names to strings",
            "set drivers.profiles.x.environment to a mapping of names to strings",
        ),
        (
            "careful: {output: yaml}",
            InvalidSetting,
            "drivers.profiles.careful.output is a string (from {file}), but must be jsonl or text",
            "set drivers.profiles.careful.output to jsonl or text",
        ),
    ],
)
def test_a_wrong_key_of_a_profile_is_named(
    environ: dict[str, str], project: Path, profile: str, error: type[RametError], message: str, fix: str
) -> None:
    file = project / "ramet.yaml"
    file.write_text(f"drivers:\n  profiles:\n    {profile}\n")
    with pytest.raises(error) as caught:
        load(environ, project, {})
    assert (caught.value.message, caught.value.fix) == (message.format(file=file), fix)


def test_a_profile_that_is_no_mapping_is_named(environ: dict[str, str], project: Path) -> None:
    (project / "ramet.yaml").write_text("drivers:\n  profiles:\n    careful: claude\n")
    with pytest.raises(InvalidSetting, match=r"drivers\.profiles\.careful is a string .* must be a mapping of driver,"):
        load(environ, project, {})


def test_a_wrong_profile_in_a_flag_shows_no_value(environ: dict[str, str], tmp_path: Path) -> None:
    with pytest.raises(InvalidSetting) as caught:
        load(environ, tmp_path, {"drivers.profiles": '{"x": {"environment": ["sesame"]}}'})
    assert "drivers.profiles.x.environment is a list (from flag)" in caught.value.message
    assert "sesame" not in str(caught.value.to_wire())


def _indent(text: str) -> str:
    return "".join(f"    {line}\n" for line in text.splitlines())


@pytest.mark.requirement("R175")
def test_postgres_is_chosen_by_type_and_url(environ: dict[str, str], project: Path) -> None:
    write_trusted_file(environ, project, "database:\n  type: postgres\n  url: postgres://me@db/ramet\n")
    settings = load(environ, project, {}).settings
    assert (settings.database.type, settings.database.url) == ("postgres", "postgres://me@db/ramet")


@pytest.mark.requirement("R176")
@pytest.mark.parametrize(
    ("flags", "complaint"),
    [
        ({"database.type": "postgres"}, "database.url is not set"),
        ({"database.url": "postgres://me@db/ramet"}, "database.type is still sqlite"),
        ({"database.type": "postgres", "database.url": "mysql://me@db/x"}, "not a PostgreSQL URL"),
    ],
)
def test_a_database_that_cannot_be_is_refused(
    environ: dict[str, str], tmp_path: Path, flags: dict[str, str], complaint: str
) -> None:
    with pytest.raises(InvalidSetting, match=complaint):
        load(environ, tmp_path, flags)


@pytest.mark.requirement("R176", "R296")
def test_no_error_and_no_shown_value_has_the_password(environ: dict[str, str], tmp_path: Path) -> None:
    flags = {"database.type": "postgres", "database.url": "mysql://me:hunter2@db/x"}
    with pytest.raises(InvalidSetting) as caught:
        load(environ, tmp_path, flags)
    assert "hunter2" not in f"{caught.value.to_wire()}"
    configuration = load(environ, tmp_path, {**flags, "database.url": "postgres://me:hunter2@db/x"})
    assert configuration.value(KEYS["database.url"]) == "postgres://me:***@db/x"


@pytest.mark.requirement("R330")
@pytest.mark.parametrize("is_trusted", [False, True])
def test_a_project_adds_redaction_patterns_and_removes_none(
    environ: dict[str, str], project: Path, *, is_trusted: bool
) -> None:
    write_user_file(environ, "redaction: {patterns: ['own-[0-9]+']}")
    text = "redaction: {patterns: ['corp-[0-9]+', 'own-[0-9]+']}"
    (project / "ramet.yaml").write_text(text)
    if is_trusted:
        write_trusted_file(environ, project, text)
    found = load(environ, project, {})
    assert found.settings.redaction.patterns == ["own-[0-9]+", "corp-[0-9]+"]
    assert found.owner.redaction.patterns == ["own-[0-9]+"]
    assert found.ignored == ()


@pytest.mark.requirement("R330")
@pytest.mark.parametrize(
    ("said", "key", "reason"),
    [
        ("patterns: []", "redaction.patterns", "only add"),
        (f"patterns: {['a'] * 101}", "redaction.patterns", "at most 100"),
        (f"patterns: [{'a' * 1001}]", "redaction.patterns", "1000 characters"),
        ("enabled: false", "redaction.enabled", "only you"),
        ("environment: []", "redaction.environment", "only you"),
    ],
)
def test_an_attempt_to_remove_redaction_is_ignored_and_reported(
    environ: dict[str, str], project: Path, said: str, key: str, reason: str
) -> None:
    write_user_file(environ, "redaction: {patterns: ['own-[0-9]+']}")
    (project / "ramet.yaml").write_text(f"redaction: {{{said}}}")
    found = load(environ, project, {})
    assert found.settings.redaction == found.owner.redaction
    assert found.settings.redaction.patterns == ["own-[0-9]+"]
    assert [each.key for each in found.ignored] == [key]
    assert reason in found.ignored[0].reason
