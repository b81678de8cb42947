"""Files of a project stay inside it, whatever their names say and whatever was put there."""

import contextlib
import os
import socket
import threading
from pathlib import Path

import pytest

from ramet.errors import FileMissing, InvalidParams, PathOutside
from ramet.workspace.files import project_files


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "secret").write_text("key")
    top = tmp_path / "shop"
    (top / "docs").mkdir(parents=True)
    (top / "docs" / "a.md").write_text("hello")
    return top


@pytest.mark.requirement("R250")
def test_a_file_is_read_by_its_absolute_and_its_relative_path(project: Path) -> None:
    assert (
        project_files.read(project, "docs/a.md")
        == project_files.read(project, str(project / "docs" / "a.md"))
        == "hello"
    )


@pytest.mark.requirement("R250")
def test_a_link_may_lead_to_another_place_of_the_project(project: Path) -> None:
    (project / "CLAUDE.md").symlink_to("docs/a.md")
    assert project_files.read(project, "CLAUDE.md") == "hello"
    assert project_files.resolve(project, "CLAUDE.md").relative == "docs/a.md"


@pytest.mark.requirement("R250")
@pytest.mark.parametrize("path", ["../secret", "docs/../../secret", "out", "way/secret", "/etc/passwd", "a\0b"])
def test_a_path_that_leads_out_is_refused(project: Path, path: str) -> None:
    (project / "out").symlink_to(project.parent / "secret")
    (project / "way").symlink_to(project.parent)
    for attempt in (lambda: project_files.read(project, path), lambda: project_files.append(project, path, "x")):
        with pytest.raises(PathOutside):
            attempt()
    assert (project.parent / "secret").read_text() == "key"


def test_what_is_no_text_file_is_refused(project: Path) -> None:
    (project / "binary").write_bytes(b"\xff\xfe")
    os.mkfifo(project / "pipe")
    (project / "loop").symlink_to("loop")
    with socket.socket(socket.AF_UNIX) as listener, contextlib.chdir(project):
        listener.bind("socket")
    with pytest.raises(InvalidParams):
        project_files.read(project, "binary")
    for path in ("docs", "nothing", ".", "pipe", "socket", "x" * 300, "x/" * 3000):
        with pytest.raises(FileMissing):
            project_files.read(project, path)
    with pytest.raises(FileMissing):
        project_files.read(project, "docs/a.md", max_bytes=3)
    for path in ("docs", ".", "docs/a.md/b"):
        with pytest.raises((InvalidParams, PathOutside)):
            project_files.append(project, path, "x")


@pytest.mark.requirement("R250")
def test_what_is_appended_comes_behind_and_its_folders_are_made(project: Path) -> None:
    assert project_files.append(project, "new/log.md", "one\n") == 4
    assert project_files.append(project, "new/log.md", "zwei ü\n") == 12
    assert (project / "new" / "log.md").read_text() == "one\nzwei ü\n"


def test_what_many_append_at_once_is_all_there_and_whole(project: Path) -> None:
    def write(name: str) -> None:
        for number in range(50):
            project_files.append(project, "log.md", f"{name}{number} {'x' * 500}\n")

    threads = [threading.Thread(target=write, args=(name,)) for name in "abcd"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=60)
    lines = (project / "log.md").read_text().splitlines()
    assert sorted(lines) == sorted(f"{name}{number} {'x' * 500}" for name in "abcd" for number in range(50))


def test_what_is_at_a_place_is_told(project: Path) -> None:
    kinds = [
        project_files.kind_of(project_files.resolve(project, path)) for path in (".", "docs/a.md", "nothing/there")
    ]
    assert kinds == ["directory", "file", None]
