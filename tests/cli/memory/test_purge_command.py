"""`ramet session purge` and `ramet runs purge`: what was said is in no file of Ramet any more."""

import json
from pathlib import Path
from typing import Any

import pytest
from tests.cli.command_line import CommandLine
from tests.cli.waits import wait_for

WORD = "quokkaberry"


def call(ramet: CommandLine, operation: str, **params: Any) -> Any:
    return json.loads(ramet.ok("rpc", "call", operation, json.dumps(params)))


def files_with(folder: Path, word: str) -> list[str]:
    """The files that have a word in any page, whether a row or nothing shows it."""
    files = (path for path in folder.rglob("*") if path.is_file())
    return sorted(str(path.relative_to(folder)) for path in files if word.encode() in path.read_bytes())


def say_everything(ramet: CommandLine) -> int:
    """A session that says a word wherever a session can say one."""
    ramet.ok("project", "add", ".")
    started = ramet.json("effort", "start", "login", "do", "--metadata", json.dumps({"about": f"{WORD} metadata"}))
    session_id = int(started["session"]["id"])
    call(ramet, "hooks.userPrompt", session_id=session_id, prompt=f"{WORD} prompt, told by a hook")
    for number in range(3):
        ramet.ok("session", "say", f"s{session_id}", "user", f"{WORD} question {number}")
    ramet.ok("session", "say", f"s{session_id}", "tool", f"{WORD} output " * 400, "--tool-name", "Bash")
    said = {"role": "assistant", "content": f"{WORD} answer that is kept", "idempotency_key": "once"}
    call(ramet, "db.messages.append", session_id=session_id, **said)
    for files in ([f"src/{WORD}.py"], [f"src/{WORD}/{number}.py" for number in range(20)], ["a.py"]):
        # Also what a row said before, and says no more.
        call(ramet, "db.session.updateLoadedFiles", session_id=session_id, files=files)
    edit = {"tool": "Read", "args": {"file_path": str(ramet.cwd / WORD / "a.py")}, "result": f"{WORD} read"}
    call(ramet, "hooks.postToolUse", session_id=session_id, **edit)
    call(ramet, "hooks.notification", session_id=session_id, text=f"{WORD} notification")
    ramet.ok("note", f"{WORD} note", "--session", f"s{session_id}")

    return session_id


@pytest.mark.requirement("R399")
def test_a_purged_word_is_in_no_file_of_ramet_while_its_daemon_runs(shop: CommandLine, home: Path) -> None:
    session_id = say_everything(shop)
    reference = f"s{session_id}"
    open_one = shop("session", "purge", reference, "--yes")
    assert (open_one.returncode, "still open" in open_one.stderr) != (0, False)
    shop.ok("session", "finish", reference, "--handoff", json.dumps({"next": f"{WORD} handoff"}))
    effort = shop.json("session", "show", reference)["effort_id"]
    shop.ok("effort", "finish", f"e{effort}")
    wait_for(lambda: shop.json("search", WORD)["items"])
    ramet_home = home / "ramet"
    assert {"ramet.db", "search.db"} <= {name.removesuffix("-wal") for name in files_with(ramet_home, WORD)}
    told = shop.ok("session", "purge", reference, "--reason", "customer data", "--yes")
    assert "backups and exported files from before still have them" in told
    wait_for(lambda: shop.json("search", WORD)["items"] == [])
    wait_for(lambda: files_with(ramet_home, WORD) == [])
    assert "[purged]" in shop.ok("session", "log", reference)
    assert shop.ok("db", "check")
    assert shop.json("session", "purge", reference, "--yes")["already"]


@pytest.mark.requirement("R399")
def test_a_purge_asks_first_and_says_what_it_did(shop: CommandLine) -> None:
    shop.ok("project", "add", ".")
    session_id = int(shop.json("effort", "start", "login", "do")["session"]["id"])
    reference = f"s{session_id}"
    shop.ok("session", "say", reference, "user", f"{WORD} question")
    refused = shop("session", "purge", reference, "--yes")
    assert (refused.returncode != 0, "still open" in refused.stderr) == (True, True)
    shop.ok("session", "finish", reference)
    without = shop("session", "purge", reference)
    assert (without.returncode, "--yes" in without.stderr) == (2, True)
    assert shop("session", "purge", "s99", "--yes").returncode != 0
    assert WORD in shop.ok("session", "log", reference)
    told = shop.json("session", "purge", reference, "--yes")
    assert (told["session_ids"], told["run_ids"], told["already"], told["left"]) == ([session_id], [], False, 0)
    again = shop.ok("session", "purge", reference, "--yes")
    assert again == "its texts were removed before\n"
    assert WORD not in shop.ok("session", "log", reference)
    assert shop("runs", "purge", "r99", "--yes").returncode != 0


@pytest.mark.requirement("R399")
def test_archived_sessions_are_listed_only_on_request_and_the_size_is_shown(shop: CommandLine) -> None:
    shop.ok("project", "add", ".")
    reference = "s" + str(shop.json("effort", "start", "login", "do")["session"]["id"])
    shop.ok("session", "finish", reference)
    listed = [each["id"] for each in shop.json("session", "list")["items"]]
    assert shop.json("session", "archive", reference)["already"] is False
    assert shop.json("session", "archive", reference)["already"] is True
    assert shop.json("session", "list")["items"] == []
    assert [each["id"] for each in shop.json("session", "list", "--archived")["items"]] == listed
    assert shop.json("session", "unarchive", reference)["archived_at"] is None
    assert [each["id"] for each in shop.json("session", "list")["items"]] == listed
    assert shop("session", "archive", "s99").returncode != 0
    size = shop.json("db", "size")
    assert size["total_bytes"] > 0
    assert {part["kind"] for part in size["parts"]} >= {"content", "records", "index"}
    assert all(len(line) <= 80 for line in shop.ok("db", "size").splitlines())
