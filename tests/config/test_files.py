"""Configuration files that cannot be read say which, and where."""

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
