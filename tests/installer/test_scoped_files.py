"""Nothing is read or written outside of the scope: through no link, whoever put it there and at whatever moment."""

import itertools
import os
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from ramet.errors import ConfigError
from ramet.installer import json_text, scoped_files, toml_block
from ramet.installer.changes import Change, apply

THEIRS = '{"theirs": true}\n'


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    folder = tmp_path / "outside"
    folder.mkdir()
    (folder / "settings.json").write_text(THEIRS)
    return folder


@pytest.fixture
def scope(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    return folder


def link_file(scope: Path, outside: Path) -> None:
    (scope / ".claude").mkdir()
    (scope / ".claude" / "settings.json").symlink_to(outside / "settings.json")


def link_folder(scope: Path, outside: Path) -> None:
    (scope / ".claude").symlink_to(outside)


def link_to_nothing(scope: Path, outside: Path) -> None:
    (scope / ".claude").mkdir()
    (scope / ".claude" / "settings.json").symlink_to(outside / "new.json")


def link_upwards(scope: Path, outside: Path) -> None:
    (scope / "in").symlink_to("../outside")
    (scope / ".claude").symlink_to("in")


@pytest.mark.requirement("R345")
@pytest.mark.parametrize("attack", [link_file, link_folder, link_to_nothing, link_upwards])
def test_a_link_that_leaves_the_scope_is_neither_read_nor_written(
    scope: Path, outside: Path, attack: Callable[[Path, Path], None]
) -> None:
    attack(scope, outside)
    file = scope / ".claude" / "settings.json"
    with pytest.raises(ConfigError, match="outside"):
        scoped_files.read(file, scope)
    for before in (THEIRS, None):
        with pytest.raises(ConfigError, match="outside"):
            apply(Change("claude", file, before, "{}", "absent", scope))
    assert {path.name: path.read_text() for path in outside.iterdir()} == {"settings.json": THEIRS}


@pytest.mark.requirement("R345")
def test_a_link_inside_the_scope_is_followed_and_stays(scope: Path) -> None:
    (scope / "kept").mkdir()
    (scope / "kept" / "settings.json").write_text(THEIRS)
    (scope / ".claude").symlink_to("kept")
    apply(Change("claude", scope / ".claude" / "settings.json", THEIRS, "{}", "absent", scope))
    assert (scope / ".claude").is_symlink()
    assert (scope / "kept" / "settings.json").read_text() == "{}"


@pytest.mark.requirement("R345")
def test_another_name_of_the_file_keeps_its_content(scope: Path, outside: Path) -> None:
    (scope / ".claude").mkdir()
    file = scope / ".claude" / "settings.json"
    file.hardlink_to(outside / "settings.json")
    apply(Change("claude", file, THEIRS, "{}", "absent", scope))
    assert (file.read_text(), (outside / "settings.json").read_text()) == ("{}", THEIRS)


@pytest.mark.requirement("R345")
def test_a_file_that_was_changed_after_the_person_saw_it_is_not_overwritten(scope: Path) -> None:
    file = scope / "settings.json"
    change = Change("claude", file, None, "{}", "absent", scope)
    file.write_text(THEIRS)
    with pytest.raises(ConfigError, match="changed in the meantime"):
        apply(change)
    assert file.read_text() == THEIRS


@pytest.mark.requirement("R345")
def test_a_link_that_appears_between_check_and_use_leads_nowhere(scope: Path, outside: Path) -> None:
    """A program exchanges the folder and a link to another one all the time, while files are written and removed."""
    is_over = threading.Event()
    place = scope / ".claude"

    def exchange() -> None:
        for number in itertools.count():
            if is_over.is_set():
                return
            (scope / "link").symlink_to(outside)
            with suppress(OSError):  # the installer has made a folder there
                (scope / "link").rename(place)
            with suppress(OSError):
                place.unlink()
            with suppress(OSError):
                place.rename(scope / f"old-{number}")
            (scope / "link").unlink(missing_ok=True)

    agent = threading.Thread(target=exchange)
    agent.start()
    try:
        for number in range(1000):
            with suppress(ConfigError):  # it met the link, or nothing
                scoped_files.replace(place / f"{number}.json", scope, None, "{}")
    finally:
        is_over.set()
        agent.join()
    assert [path.name for path in outside.iterdir()] == ["settings.json"]


def make_pipe(file: Path) -> None:
    file.unlink()
    os.mkfifo(file)


def make_folder(file: Path) -> None:
    file.unlink()
    file.mkdir()


@pytest.mark.requirement("R345")
@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda file: os.truncate(file, 300 * 1024 * 1024), "larger than"),
        (make_pipe, "not a regular file"),
        (lambda file: file.write_bytes(b'{"a": "\xff\xfe"}'), "not UTF-8"),
        (make_folder, "cannot be read|not a regular file"),
    ],
    ids=["huge", "a pipe", "binary", "a folder"],
)
def test_what_is_no_small_text_file_is_refused(scope: Path, make: Callable[[Path], object], said: str) -> None:
    file = scope / "settings.json"
    file.touch()
    make(file)
    with pytest.raises(ConfigError, match=said):
        scoped_files.read(file, scope)


@pytest.mark.requirement("R345")
@pytest.mark.parametrize(
    "text",
    ["[" * 200_000, '{"a":' * 200_000, '{"a": ' + "[" * 101 + "]" * 101 + "}", "/*" * 200_000, '"' * 200_001],
    ids=["arrays", "objects", "just too deep", "comments", "strings"],
)
def test_json_that_never_ends_is_a_plain_error(text: str) -> None:
    with pytest.raises(ConfigError, match=r"nested more than 100 deep|not JSON"):
        json_text.parse(text)


@pytest.mark.requirement("R345")
@pytest.mark.parametrize(
    "text",
    [
        "a = " + "[" * 200_000,
        "a = " + "{a=" * 200_000,
        ".".join("a" * 100_000) + " = 1",
        "[" + ".".join("a" * 500) + "]",
    ],
    ids=["arrays", "tables", "keys", "headings"],
)
def test_toml_that_never_ends_is_a_plain_error(text: str) -> None:
    with pytest.raises(ConfigError, match="nested more than 100 deep"):
        toml_block.parse(text)
