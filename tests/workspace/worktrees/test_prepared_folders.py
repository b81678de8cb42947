"""What a set-up command made, kept for worktrees with the same lock files."""

import os
import threading
from pathlib import Path

import pytest

from ramet.errors import SetupFailed
from ramet.workspace.worktrees import prepared_folders
from ramet.workspace.worktrees.prepared_folders import Recipe, identify, keep, one_at_a_time, restore

RECIPE = Recipe(command="npm ci", lock_files=("package-lock.json", "uv.lock"), folders=("node_modules", "web/.venv"))


@pytest.fixture
def first(tmp_path: Path) -> Path:
    """A worktree that was prepared."""
    folder = make(tmp_path, "first")
    (folder / "node_modules" / "lib").mkdir(parents=True)
    (folder / "node_modules" / "lib" / "a.js").write_text("a")
    (folder / "node_modules" / "lib" / "a.js").chmod(0o755)
    (folder / "node_modules" / "link").symlink_to("lib/a.js")
    os.mkfifo(folder / "node_modules" / "pipe")
    return folder


@pytest.fixture
def place(tmp_path: Path) -> Path:
    (tmp_path / "kept").mkdir()
    return tmp_path / "kept"


def make(tmp_path: Path, name: str, lock: str = "{}") -> Path:
    folder = tmp_path / name
    (folder / "web").mkdir(parents=True)
    (folder / "package-lock.json").write_text(lock)
    return folder


@pytest.mark.requirement("R458")
@pytest.mark.parametrize("uses_links", [False, True])
def test_folders_are_reused_while_the_lock_files_are_unchanged(
    tmp_path: Path, place: Path, first: Path, uses_links: bool
) -> None:
    recipe = Recipe(command="npm ci", lock_files=RECIPE.lock_files, folders=RECIPE.folders, uses_links=uses_links)
    keep(place, first, identify(first, recipe))
    second = make(tmp_path, "second")
    assert restore(place, second, identify(second, recipe))
    file = second / "node_modules" / "lib" / "a.js"
    assert (file.read_text(), file.stat().st_mode & 0o777) == ("a", 0o755)
    assert (second / "node_modules" / "link").readlink() == Path("lib/a.js")
    assert not (second / "node_modules" / "pipe").exists()
    if not uses_links:
        file.write_text("changed by an agent")
        third = make(tmp_path, "third")
        assert restore(place, third, identify(third, recipe))
        assert (third / "node_modules" / "lib" / "a.js").read_text() == "a"
    changed = make(tmp_path, "changed", lock='{"a": 1}')
    assert not restore(place, changed, identify(changed, recipe))


@pytest.mark.requirement("R458")
def test_without_copies_on_write_hard_links_share_the_files_if_the_owner_says_so(
    tmp_path: Path, place: Path, first: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(prepared_folders, "_CLONE", 0)  # a request that no file system knows
    recipe = Recipe(command="npm ci", lock_files=RECIPE.lock_files, folders=RECIPE.folders, uses_links=True)
    keep(place, first, identify(first, recipe))
    second = make(tmp_path, "second")
    assert restore(place, second, identify(second, recipe))
    assert (second / "node_modules/lib/a.js").samefile(first / "node_modules/lib/a.js")


@pytest.mark.requirement("R458")
def test_another_command_another_list_and_a_missing_lock_file_are_not_reused(tmp_path: Path, first: Path) -> None:
    known = identify(first, RECIPE)
    assert known.is_reusable
    others = (
        Recipe(command="npm install", lock_files=RECIPE.lock_files, folders=RECIPE.folders),
        Recipe(command="npm ci", lock_files=RECIPE.lock_files, folders=("node_modules",)),
    )
    assert known.key not in {identify(first, other).key for other in others}
    assert not identify(first, Recipe(command="npm ci", lock_files=RECIPE.lock_files, folders=())).is_reusable
    (first / "package-lock.json").unlink()
    assert not identify(first, RECIPE).is_reusable
    (tmp_path / "outside.json").write_text("{}")
    (first / "package-lock.json").symlink_to(tmp_path / "outside.json")
    assert not identify(first, RECIPE).is_reusable


@pytest.mark.requirement("R458")
def test_nothing_is_put_through_a_link_or_over_what_is_there(tmp_path: Path, place: Path, first: Path) -> None:
    (first / "web" / ".venv").mkdir()
    keep(place, first, identify(first, RECIPE))
    second = make(tmp_path, "second")
    (second / "web").rmdir()
    (tmp_path / "outside").mkdir()
    (second / "web").symlink_to(tmp_path / "outside")
    (second / "node_modules").mkdir()
    assert restore(place, second, identify(second, RECIPE))
    assert list((tmp_path / "outside").iterdir()) == []
    assert list((second / "node_modules").iterdir()) == []


@pytest.mark.requirement("R458")
def test_only_the_newest_sets_of_a_project_are_kept(tmp_path: Path, place: Path, first: Path) -> None:
    for number in range(5):
        (first / "package-lock.json").write_text(str(number))
        keep(place, first, identify(first, RECIPE))
        os.utime(place / identify(first, RECIPE).key, (number, number))
    assert len(list(place.iterdir())) == 3
    assert (place / identify(first, RECIPE).key).is_dir()


@pytest.mark.requirement("R458")
def test_worktrees_with_the_same_lock_files_wait_for_each_other(place: Path, first: Path) -> None:
    wanted = identify(first, RECIPE)
    order = []

    def follow() -> None:
        with one_at_a_time(place, wanted, 60):
            order.append("second")

    with one_at_a_time(place, wanted, 60):
        with pytest.raises(SetupFailed, match="another worktree"), one_at_a_time(place, wanted, 0):
            raise AssertionError
        thread = threading.Thread(target=follow)
        thread.start()
        order.append("first")
    thread.join(60)
    assert order == ["first", "second"]
