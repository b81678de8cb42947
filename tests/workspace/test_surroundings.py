"""What the disk says about where a hook was called."""

import contextlib
import os
import shutil
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from ramet.model.hooks.hook import HookEvent, Moment
from ramet.protocol.hooks.hooks import HookFacts
from ramet.vendors import registry
from ramet.workspace import surroundings
from ramet.workspace.git.command import Git


@pytest.fixture(autouse=True)
def home(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAMET_HOME", str(tmp_path_factory.mktemp("home")))


def git() -> Git:
    return Git(dict(os.environ), Path(os.environ["RAMET_HOME"], "git"))


def look(cwd: Path | str | None, moment: Moment = "session_start", **event: Any) -> HookFacts:
    said = HookEvent(
        vendor="claude", moment=moment, name="x", native_id="s", cwd=None if cwd is None else str(cwd), **event
    )
    return surroundings.gather(git(), said, None, registry.directive_files())


def read(cwd: Path, file: Path | str) -> HookFacts:
    return look(cwd, "post_tool_use", tool="Read", tool_input={"file_path": str(file)})


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A repository with directives in two of its folders and a file that is in no commit."""
    top = tmp_path / "project"
    (top / "a" / "b").mkdir(parents=True)
    (top / "AGENTS.md").write_text("outer")
    (top / "a" / "CLAUDE.md").write_text("inner")
    subprocess.run(["git", "init", "-q", str(top)], check=True)
    (tmp_path / "AGENTS.md").write_text("not of this project")
    return top


def test_where_a_context_begins_the_project_and_what_is_in_no_commit_are_told(project: Path) -> None:
    facts = look(project / "a" / "b")
    assert facts.project == str(project)
    assert facts.uncommitted == ["AGENTS.md", "a/CLAUDE.md"]
    assert [directive.text for directive in facts.directives] == ["outer", "inner"]


def test_after_a_tool_the_directives_of_its_file_s_folder_are_told_the_outermost_first(project: Path) -> None:
    facts = read(project, project / "a" / "x.py")
    assert [directive.text for directive in facts.directives] == ["outer", "inner"]
    assert facts.uncommitted == []
    assert [directive.text for directive in read(project, project / "x.py").directives] == ["outer"]


@pytest.mark.parametrize("file", ["../AGENTS.md", "/etc/passwd", "../../../../etc/passwd", "a\x00b", "", "/"])
def test_a_file_outside_of_the_project_has_no_directives(project: Path, file: str) -> None:
    assert read(project, file).directives == []


@pytest.mark.parametrize(
    ("vendor", "where", "told"),
    [
        # Claude Code reads CLAUDE.md and what that imports, above it at once and below it as it gets there.
        ("claude", ".", ["style"]),
        ("claude", "a/b", ["style", "deep"]),
        # Codex reads AGENTS.md down to where it works, and follows no imports.
        ("codex", ".", ["style", "@docs/imported.md @AGENTS.md", "imported"]),
        ("codex", "a/b", ["style", "@docs/imported.md @AGENTS.md", "imported", "deep"]),
    ],
)
def test_what_a_program_reads_by_itself_is_not_told_again(
    tmp_path: Path, vendor: str, where: str, told: list[str]
) -> None:
    texts = {
        "AGENTS.md": "shared",
        "CLAUDE.md": "@docs/imported.md @AGENTS.md",
        ".directives/style.md": "style",
        "docs/imported.md": "imported",
        "a/b/AGENTS.md": "deep",
        "a/b/x.py": "",
    }
    for name, text in texts.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    (tmp_path / "a" / "CLAUDE.md").symlink_to("../AGENTS.md")
    event = HookEvent(
        vendor=vendor,
        moment="post_tool_use",
        name="x",
        native_id="s",
        cwd=str(tmp_path),
        tool="Read",
        tool_input={"file_path": str(tmp_path / where / "x.py")},
    )
    own = registry.hooks()[vendor].own_directives
    facts = surroundings.gather(git(), event, own, registry.directive_files())
    assert sorted(directive.text for directive in facts.directives) == sorted(told)


def test_a_directive_that_links_out_of_the_project_is_not_told(project: Path) -> None:
    (project / "a" / "AGENTS.md").symlink_to(project.parent / "AGENTS.md")
    texts = [directive.text for directive in read(project, project / "a" / "x.py").directives]
    assert "not of this project" not in texts


@pytest.mark.parametrize("kind", ["pipe", "endless", "socket", "huge", "binary"])
def test_whatever_stands_where_a_file_should_be_is_passed_over_at_once(project: Path, kind: str) -> None:
    (project / "AGENTS.md").write_text("outer @a/imported.md")
    shutil.rmtree(project / ".git")
    for path in (project / ".git", project / "a" / "AGENTS.md", project / "a" / "imported.md"):
        put_something_odd(path, kind)
    found: list[HookFacts] = []
    looking = threading.Thread(target=lambda: found.append(read(project, project / "a" / "x.py")), daemon=True)
    looking.start()
    looking.join(timeout=30)
    assert [directive.text for directive in found[0].directives] == ["outer @a/imported.md", "inner"]
    assert found[0].project == str(project)


def put_something_odd(path: Path, kind: str) -> None:
    match kind:
        case "pipe":
            os.mkfifo(path)
        case "endless":
            path.symlink_to("/dev/zero")
        case "socket":
            with socket.socket(socket.AF_UNIX) as listener, contextlib.chdir(path.parent):
                listener.bind(path.name)
        case "huge":
            with path.open("wb") as file:
                file.truncate(10**12)
        case "binary":
            path.write_bytes(bytes(range(256)))


def test_names_that_could_pass_for_something_else_are_not_told(project: Path) -> None:
    no_text = os.fsdecode(b"\xff.md" if sys.platform == "linux" else b"\r.md")
    for name in ("x\n--- rules.md", "\x1b[2J.md", no_text, "plain.md"):
        path = project / "a" / ".directives" / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"of {name!r}")
    texts = [directive.text for directive in read(project, project / "a" / "x.py").directives]
    assert texts == ["outer", "inner", "of 'plain.md'"]


@pytest.mark.parametrize("file", ["a/" * 2000 + "x.py", "a/" * 500_000, "a/b/" + "x" * 5000, "\ud800/x.py"])
def test_a_path_without_measure_costs_nothing_to_speak_of(project: Path, file: str) -> None:
    start = time.process_time()
    assert [directive.text for directive in read(project, file).directives] in ([], ["outer", "inner"])
    assert time.process_time() - start < 5


def test_without_a_repository_the_directory_itself_is_the_project(tmp_path: Path) -> None:
    facts = look(tmp_path)
    assert (facts.project, facts.uncommitted) == (str(tmp_path), [])


@pytest.mark.parametrize("cwd", [None, "/nowhere/at/all", "/dev/null", "/" + "x" * 4000])
def test_a_directory_that_is_not_there_says_nothing(cwd: str | None) -> None:
    facts = look(cwd)
    assert (facts.uncommitted, facts.directives) == ([], [])


def test_a_repository_that_git_cannot_read_is_still_the_project(project: Path) -> None:
    (project / ".git" / "HEAD").write_text("broken")
    facts = look(project)
    assert (facts.project, facts.uncommitted) == (str(project), [])


def test_a_linked_worktree_belongs_to_the_project_that_it_is_linked_to(project: Path) -> None:
    git = ["git", "-C", str(project), "-c", "user.name=S", "-c", "user.email=s@example.com"]
    subprocess.run([*git, "add", "."], check=True)
    subprocess.run([*git, "commit", "-q", "-m", "x"], check=True)
    linked = project.parent / "linked"
    subprocess.run([*git, "worktree", "add", "-q", str(linked)], check=True)
    (linked / "new.txt").write_text("x")
    facts = look(linked / "a")
    assert (facts.project, facts.uncommitted) == (str(project), ["new.txt"])
    assert [Path(directive.path).name for directive in facts.directives] == ["AGENTS.md", "CLAUDE.md"]
    for lie in ("nonsense", "/.git/worktrees/x", f"{project.parent}/.git/worktrees/x"):
        (linked / ".git").write_text(f"gitdir: {lie}")
        assert look(linked / "a", "post_tool_use").project == str(linked / "a")
