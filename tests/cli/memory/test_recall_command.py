"""`ramet recall`, `fix`, `how` and `files` on a terminal and for programs."""

import json
from typing import Any

import pytest
from tests.cli.command_line import CommandLine

SAID = "The webhook signature is computed over the raw body."
ERROR = "ModuleNotFoundError: No module named 'yaml'"


def call(shop: CommandLine, name: str, **params: Any) -> Any:
    return json.loads(shop.ok("rpc", "call", name, json.dumps(params)))


def entry(key: str, text: str, **said: Any) -> dict[str, Any]:
    number = int(key)
    return {"key": key, "kind": "text", "text": text, "at": f"2026-01-05T08:{number:02}:00Z", **said}


def ran(key: int, command: str, *, fails: bool = False) -> list[dict[str, Any]]:
    call_id, printed = f"call{key}", ERROR if fails else "ok"
    given = json.dumps({"command": command})
    return [
        entry(str(key), given, kind="tool_call", tool="Bash", call_id=call_id),
        entry(str(key + 1), printed, kind="tool_result", role="tool", call_id=call_id, is_error=fails),
    ]


def remember(shop: CommandLine, *entries: dict[str, Any], folder: str = ".") -> int:
    """A session in a project of its own, and what its transcript says."""
    project = (shop.cwd / folder).resolve()
    project.mkdir(exist_ok=True)
    shop.ok("project", "add", str(project))
    task = call(shop, "db.task.upsert", dir_path=f"{project}/task")["dir_path"]
    effort = call(shop, "db.effort.start", task_id=task, skill="do")["id"]
    session = call(shop, "db.session.start", task_id=task, effort_id=effort)["id"]
    call(shop, "ingest.add", session_id=session, path=f"/t/{session}.jsonl", offset=9, entries=list(entries))
    return int(session)


@pytest.mark.requirement("R391", "R394")
def test_people_and_programs_recall_what_is_on_record(shop: CommandLine) -> None:
    edit = {"file_path": str(shop.cwd / "hooks.py"), "old_string": "a", "new_string": "b"}
    session = remember(
        shop,
        entry("1", "Why do webhook signatures fail?", role="user"),
        entry("2", SAID),
        entry("3", json.dumps(edit), kind="tool_call", tool="Edit", call_id="call3"),
        *ran(4, "make test", fails=True),
        *ran(6, "uv add pyyaml"),
        *ran(8, "make test"),
    )
    other = remember(shop, entry("1", "The webhook of the bank is signed twice."), folder="../bank")
    found = shop.json("recall", "webhook", "signature", "body")
    assert list(found) == ["text", "items", "tokens"]
    place = found["items"][0]["place"]
    assert place.startswith(f"s{session}:")
    assert f"> {SAID}" in shop.ok("recall", "webhook signature body")
    assert "Why do webhook signatures fail?" in shop.ok("recall", place)
    assert f"s{other}:" not in found["text"]
    assert f"s{other}:" in shop.ok("recall", "-A", "webhook", "bank", "signed")
    assert "> ran: uv add pyyaml" in shop.ok("fix", "-", stdin=f"Traceback\n{ERROR}\n")
    headings, row = shop.ok("how", "uv").splitlines()
    assert headings.split() == ["PLACE", "EXIT", "TIMES", "AGE", "COMMAND"]
    assert row.split()[1:3] == ["0", "1"]
    assert row.endswith("uv add pyyaml")
    assert shop.json("files", "webhook signatures")["items"][0]["text"] == edit["file_path"]

    nothing = shop("recall", "kubernetes", "operator")
    assert (nothing.returncode, nothing.stdout) == (1, "")
    assert nothing.stderr == "nothing relevant is on record\n"
    silent = shop("how", "podman", "--json")
    assert (silent.returncode, json.loads(silent.stdout)) == (1, {"text": "", "items": [], "tokens": 0})

    assert shop("recall").returncode == 2
    assert shop("fix", "-").returncode == 2
    unknown = shop("recall", "s999")
    assert unknown.returncode == 3
    assert "there is no session 999" in unknown.stderr
    long = shop("recall", 'x"' * 50_000)
    assert (long.returncode, long.stdout, long.stderr) == (1, "", nothing.stderr)


@pytest.mark.requirement("R455")
def test_a_prompt_gets_what_earlier_sessions_know_and_a_project_can_turn_that_off(shop: CommandLine) -> None:
    filler = [entry(str(number), f"The weather report {number} says clouds again.") for number in range(3, 33)]
    session = remember(shop, entry("1", "Why do webhook signatures fail?", role="user"), entry("2", SAID), *filler)
    assert shop.ok("recall", "webhook signature body")
    window = {
        "session_id": "47442aa6-e4ab-41e7-bb50-4f9c173aba97",
        "cwd": str(shop.cwd),
        "transcript_path": "/t/w.jsonl",
    }

    def event(name: str, **said: Any) -> Any:
        payload = {**window, "hook_event_name": name, **said}
        return call(shop, "hooks.event", vendor="claude", payload=payload)["output"]

    assert event("SessionStart", source="startup") is None
    said = event("UserPromptSubmit", prompt="Check the webhook signature of the raw body again.")
    context = said["hookSpecificOutput"]["additionalContext"]
    assert context.startswith("<ramet-recall>")
    assert f"\ns{session}:" in context
    assert len(context.encode()) <= 1536
    assert event("UserPromptSubmit", prompt="Paint the ceiling of the chapel in gold leaf.") is None
    (injected,) = json.loads(shop.ok("events", "--kind", "session.injected", "--json"))["items"]
    assert injected["data"]["source"] == "recall"
    assert injected["data"]["tokens"] == len(context) // 4

    (shop.cwd / "ramet.yaml").write_text("recall:\n  prompt_bytes: 0\n")
    window["session_id"] = "01a1ddd8-58c6-7093-84d9-fd1051399c90"
    shop.ok("daemon", "stop")
    assert shop.ok("recall", "webhook signature body")
    assert event("UserPromptSubmit", prompt="Check the webhook signature of the raw body again.") is None
