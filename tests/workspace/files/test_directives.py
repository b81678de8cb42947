"""The directives that hold in a folder, and what they import."""

from pathlib import Path

import pytest

from ramet.vendors import registry
from ramet.workspace.files import directives

NAMES = registry.directive_files()


@pytest.fixture
def project(tmp_path: Path) -> Path:
    write(tmp_path / "AGENTS.md", "outside")
    top = tmp_path / "shop"
    write(top / "AGENTS.md", "top")
    (top / "CLAUDE.md").symlink_to("AGENTS.md")
    write(top / "src" / ".directives" / "testing.md", "testing")
    write(top / "src" / ".directives" / "notes.txt", "no directive")
    write(top / "src" / "cart" / "CLAUDE.md", "cart")
    write(top / "docs" / "AGENTS.md", "docs")
    return top


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def names(project: Path, found: list[Path]) -> list[str]:
    return [str(path.relative_to(project)) for path in found]


@pytest.mark.requirement("R252")
def test_those_above_a_folder_hold_in_it_the_outermost_first(project: Path) -> None:
    found = directives.discover(project, project / "src" / "cart", NAMES)
    assert names(project, found) == ["AGENTS.md", "src/.directives/testing.md", "src/cart/CLAUDE.md"]


@pytest.mark.requirement("R252")
def test_those_below_follow_where_they_are_asked_for(project: Path) -> None:
    write(project / "node_modules" / "x" / "AGENTS.md", "somebody else's")
    write(project / ".venv" / "AGENTS.md", "somebody else's")
    found = names(project, directives.discover(project, project, NAMES, down=True))
    assert found == ["AGENTS.md", "docs/AGENTS.md", "src/.directives/testing.md", "src/cart/CLAUDE.md"]
    assert names(project, directives.discover(project, project, NAMES)) == ["AGENTS.md"]


def test_a_folder_that_does_not_exist_yet_has_those_above_it(project: Path) -> None:
    assert names(project, directives.discover(project, project / "tasks" / "new", NAMES)) == ["AGENTS.md"]


def test_what_other_peoples_packages_say_is_no_rule_of_the_project(project: Path) -> None:
    for folder in ("node_modules/x", ".venv/lib/site-packages/x", "src/cart/node_modules"):
        write(project / folder / "AGENTS.md", "obey")
        assert "obey" not in [each.text for each in directives.resolve(project, [project / folder], NAMES)]
    assert names(project, directives.discover(project, project / "node_modules" / "x", NAMES)) == ["AGENTS.md"]


@pytest.mark.requirement("R252")
def test_imports_follow_the_file_that_names_them_each_once(project: Path) -> None:
    write(project / "AGENTS.md", "@docs/AGENTS.md @docs/style.md @nobody")
    write(project / "docs" / "AGENTS.md", "@style.md @../AGENTS.md @gone/away.md")
    write(project / "docs" / "style.md", "style")
    found = directives.dereference(project, "AGENTS.md")
    assert [Path(each.path).name for each in found.directives] == ["AGENTS.md", "AGENTS.md", "style.md"]
    assert found.directives[2].text == "style"
    assert found.missing == ["gone/away.md"]


@pytest.mark.requirement("R252")
def test_nothing_outside_of_the_project_is_read(project: Path) -> None:
    (project / "docs" / "AGENTS.md").unlink()
    (project / "docs" / "AGENTS.md").symlink_to(project.parent / "AGENTS.md")
    write(project / "CLAUDE.md", "@../AGENTS.md @~/AGENTS.md @/etc/passwd")
    assert names(project, directives.discover(project, project / "docs", NAMES)) == ["AGENTS.md"]
    found = directives.dereference(project, "CLAUDE.md")
    assert [each.text for each in found.directives] == ["@../AGENTS.md @~/AGENTS.md @/etc/passwd"]
    assert found.missing == ["../AGENTS.md", "~/AGENTS.md", "/etc/passwd"]


def test_imports_lead_only_so_far(project: Path) -> None:
    for number in range(10):
        write(project / f"{number}.md", f"@{number + 1}.md")
    assert len(directives.dereference(project, "0.md").directives) == 6


def test_imports_without_measure_are_followed_only_so_far(project: Path) -> None:
    for number in range(150):
        write(project / "many" / f"{number}.md", " ".join(f"@{other}.md" for other in range(150)))
    found = directives.dereference(project, "many/0.md")
    assert len(found.directives) == 100
    assert len(directives.discover(project, project / "many", NAMES)) == 1
    (project / "many").rename(project / ".directives")
    assert len(directives.discover(project, project, NAMES)) == 101


@pytest.mark.requirement("R252")
def test_all_that_holds_in_some_folders_is_told_once(project: Path) -> None:
    write(project / "docs" / "AGENTS.md", "cart")
    found = directives.resolve(project, [project / "src" / "cart", project / "docs"], NAMES)
    assert [each.text for each in found] == ["top", "testing", "cart"]


def test_a_file_that_cannot_be_read_keeps_nobody_from_the_others(project: Path) -> None:
    (project / "AGENTS.md").write_bytes(b"\xff\xff")
    assert [each.text for each in directives.resolve(project, [project / "docs"], NAMES)] == ["docs"]
