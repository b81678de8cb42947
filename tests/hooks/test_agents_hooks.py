"""Hooks of an agent that Ramet runs: they carry its token, and reach its own session and nothing else."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.daemon.process import Home
from tests.hooks.conftest import Hook

from ramet.daemon.wire.tokens import Tokens

pytestmark = pytest.mark.requirement("R335")


class Fleet:
    """Two agents at work in two projects, of which the first calls hooks."""

    def __init__(self, hook: Hook, home: Home, folder: Path) -> None:
        self.hook = hook
        self.home = home
        home.serve(autostart=False)
        self.tokens = Tokens.of_home(home.path, str(home.socket))
        self.project, self.other = (self._make(folder / name) for name in ("own", "other"))
        self.session, self.stranger = self._begin(self.project, "own", 1), self._begin(self.other, "stranger", 2)
        self._began = max(event["id"] for event in self._events())

    def _make(self, project: Path) -> Path:
        project.mkdir()
        (project / "AGENTS.md").write_text(f"The rule of {project.name}.\n")
        self.ask("db.project.upsert", path=str(project))
        return project

    def _begin(self, project: Path, native_id: str, number: int) -> int:
        effort = self.ask("work.add", prompt=f"build {native_id}", skill="do", task=str(project / "task"))
        claimed = self.ask("work.claim", worker=f"host/{number}", effort_id=effort["id"])
        known = {"driver": "claude", "agent_id": f"host/{number}", "instance": f"keeper0{number}", "prompt": "go"}
        begun = {"effort_id": effort["id"], "generation": claimed["lease_generation"], "native_id": native_id}
        return int(self.ask("work.begin", **known, **begun)["session"]["id"])

    def ask(self, method: str, **params: Any) -> Any:
        answer = self.home.connect().call(method, **params)
        assert "error" not in answer, answer
        return answer["result"]

    def call(self, event: str, native_id: str = "own", cwd: Path | None = None, **fields: Any) -> str:
        """What the program prints when the first agent calls it."""
        payload = {"session_id": native_id, "hook_event_name": event, "cwd": str(cwd or self.project), **fields}
        environ = {
            "RAMET_SESSION": str(self.session),
            "RAMET_SOCKET": str(self.home.agents_socket),
            "RAMET_TOKEN": self.tokens.make(self.session),
        }
        done = self.hook.run(json.dumps(payload), environ=environ)
        assert (done.status, done.said) == (0, "")
        return done.out

    def seen(self) -> set[Any]:
        """The sessions about which something was recorded since the agents began."""
        return {event["session_id"] for event in self._events() if event["id"] > self._began}

    def _events(self) -> list[Any]:
        found: list[Any] = self.ask("events.list", limit=1000)["items"]
        return found


@pytest.fixture
def fleet(hook: Hook, tmp_path: Path) -> Iterator[Fleet]:
    home = Home(hook.home)
    yield Fleet(hook, home, tmp_path)
    home.close()


def test_a_hook_of_its_own_is_recorded_and_answered(fleet: Fleet) -> None:
    assert "The rule of own." in fleet.call("SessionStart", source="startup")
    assert fleet.seen() == {fleet.session}


def test_a_hook_of_another_session_does_nothing(fleet: Fleet) -> None:
    before = fleet.ask("db.counts")
    for event in ("SessionStart", "PreCompact", "Stop", "SessionEnd"):
        assert fleet.call(event, "stranger", cwd=fleet.other, source="startup") == ""
    assert fleet.ask("db.counts") == before
    assert fleet.seen() == set()
    assert fleet.ask("db.session.get", session_id=fleet.stranger)["ended_at"] is None


def test_a_new_conversation_stays_on_the_agents_own_effort(fleet: Fleet) -> None:
    answer = fleet.call("SessionStart", "fresh", cwd=fleet.other, source="clear")
    assert "build own" in answer
    assert "build stranger" not in answer
    assert fleet.stranger not in fleet.seen()


def test_a_folder_of_another_project_is_not_looked_at(fleet: Fleet) -> None:
    assert "The rule of other." not in fleet.call("SessionStart", cwd=fleet.other, source="startup")


def test_a_transcript_of_another_session_is_not_read(fleet: Fleet, tmp_path: Path) -> None:
    foreign, own = tmp_path / "stranger.jsonl", tmp_path / "own.jsonl"
    for path in (foreign, own, tmp_path / "own" / ".." / "stranger.jsonl"):
        fleet.call("SessionStart", source="resume", transcript_path=str(path))
    rows = fleet.ask("ingest.list")["items"]
    assert [row["path"] for row in rows] == [str(own)]


def test_without_its_token_it_is_refused_and_the_agent_goes_on(fleet: Fleet) -> None:
    payload = json.dumps({"session_id": "own", "hook_event_name": "Stop", "cwd": str(fleet.project)})
    for token in ("", "s1.forged"):
        environ = {"RAMET_SOCKET": str(fleet.home.agents_socket), "RAMET_TOKEN": token}
        assert fleet.hook.run(payload, environ=environ).status == 0
    assert fleet.seen() == set()
