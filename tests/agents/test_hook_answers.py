"""What hooks are answered, as the real programs take it: what they are told reaches the model, a refusal too."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.agents.stage import Stage
from tests.hooks.listener import Listener, listening, saying

from ramet.config.places import find_places
from ramet.config.settings import DaemonSettings, HookSettings, Settings
from ramet.hooks import installation
from ramet.hooks.program import write_program
from ramet.installer.changes import apply
from ramet.model.hooks.hook import HookAnswer, HookEvent
from ramet.vendors import registry
from ramet.vendors.contract.hooks import payload as hook_payload

pytestmark = [pytest.mark.agents, pytest.mark.timeout(180)]

Decide = Callable[[HookEvent], HookAnswer]

_SETTINGS = Settings(daemon=DaemonSettings(autostart=False), hooks=HookSettings(deadline_ms=2500))


@contextmanager
def hooked(stage: Stage, file: Path, decide: Decide) -> Iterator[Listener]:
    """The installed hooks and the real program, with a stand-in for the daemon that answers as a test decides."""

    def respond(request: dict[str, Any]) -> bytes | None:
        vendor = registry.hooks()[request["params"]["vendor"]]
        event = vendor.read(hook_payload.parse(request["params"]["payload"]))
        return saying(*vendor.answer(event, decide(event)))(request)

    apply(installation.plan_install(registry.settings()[stage.driver.name], file, file.parent))
    places = find_places({"RAMET_HOME": str(stage.folder / "home/.local/share/ramet")}, _SETTINGS)
    write_program(_SETTINGS, places)
    places.socket.parent.mkdir(parents=True)
    with listening(places.socket, respond) as daemon:
        yield daemon
    assert not (places.home / "gaps.jsonl").exists()


def inform(event: HookEvent) -> HookAnswer:
    return HookAnswer(context=f"told at {event.name}", notice="for the person")


def refuse(event: HookEvent) -> HookAnswer:
    return HookAnswer(is_blocked=event.moment == "pre_tool_use", reason="log it first, says ramet")


def said_to_model(stage: Stage) -> str:
    return json.dumps(stage.model.requests())


@pytest.mark.requirement("R244")
def test_what_claude_is_told_at_its_hooks_reaches_its_model(claude: Stage) -> None:
    with hooked(claude, claude.directory / ".claude/settings.json", inform):
        claude.run("[[tools]]")
    said = said_to_model(claude)
    for event in ("SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse"):
        assert f"told at {event}" in said


@pytest.mark.requirement("R240", "R244")
def test_claude_s_model_is_told_why_a_tool_call_was_refused(claude: Stage) -> None:
    with hooked(claude, claude.directory / ".claude/settings.json", refuse) as daemon:
        claude.run("[[tools]]")
    assert "log it first, says ramet" in said_to_model(claude)
    events = [json.loads(request["params"]["payload"])["hook_event_name"] for request in daemon.requests]
    assert "PostToolUse" not in events


@pytest.mark.requirement("R244")
def test_what_codex_is_told_at_its_hooks_reaches_its_model(codex: Stage) -> None:
    codex.environment("gpt-5.5")
    with hooked(codex, codex.folder / "home/.codex/hooks.json", inform):
        codex.run("[[command]]", arguments=("--dangerously-bypass-hook-trust",))
    said = said_to_model(codex)
    for event in ("SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse"):
        assert f"told at {event}" in said


@pytest.mark.requirement("R240", "R244")
def test_codex_s_model_is_told_why_a_tool_call_was_refused(codex: Stage) -> None:
    codex.environment("gpt-5.5")
    with hooked(codex, codex.folder / "home/.codex/hooks.json", refuse):
        codex.run("[[command]]", arguments=("--dangerously-bypass-hook-trust",))
    assert "log it first, says ramet" in said_to_model(codex)
