"""`ramet import`: what was found first, then all of it once; bad files have reasons, and no file is written."""

import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest
from tests.cli.command_line import CommandLine
from tests.cli.terminal import at_terminal

STORED = Path(__file__).parents[2] / "vendors" / "sessions"
FORMATS = ("claude", "codex")


@pytest.fixture
def people(ramet: CommandLine) -> CommandLine:
    """Commands in the home of a user of Claude Code and Codex."""
    home = Path(ramet.environ["HOME"])
    for vendor in FORMATS:
        shutil.copytree(STORED / vendor / "home", home, dirs_exist_ok=True)
    for number, path in enumerate(sorted(each for each in home.rglob("*") if each.is_file())):
        os.utime(path, (1_762_000_000 + number, 1_762_000_000 + number))
    return ramet


def state_of(folder: Path) -> dict[str, Any]:
    return {
        str(path): (path.stat().st_mtime_ns, path.read_bytes() if path.is_file() else None)
        for path in folder.rglob("*")
        if ".config" not in path.parts
    }


def projects(ramet: CommandLine) -> Path:
    return Path(ramet.environ["HOME"], ".claude", "projects", "-home-dev-shop")


@pytest.mark.requirement("R380", "R381", "R382", "R295")
def test_what_was_found_is_shown_then_imported_once_and_no_file_is_written(people: CommandLine) -> None:
    home = Path(people.environ["HOME"])
    before = state_of(home)
    found = people.ok("import", "--dry-run")
    assert [line.split()[:4] for line in found.splitlines()[1:3]] == [
        ["claude", "8", "2025-11-01", "2025-11-01"],
        ["codex", "5", "2025-11-01", "2025-11-01"],
    ]
    assert all(len(line) <= 80 for line in found.splitlines())
    assert people.json("session", "list", "-A")["items"] == []
    told = people.json("import", "--yes")["imported"]
    assert (told["new"], told["empty"], told["skipped_lines"], told["failed"]) == (12, 1, 1, [])
    events = people.json("events", "--limit", "1000")["items"][-1]["id"]
    again = people.json("import", "--yes")["imported"]
    assert (again["new"], again["continued"], again["unchanged"], again["entries"]) == (0, 0, 12, 0)
    assert people.json("events", "--limit", "1000")["items"][-1]["id"] == events
    rows = people.json("session", "list", "-A")["items"]
    assert (len(rows), [row for row in rows if row["ended_at"] is None]) == (12, [])
    assert state_of(home) == before


def test_programs_paths_dates_and_projects_choose_sessions(people: CommandLine, tmp_path: Path) -> None:
    backup = tmp_path / "backup"
    shutil.copytree(projects(people), backup)

    def count(*arguments: str) -> dict[str, int]:
        found = people.json("import", "--dry-run", *arguments)["found"]
        return {each["vendor"]: each["sessions"] for each in found}

    assert count("codex") == {"codex": 5}
    assert count("claude", "codex") == {"claude": 8, "codex": 5}
    assert count(str(backup)) == {"claude": 7}
    assert count(str(next(backup.glob("*1.jsonl")))) == {"claude": 1}
    assert count("--since", "2030-01-01") == {}
    assert count("--project", "/home/dev") == {"claude": 7, "codex": 4}
    assert count("--project", "/elsewhere") == {}
    assert people.ok("import", "--since", "2030-01-01") == "no stored sessions were found\n"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["cluade", "--yes"], "'cluade' is neither an agent program (aider, claude, codex"),
        (["--since", "yesterday"], "'yesterday' does not match the format"),
        ([], "give --yes or --dry-run"),
    ],
)
def test_what_cannot_be_done_is_said_with_status_two(people: CommandLine, arguments: list[str], words: str) -> None:
    done = people("import", *arguments)
    assert (done.returncode, words in done.stderr.replace("\n", " ")) == (2, True), done.stderr
    assert people.json("session", "list", "-A")["items"] == []


def test_a_folder_without_sessions_is_an_error_that_names_it(people: CommandLine, tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("nothing", encoding="utf-8")
    done = people("import", str(tmp_path), "--yes")
    assert done.returncode == 2
    assert f"was found in {tmp_path}" in done.stderr


def test_a_person_is_asked_first(people: CommandLine) -> None:
    refused = at_terminal(people, "import", "codex", typed="n\n")
    assert "Import them?" in refused.text
    assert "nothing was imported" in refused.text
    accepted = at_terminal(people, "import", "codex", typed="y\n")
    assert (accepted.status, "5 sessions imported" in accepted.text) == (0, True)


def line(text: str, number: int, session: str) -> str:
    said = {"role": "user", "content": text}
    told = {"type": "user", "uuid": f"x{number}", "timestamp": "2025-11-02T10:00:00Z", "cwd": "/home/dev/shop"}
    return json.dumps({**told, "sessionId": session, "version": "9.9", "message": said, "newField": {"a": [1]}}) + "\n"


def make_bad_files(folder: Path) -> None:
    """All that can be wrong with the files of a program."""
    (folder / "folder.jsonl").mkdir()
    os.mkfifo(folder / "pipe.jsonl")
    (folder / "loop.jsonl").symlink_to(folder / "loop.jsonl")
    (folder / "around").symlink_to(folder)
    (folder / "bytes.jsonl").write_bytes(bytes(range(256)) * 400)
    (folder / "empty.jsonl").touch()
    (folder / "secret.jsonl").write_text(line("unreadable", 1, "secret"), encoding="utf-8")
    (folder / "secret.jsonl").chmod(0)
    with (folder / "huge.jsonl").open("w", encoding="utf-8") as file:
        file.write(line("before", 1, "huge"))
        file.write('{"type":"user","uuid":"x2","message":{"content":"')
        for _ in range(20):
            file.write("x" * 1024 * 1024)
        file.write('"}}\n' + line("after", 3, "huge"))
        file.write(line("long " * 1_400_000, 4, "huge") + line("last", 5, "huge"))
    (folder / "future.jsonl").write_text(
        '{"type":"hologram","uuid":"f0","payload":7}\n' + line("from the future", 1, "future") + '{"type":"user","uu',
        encoding="utf-8",
    )


@pytest.mark.requirement("R380")
def test_a_file_that_cannot_be_read_is_a_failure_with_its_reason(people: CommandLine) -> None:
    file = projects(people) / "secret.jsonl"
    if os.getuid() == 0:  # who may read every file of a disk; the kernel has some that can only be written
        file.symlink_to(next(Path("/sys/bus").glob("*/drivers_probe")))
    else:
        file.write_text(line("unreadable", 1, "secret"), encoding="utf-8")
        file.chmod(0)
    done = people("import", "claude", "--yes")
    assert (done.returncode, "secret.jsonl: Permission denied" in done.stderr) == (1, True), done.stderr


@pytest.mark.requirement("R380")
def test_bad_files_are_counted_and_keep_no_other_from_being_imported(people: CommandLine) -> None:
    make_bad_files(projects(people))
    done = people("import", "claude", "--yes", "--json")
    told = json.loads(done.stdout)["imported"]
    rows = people.json("session", "list", "-A")["items"]
    names = {row["native_id"]: row["id"] for row in rows}
    assert {"huge", "future"} <= names.keys()
    assert not {"folder", "pipe", "loop", "empty", "bytes"} & names.keys()
    assert told["new"] >= 9
    assert told["skipped_lines"] >= 2
    assert all(each["reason"] for each in told["failed"])
    params = json.dumps({"session_id": names["huge"]})
    said = [each["content"] for each in json.loads(people.ok("rpc", "call", "db.messages.list", params))["items"]]
    assert [each[:20] for each in said] == ["before", "after", "long " * 4, "last"]
    again = people("import", "claude", "--yes", "--json")
    assert json.loads(again.stdout)["imported"]["new"] == 0


def test_init_says_that_there_are_sessions_and_imports_them_if_it_is_told_to(shop: CommandLine) -> None:
    home = Path(shop.environ["HOME"])
    shutil.copytree(STORED / "codex" / "home", home, dirs_exist_ok=True)
    assert "5 stored sessions of codex found: `ramet import` imports them" in shop.ok("init", "--agent", "codex")
    assert "stored" not in shop.ok("init", "--agent", "codex", "--no-import")
    assert "5 sessions imported" in shop.ok("init", "--agent", "codex", "--import")
    assert "stored" not in shop.ok("init", "--agent", "codex")
