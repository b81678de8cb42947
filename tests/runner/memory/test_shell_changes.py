"""What the keeper sees of a worktree, and what it leaves alone."""

import os
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest
from tests.keeper.scripted_daemon import wait_for

from ramet.model.memory.edited_lines import compare_files, hash_lines, unpack_hashes
from ramet.model.work.stream import SubAgent, ToolCall, ToolResult
from ramet.protocol.work.keepers import KeeperRedaction
from ramet.runner.memory.shell_changes import Look, ShellWatch
from ramet.workspace.files.changed_files import look, read_text

SECRET = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"


class Watched:
    """A folder that is watched while a test changes it."""

    def __init__(self, folder: Path) -> None:
        self.tree = folder / "tree"
        self.tree.mkdir()
        (self.tree / "a.py").write_text("one = 1\ntwo = 2\n")
        self._file = folder / "looks.jsonl"
        self.watch = ShellWatch(self.tree, self._file, frozenset({"shell"}), KeeperRedaction())
        self._looks = 0

    def start(self) -> None:
        self.watch.start()
        self.wait()

    def wait(self) -> None:
        self._looks += 1
        wait_for(lambda: len(self.looks()) >= self._looks)

    def looks(self) -> list[Look]:
        lines = self._file.read_bytes().splitlines() if self._file.exists() else []
        return [msgspec.json.decode(line, type=Look) for line in lines]

    def begin(self, call_id: str, tool: str = "shell") -> None:
        self.watch.hear(ToolCall(call_id=call_id, name=tool))

    def end(self, call_id: str) -> None:
        self.watch.hear(ToolResult(call_id=call_id))

    def run(self, call_id: str, change: Callable[[], object], tool: str = "shell") -> Look:
        self.begin(call_id, tool)
        change()
        self.end(call_id)
        self.wait()
        return self.looks()[-1]


@pytest.fixture
def watched(tmp_path: Path) -> Watched:
    made = Watched(tmp_path)
    made.start()
    return made


def _added(found: Look) -> list[int]:
    (change,) = found.changes
    assert change.before is not None
    hunks = compare_files(unpack_hashes(change.before), unpack_hashes(change.after))
    return [line.hash for hunk in hunks for line in hunk if line.is_added]


def test_a_command_is_named_for_what_changed_while_it_ran_and_only_for_that(watched: Watched) -> None:
    first = watched.run("c1", lambda: (watched.tree / "new.py").write_text("three = 3\n"))
    assert (first.call_id, _added(first)) == ("c1", hash_lines("three = 3"))
    edit = watched.run("c2", lambda: (watched.tree / "new.py").write_text("three = 3\nfour = 4\n"), tool="edit")
    assert (edit.call_id, edit.changes) == (None, [])
    again = watched.run("c3", lambda: (watched.tree / "new.py").write_text("three = 3\nfour = 4\nfive = 5\n"))
    assert (again.call_id, _added(again)) == ("c3", hash_lines("five = 5"))
    known = watched.run("c4", lambda: (watched.tree / "a.py").write_text("one = 1\ntwo = 22\n"))
    assert [(change.path, change.before) for change in known.changes] == [("a.py", None)]  # as git has it
    moved = watched.run("c5", lambda: (watched.tree / "new.py").rename(watched.tree / "moved.py"))
    assert (moved.call_id, moved.changes) == ("c5", [])


def test_calls_at_the_same_time_are_not_told_apart(watched: Watched) -> None:
    watched.begin("c1")
    watched.begin("c2", "edit")
    (watched.tree / "new.py").write_text("three = 3\n")
    watched.end("c1")
    watched.end("c2")
    watched.wait()
    assert [found.call_id for found in watched.looks()] == [None, None]
    # What they wrote is known now, and is not the next command's.
    after = watched.run("c3", lambda: (watched.tree / "new.py").write_text("three = 3\nfour = 4\n"))
    assert (after.call_id, _added(after)) == ("c3", hash_lines("four = 4"))


def test_a_call_that_begins_before_the_last_check_is_over_is_not_named(tmp_path: Path) -> None:
    watched = Watched(tmp_path)
    watched.begin("c1")
    watched.start()
    (watched.tree / "new.py").write_text("three = 3\n")
    watched.end("c1")
    watched.wait()
    assert [found.call_id for found in watched.looks()] == [None, None]
    later = watched.run("c2", lambda: (watched.tree / "a.py").write_text("one = 11\ntwo = 2\n"))
    assert later.changes == []  # the first call may have changed the file before it was seen


def test_no_text_is_written_and_secrets_are_not_hashed(watched: Watched, tmp_path: Path) -> None:
    found = watched.run("c1", lambda: (watched.tree / "key.py").write_text(f"key = '{SECRET}'\n"))
    assert _added(found) != hash_lines(f"key = '{SECRET}'")
    assert "key =" not in (tmp_path / "looks.jsonl").read_text()


def test_a_walk_is_bounded_follows_no_link_and_skips_what_tools_make(tmp_path: Path) -> None:
    tree = tmp_path / "tree"
    for folder in ("src", "node_modules/x", "target", "other", ".git"):
        (tree / folder).mkdir(parents=True)
        (tree / folder / "file.txt").write_text("x\n")
    (tree / "target" / "CACHEDIR.TAG").write_text("")
    (tree / "other" / ".git").write_text("gitdir: /nowhere\n")
    (tree / "link").symlink_to("/etc")
    (tree / "passwd").symlink_to("/etc/passwd")
    os.mkfifo(tree / "pipe")
    found = look(tree, 5, 60)
    assert found is not None
    assert set(found) == {"src/file.txt"}
    stamp = found["src/file.txt"]
    assert read_text(tree, "src/file.txt", stamp, 1) is None
    (tree / "src/file.txt").write_text("xy\n")
    assert read_text(tree, "src/file.txt", stamp, 100) is None
    for number in range(200):
        (tree / f"f{number}").touch()
    assert look(tree, -1, 60) is None


def test_a_worktree_that_is_gone_or_calls_of_sub_agents_end_nothing(watched: Watched) -> None:
    nested = SubAgent(agent_id="n", said=ToolCall(call_id="s1", name="shell"))
    watched.watch.hear(nested)
    watched.watch.hear(SubAgent(agent_id="n", said=ToolResult(call_id="s1")))
    watched.wait()
    assert watched.looks()[-1].call_id is None
    watched.tree.rename(watched.tree.with_name("gone"))
    for number in range(4):
        watched.begin(f"c{number}")
        watched.end(f"c{number}")
    watched.watch.finish(10)
    assert len(watched.looks()) == 2
