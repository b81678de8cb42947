"""A real daemon in whose directories no project is registered, and hooks that come twice."""

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.daemon.process import Home
from tests.hooks.conftest import Done, Hook
from tests.hooks.conftest import hook as hook  # noqa: PLC0414 - a fixture

from ramet.daemon.hooks.repeated_calls import RepeatedCalls
from ramet.daemon.hooks.unrecorded_sessions import UnrecordedSessions
from ramet.model.hooks.hook import HookEvent
from ramet.protocol.hooks.hooks import HookFacts


@pytest.fixture
def home(hook: Hook) -> Iterator[Home]:
    """A daemon that keeps to registered projects, as by default."""
    home = Home(hook.home)
    home.settings = {}
    hook.program.write_text(hook.program.read_text().replace(str(hook.socket), str(home.socket)))
    home.serve(autostart=False)
    yield home
    home.close()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A repository that is not registered."""
    subprocess.run(["git", "init", "-q", str(tmp_path / "site")], check=True)
    return tmp_path / "site"


def said(event: str, folder: Path, **fields: Any) -> str:
    return json.dumps({"session_id": "s", "hook_event_name": event, "cwd": str(folder), **fields})


def ask(home: Home, method: str, **params: Any) -> Any:
    return home.connect().call(method, **params)["result"]


@pytest.mark.requirement("R366")
def test_the_first_project_that_is_not_registered_gets_a_hint_and_nothing_is_stored(
    home: Home, hook: Hook, folder: Path
) -> None:
    before = len(ask(home, "events.list", limit=1000)["items"])
    first = hook.run(said("SessionStart", folder, source="startup"))
    assert "ramet init" in json.loads(first.out)["systemMessage"]
    calls = [
        said("SessionStart", folder, source="resume"),
        said("UserPromptSubmit", folder, prompt="hello"),
        said("PreToolUse", folder, tool_name="Bash", tool_use_id="t1"),
        said("Stop", folder),
        "{",
    ]
    assert [hook.run(call) for call in calls] == [Done(0, "", "")] * len(calls)
    assert len(ask(home, "events.list", limit=1000)["items"]) == before
    assert ask(home, "db.project.list")["items"] == []
    ask(home, "db.project.upsert", path=str(folder))
    hook.run(said("UserPromptSubmit", folder, prompt="hello again"))
    assert ask(home, "db.query", sql="SELECT native_id FROM sessions")["rows"] == [["s"]]


@pytest.mark.requirement("R366")
def test_hooks_in_both_scopes_record_once(home: Home, hook: Hook, folder: Path) -> None:
    ask(home, "db.project.upsert", path=str(folder))
    hook.run(said("SessionStart", folder, source="startup"))
    for call in (
        said("PreToolUse", folder, tool_name="Bash", tool_use_id="t1"),
        said("PostToolUse", folder, tool_name="Bash", tool_use_id="t1"),
        said("UserPromptSubmit", folder, prompt="hello"),
    ):
        both = [hook.start(), hook.start()]
        for process in both:
            process.communicate(call.encode())
    assert ask(home, "db.query", sql="SELECT heartbeat_counter FROM sessions")["rows"] == [[1]]
    moments = [row["data"]["moment"] for row in ask(home, "events.list", kind="session.heartbeat")["items"]]
    assert moments == ["session_start", "pre_tool_use", "post_tool_use", "user_prompt"]


def event(**said: Any) -> HookEvent:
    return HookEvent(**{"vendor": "claude", "moment": "stop", "name": "Stop", "native_id": "s", **said})


def test_only_the_same_words_of_another_process_are_a_repetition() -> None:
    calls = RepeatedCalls()
    assert not calls.is_repeated(event(), "a", 1)
    assert not calls.is_repeated(event(), "a", 1), "one process has one connection for each"
    assert calls.is_repeated(event(), "a", 2)
    assert not calls.is_repeated(event(native_id="t"), "a", 2)
    assert not calls.is_repeated(event(), "b", 2)


def test_two_calls_of_a_tool_without_ids_are_two_calls() -> None:
    calls = RepeatedCalls()
    for caller in (1, 2):
        assert not calls.is_repeated(event(moment="pre_tool_use"), "a", caller)
        assert not calls.is_repeated(event(moment="status_line"), "a", caller)


def test_the_hint_is_for_a_repository_and_for_one_only(tmp_path: Path) -> None:
    start, facts = event(moment="session_start"), HookFacts(project="/p", is_repository=True)
    unrecorded = UnrecordedSessions(tmp_path)
    assert unrecorded.hint(start, HookFacts(project="/p")) is None
    assert unrecorded.hint(event(), facts) is None
    assert "ramet init" in (unrecorded.hint(start, facts) or "")
    assert UnrecordedSessions(tmp_path).hint(start, facts) is None


def test_the_hint_is_not_noted_through_a_link(tmp_path: Path) -> None:
    (tmp_path / "hinted").symlink_to(tmp_path / "else")
    facts = HookFacts(project="/p", is_repository=True)
    assert UnrecordedSessions(tmp_path).hint(event(moment="session_start"), facts) is None
    assert not (tmp_path / "else").exists()
