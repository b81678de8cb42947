"""The user's file is replaced in one step, and only by a valid configuration."""

import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from ramet.config.edits.user_file import append, set_keys, unset_keys
from ramet.config.files import read_file, user_file
from ramet.errors import ConfigError, InvalidSetting, UnknownKey


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    return {"HOME": str(tmp_path)}


@pytest.fixture
def file(environ: dict[str, str]) -> Path:
    path = user_file(environ)
    path.parent.mkdir(parents=True)
    return path


def test_a_new_file_is_the_users_alone_and_an_old_one_keeps_its_mode(environ: dict[str, str]) -> None:
    path = set_keys(environ, {"work.retries": "5"})
    assert (path.stat().st_mode & 0o777, read_file(path)) == (0o600, {"work.retries": 5})
    path.chmod(0o640)
    set_keys(environ, {"work.retries": "6"})
    assert path.stat().st_mode & 0o777 == 0o640
    assert [each.name for each in path.parent.iterdir()] == [path.name]


def test_a_link_stays_and_its_target_is_edited(environ: dict[str, str], file: Path, tmp_path: Path) -> None:
    target = tmp_path / "dotfiles.yaml"
    target.write_text("work: {retries: 1}  # mine\n")
    file.symlink_to(target)
    set_keys(environ, {"work.retries": "2"})
    assert file.is_symlink()
    assert target.read_text() == "work: {retries: 2}  # mine\n"


@pytest.mark.requirement("R374")
@pytest.mark.parametrize(
    ("values", "error", "part"),
    [
        ({"work.retrys": "1"}, UnknownKey, "work.retries"),
        ({"work": "1"}, UnknownKey, "work"),
        ({"work.retries": "many"}, InvalidSetting, "an integer from 0 to 100"),
        ({"work.retries": "4", "spawn.drivers": "codex"}, InvalidSetting, "as JSON"),
        ({"drivers.profiles.careful.modle": "x"}, UnknownKey, "drivers.profiles.careful.model"),
        ({"drivers.profiles.careful.sandbox": "none"}, InvalidSetting, "off or strict or workspace"),
        ({"drivers.profiles.careful.arguments": "--x"}, InvalidSetting, "list"),
        ({"database.type": "postgres"}, InvalidSetting, "database.url"),
    ],
)
def test_a_wrong_key_or_value_is_refused_and_nothing_is_written(
    environ: dict[str, str], file: Path, values: dict[str, str], error: type[ConfigError], part: str
) -> None:
    file.write_text("work: {retries: 1}  # mine\n")
    with pytest.raises(error) as refusal:
        set_keys(environ, values)
    assert part in refusal.value.message + refusal.value.fix
    assert file.read_text() == "work: {retries: 1}  # mine\n"


def test_keys_that_need_each_other_are_set_together(environ: dict[str, str]) -> None:
    path = set_keys(environ, {"database.type": "postgres", "database.url": "postgres://me@db/ramet"})
    with pytest.raises(InvalidSetting, match=r"database\.type is still sqlite"):
        unset_keys(environ, ["database.type"])
    assert unset_keys(environ, ["database.type", "database.url"]) == (path, ["database.type", "database.url"])
    assert read_file(path) == {}


def test_settings_of_a_profile_are_set_one_by_one(environ: dict[str, str]) -> None:
    set_keys(environ, {"drivers.profiles.careful.driver": "claude", "drivers.profiles.careful.sandbox": "off"})
    path = set_keys(environ, {"drivers.profiles.careful.arguments": '["--max-turns", "40"]'})
    careful = {"driver": "claude", "sandbox": "off", "arguments": ["--max-turns", "40"]}
    assert read_file(path) == {"drivers.profiles": {"careful": careful}}
    unset_keys(environ, ["drivers.profiles.careful"])
    assert read_file(path) == {}


def test_a_misspelt_key_in_the_file_can_be_removed(environ: dict[str, str], file: Path) -> None:
    file.write_text("wrok: {retries: 1}\nwork: {retires: 2}\n# mine\n")
    with pytest.raises(UnknownKey):
        set_keys(environ, {"work.retries": "1"})
    unset_keys(environ, ["wrok.retries"])
    unset_keys(environ, ["work.retires"])
    assert file.read_text() == "# mine\n"
    with pytest.raises(UnknownKey, match="wrok"):
        unset_keys(environ, ["wrok.retries"])


def test_a_faulty_file_is_named_and_left_alone(environ: dict[str, str], file: Path) -> None:
    file.write_text("work: {retries: 1\n")
    with pytest.raises(InvalidSetting, match=rf"{file}, line 2"):
        set_keys(environ, {"work.retries": "1"})
    assert file.read_text() == "work: {retries: 1\n"


def test_a_value_is_appended_to_a_list_at_a_key(environ: dict[str, str], file: Path) -> None:
    file.write_text("spawn:\n  drivers:\n    - codex  # builds\n")
    append(environ, ("spawn", "drivers"), "claude")
    append(environ, ("spawn", "drivers"), "claude")
    assert file.read_text() == "spawn:\n  drivers:\n    - codex  # builds\n    - claude\n"


def test_two_changes_at_once_are_both_kept(environ: dict[str, str]) -> None:
    def add(name: str) -> Callable[[], object]:
        return lambda: append(environ, ("spawn", "drivers"), name)

    names = [f"driver-{number}" for number in range(8)]
    threads = [threading.Thread(target=add(name)) for name in names]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert sorted(read_file(user_file(environ))["spawn.drivers"]) == names
