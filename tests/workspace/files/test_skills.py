"""Skill files are found where agent programs keep them."""

import os
import sys
from pathlib import Path

import pytest

from ramet.errors import SkillFileInvalid
from ramet.vendors import registry
from ramet.workspace.files import skills

FOLDERS = registry.skill_folders()


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "shop").mkdir()
    return tmp_path / "shop"


def add(folder: Path, name: str, description: str = "does it", **more: str) -> Path:
    file = folder / name / "SKILL.md"
    file.parent.mkdir(parents=True)
    lines = "".join(f"{key}: {value}\n" for key, value in more.items())
    file.write_text(f"---\nname: {name}\ndescription: {description}\n{lines}---\n")
    return file


@pytest.mark.requirement("R252")
def test_the_project_comes_before_the_user_and_ramets_own_folder_before_others(project: Path, home: Path) -> None:
    add(project / ".claude" / "skills", "plan", "of claude")
    add(project / ".agents" / "skills", "plan", "of agents")
    add(project / ".ramet" / "skills", "storm", "of ramet")
    add(home / ".claude" / "skills", "plan", "of the user")
    add(home / ".config" / "ramet" / "skills", "tidy", "of the user")
    found = skills.list_all(project, {"HOME": str(home)}, FOLDERS)
    described = {each.name: (each.source, each.skill.description) for each in found if each.skill}
    assert described == {
        "plan": ("project", "of agents"),
        "storm": ("project", "of ramet"),
        "tidy": ("user", "of the user"),
    }
    assert [each.name for each in skills.list_all(None, {"HOME": str(home)}, FOLDERS)] == ["plan", "tidy"]


@pytest.mark.requirement("R252")
def test_a_broken_one_is_listed_with_what_is_wrong_and_refused_by_name(project: Path, home: Path) -> None:
    file = add(project / ".claude" / "skills", "plan", phases="many")
    add(project / ".claude" / "skills", "tidy")
    broken, tidy = skills.list_all(project, {"HOME": str(home)}, FOLDERS)
    assert broken.error is not None
    assert (broken.error.line, broken.error.field) == (4, "phases")
    assert str(file) in broken.error.message
    assert tidy.error is None
    with pytest.raises(SkillFileInvalid, match="line 4"):
        skills.find(project, {"HOME": str(home)}, FOLDERS, "plan")


def test_a_folder_may_be_a_link_inside_the_project_and_not_out_of_it(project: Path, home: Path, tmp_path: Path) -> None:
    add(project / ".agents" / "skills", "tidy")
    add(tmp_path / "elsewhere", "storm")
    (project / ".claude").mkdir()
    (project / ".claude" / "skills").symlink_to("../.agents/skills")
    (project / ".agents" / "skills" / "storm").symlink_to(tmp_path / "elsewhere" / "storm")
    found = skills.list_all(project, {"HOME": str(home)}, FOLDERS)
    assert [each.name for each in found] == ["tidy"]


def test_a_folder_whose_name_is_no_text_is_passed_over(project: Path, home: Path) -> None:
    for name in ("x\x1b[2J", os.fsdecode(b"\xff" if sys.platform == "linux" else b"\r")):
        add(project / ".claude" / "skills", "broken").parent.rename(project / ".claude" / "skills" / name)
    add(project / ".claude" / "skills", "tidy")
    assert [each.name for each in skills.list_all(project, {"HOME": str(home)}, FOLDERS)] == ["tidy"]


def test_no_skill_is_no_error(project: Path, home: Path) -> None:
    (project / ".claude" / "skills" / "empty").mkdir(parents=True)
    assert skills.list_all(project, {"HOME": str(home)}, FOLDERS) == []
    assert skills.find(project, {"HOME": str(home)}, FOLDERS, "empty") is None
