"""Configuration files that cannot be read say which, and where."""

import os
from pathlib import Path

import pytest

from ramet.config.files import read_file
from ramet.errors import InvalidSetting


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "ramet.yaml"


def test_sections_become_dotted_keys(file: Path) -> None:
    file.write_text("database:\n  type: sqlite\ndaemon.log_files: 3\n")
    assert read_file(file) == {"database.type": "sqlite", "daemon.log_files": 3}


def test_the_sandbox_of_a_profile_can_be_off_as_yaml_reads_it(file: Path) -> None:
    file.write_text("drivers:\n  profiles:\n    a: {sandbox: off}\n    b: {sandbox: strict}\n    c: text\n")
    profiles = {"a": {"sandbox": "off"}, "b": {"sandbox": "strict"}, "c": "text"}
    assert read_file(file) == {"drivers.profiles": profiles}


def test_an_empty_file_says_nothing(file: Path) -> None:
    file.write_text("# nothing yet\n")
    assert read_file(file) == {}


def test_broken_yaml_is_refused_with_file_and_line(file: Path) -> None:
    file.write_text("database:\n  type: [sqlite\n")
    with pytest.raises(InvalidSetting, match=r"ramet\.yaml, line 3"):
        read_file(file)


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        (b"- a\n- b\n", "not a mapping"),
        (b"\xff\xfe\x00", "not UTF-8"),
        (b"a: " + b"x" * 2**20, "larger than"),
        (b"[" * 5000, r"ramet\.yaml"),
        (b"when: 2026-13-45", "cannot be read"),
        (b"!!python/object:os.system {}", "could not determine a constructor"),
    ],
)
def test_what_is_no_configuration_is_refused(file: Path, content: bytes, complaint: str) -> None:
    file.write_bytes(content)
    with pytest.raises(InvalidSetting, match=complaint):
        read_file(file)


LAUGHS = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"a{level}: &a{level} [{', '.join([f'*a{level - 1}'] * 10)}]\n" for level in range(1, 10)
)
MERGES = "a0: &a0 {x: 1}\n" + "".join(
    f"a{level}: &a{level} {{<<: [{', '.join([f'*a{level - 1}'] * 10)}]}}\n" for level in range(1, 10)
)


@pytest.mark.requirement("R343")
@pytest.mark.parametrize(
    ("content", "bound"),
    [
        pytest.param(LAUGHS, "more than 10000 values", id="aliases of aliases"),
        pytest.param(MERGES, "more than 10000 values", id="merges of merges"),
        pytest.param("a: &a [*a]\n", "more than 10000 values", id="an alias of itself"),
        pytest.param("a: [" + "1," * 20_000 + "1]\n", "more than 10000 values", id="many values"),
        pytest.param("a: " + "[" * 30 + "]" * 30, "more than 20 levels", id="deep"),
    ],
)
def test_a_small_file_that_means_very_much_is_refused_with_its_path(file: Path, content: str, bound: str) -> None:
    file.write_text(content)
    with pytest.raises(InvalidSetting, match=rf"ramet\.yaml .*{bound}") as refusal:
        read_file(file)
    assert refusal.value.value == str(file)


def test_a_file_may_repeat_a_part_of_itself(file: Path) -> None:
    file.write_text("a: &a {x: [1, 2]}\nb: {<<: *a, y: 3}\nc: *a\n")
    assert read_file(file) == {"a.x": [1, 2], "b.x": [1, 2], "b.y": 3, "c.x": [1, 2]}


@pytest.mark.requirement("R343")
def test_a_pipe_or_a_device_in_place_of_a_file_is_refused_at_once(file: Path) -> None:
    os.mkfifo(file)
    for path in (file, Path("/dev/zero")):
        with pytest.raises(InvalidSetting, match=f"{path} is not a regular file"):
            read_file(path)
