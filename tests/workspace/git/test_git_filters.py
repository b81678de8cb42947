"""A content filter runs in the daemon's git if the user has configured it and allows it by name, and not otherwise."""

from pathlib import Path

import pytest
from tests.workspace.git.hostile import Trap, configure
from tests.workspace.repositories import Shop

from ramet.workspace.worktrees.worktree import Finished

_POINTER = "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12\n"


@pytest.fixture
def lfs(shop: Shop) -> Shop:
    """A repository with a file in large file storage, and a user who has a filter for it: a stand-in for git-lfs."""
    program = shop.home / "lfs.sh"
    program.write_text(
        "#!/bin/sh\n"
        f"git config --get lfs.mine >> {shop.root / 'told'}\n"
        f'case $1 in smudge) cat >/dev/null; echo large;; clean) cat >/dev/null; printf "{_POINTER}";; esac\n'
    )
    program.chmod(0o755)
    settings = {"lfs.mine": "yes"} | {f"filter.lfs.{verb}": f"{program} {verb} %f" for verb in ("clean", "smudge")}
    configure(shop, settings | {"filter.lfs.required": "true"}, Path(shop.environ["GIT_CONFIG_GLOBAL"]))
    (shop.project / ".gitattributes").write_text("*.bin filter=lfs\n")
    (shop.project / "x.bin").write_text("large\n")
    shop.commit(shop.project, "a large file")
    assert shop.show("main:x.bin") == _POINTER.strip()
    (shop.root / "told").unlink()
    return shop


def replace(shop: Shop, text: str) -> Finished:
    """An agent replaces the large file, and leaves it uncommitted beside another one."""
    worktree = shop.prepare("e1")
    Path(worktree.path, "x.bin").write_text(text)
    Path(worktree.path, "b.txt").write_text("b\n")
    return shop.finish(worktree)


@pytest.mark.requirement("R337")
def test_an_allowed_filter_of_the_users_runs_with_the_users_configuration(lfs: Shop) -> None:
    lfs.allow("lfs")
    worktree = lfs.prepare("e1")
    assert Path(worktree.path, "x.bin").read_text() == "large\n"
    Path(worktree.path, "x.bin").write_text("larger\n")
    Path(worktree.path, "b.txt").write_text("b\n")
    finished = lfs.finish(worktree)
    assert (finished.note, finished.changes.files) == (None, ["b.txt"])
    assert lfs.show("ramet/e1:x.bin") == _POINTER.strip()
    assert set(Path(lfs.root, "told").read_text().split()) == {"yes"}


@pytest.mark.requirement("R337")
def test_a_filter_that_only_the_repository_has_does_not_run_even_if_its_name_is_allowed(
    lfs: Shop, tmp_path: Path
) -> None:
    trap = Trap(tmp_path)
    lfs.allow("lfs", "mine")
    (lfs.project / ".gitattributes").write_text("*.bin filter=lfs\n*.txt filter=mine\n")
    lfs.commit(lfs.project, "filters")
    for name in ("lfs", "mine"):
        configure(lfs, {f"filter.{name}.{key}": trap.program() for key in ("clean", "smudge", "process")})
    replace(lfs, "larger\n")
    assert trap.sprung() == set()
    assert lfs.show("ramet/e1:x.bin") == _POINTER.strip()


@pytest.mark.requirement("R337")
def test_without_a_filter_an_unchanged_pointer_stays_and_other_content_is_committed_as_it_is(lfs: Shop) -> None:
    worktree = lfs.prepare("e1")
    assert Path(worktree.path, "x.bin").read_text() == _POINTER
    Path(worktree.path, "b.txt").write_text("b\n")
    finished = lfs.finish(worktree)
    assert (finished.note, finished.changes.files) == (None, ["b.txt"])
    Path(worktree.path, "x.bin").write_text("larger\n")
    finished = lfs.finish(worktree)
    assert lfs.show("ramet/e1:x.bin") == "larger"
    assert finished.note == ("committed without the filter lfs (worktree.git_filters does not allow it): x.bin")
    assert not (lfs.root / "told").exists()


@pytest.mark.requirement("R337")
@pytest.mark.parametrize("key", ["filter.mine.clean", "merge.mine.driver", "diff.mine.textconv", "core.fsmonitor"])
def test_no_other_program_of_the_users_configuration_runs_because_a_repository_names_it(
    shop: Shop, tmp_path: Path, key: str
) -> None:
    trap = Trap(tmp_path)
    configure(shop, {key: trap.program()}, Path(shop.environ["GIT_CONFIG_GLOBAL"]))
    worktree = shop.prepare("e1")
    Path(worktree.path, ".gitattributes").write_text("* filter=mine merge=mine diff=mine\n")
    Path(worktree.path, "a.txt").write_text("two\n")
    shop.finish(worktree)
    assert trap.sprung() == set()
