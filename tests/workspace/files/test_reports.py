"""Reports stay inside the folder they belong to, whatever their path says and whatever was put in its way."""

import os
from pathlib import Path

import pytest

from ramet.errors import PathOutside
from ramet.workspace.files import reports

PLAN = ".ramet/e1/1_PLAN.md"


@pytest.mark.requirement("R158", "R178")
def test_a_report_is_written_where_people_find_it_and_read_back_as_it_is(tmp_path: Path) -> None:
    text = "# Plan\r\n\n1. ünï\t\u2028\n\n"
    reports.write(tmp_path, PLAN, text)
    found = reports.read(tmp_path, PLAN)
    assert found is not None
    assert found.text == text
    assert (tmp_path / PLAN).read_bytes() == text.encode()
    assert (tmp_path / ".ramet" / ".gitignore").read_text() == "*\n"
    assert sorted(path.name for path in (tmp_path / ".ramet" / "e1").iterdir()) == ["1_PLAN.md"]


@pytest.mark.requirement("R184")
@pytest.mark.parametrize("path", ["../x.md", "/etc/passwd", ".ramet/../../x", "a//b", "", ".", "a/.", "x\0y", "a/"])
def test_a_path_that_does_not_lead_down_is_refused(tmp_path: Path, path: str) -> None:
    root = tmp_path / "root"
    root.mkdir()
    (tmp_path / "x.md").write_text("secret")
    with pytest.raises(PathOutside):
        reports.read(root, path)
    with pytest.raises(PathOutside):
        reports.write(root, path, "mine")
    assert (tmp_path / "x.md").read_text() == "secret"


@pytest.mark.requirement("R184")
@pytest.mark.parametrize("link", [".ramet", ".ramet/e1", PLAN])
def test_a_symbolic_link_on_the_way_is_refused(tmp_path: Path, link: str) -> None:
    root, outside = tmp_path / "root", tmp_path / "outside"
    (outside / "e1").mkdir(parents=True)
    (outside / "1_PLAN.md").write_text("secret")
    (outside / "e1" / "1_PLAN.md").write_text("secret")
    (root / link).parent.mkdir(parents=True)
    target = outside / "1_PLAN.md" if link == PLAN else outside / "e1" if link.endswith("e1") else outside
    (root / link).symlink_to(target)
    with pytest.raises(PathOutside, match="symbolic link"):
        reports.read(root, PLAN)
    if link != PLAN:
        with pytest.raises(PathOutside, match="symbolic link"):
            reports.write(root, PLAN, "mine")
    else:
        reports.write(root, PLAN, "mine")
        assert not (root / PLAN).is_symlink(), "the link was replaced, not followed"
    assert {path.read_text() for path in outside.rglob("*.md")} == {"secret"}


@pytest.mark.requirement("R166")
@pytest.mark.parametrize("kind", ["missing", "no folder", "binary", "latin", "large", "directory", "pipe", "in a file"])
def test_what_is_not_a_readable_text_is_none(tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / PLAN
    if kind != "no folder":
        path.parent.mkdir(parents=True)
    match kind:
        case "binary":
            path.write_bytes(b"a\0b")
        case "latin":
            path.write_bytes(b"caf\xe9")
        case "large":
            monkeypatch.setattr(reports, "_MAX_BYTES", 10)
            path.write_text("eleven bytes")
        case "directory":
            path.mkdir()
        case "pipe":
            os.mkfifo(path)
        case "in a file":
            path.parent.rmdir()
            path.parent.write_text("")
        case _:
            pass
    assert reports.read(tmp_path, PLAN) is None


def test_a_report_is_replaced_as_a_whole_or_not_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    reports.write(tmp_path, PLAN, "first")
    monkeypatch.setattr(os, "replace", _fail)
    with pytest.raises(OSError, match="full"):
        reports.write(tmp_path, PLAN, "second")
    assert (tmp_path / PLAN).read_text() == "first"
    assert [path.name for path in (tmp_path / ".ramet" / "e1").iterdir()] == ["1_PLAN.md"]


def _fail(*names: str, **folders: int) -> None:
    raise OSError(28, "the disk is full")
