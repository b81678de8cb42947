"""The settings that `ramet hooks install` writes, read by the real programs."""

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest
from tests.agents.stage import Stage

from ramet.cli.commands.system import hook_states
from ramet.cli.invocation import Invocation
from ramet.config.settings import DriverSettings
from ramet.hooks import installation
from ramet.installer.changes import apply
from ramet.vendors import registry, selection

pytestmark = [pytest.mark.agents, pytest.mark.timeout(180)]

_RECORDER = '#!/bin/sh\nprintf "%s %s\\n" "$1" "$(tr -d "\\n")" >> "$(dirname "$0")/heard"\n'


def hooks_in(stage: Stage, file: Path) -> Path:
    """Our hooks in a settings file, and a program that writes down what it hears; where it does."""
    apply(installation.plan_install(registry.settings()[stage.driver.name], file, file.parent))
    program = stage.folder / "home/.local/share/ramet/hook"
    program.parent.mkdir(parents=True)
    program.write_text(_RECORDER)
    program.chmod(0o755)
    return program.with_name("heard")


def heard(file: Path) -> list[tuple[str, dict[str, Any]]]:
    lines = [line.split(" ", 1) for line in file.read_text().splitlines()]
    return [(vendor, json.loads(payload)) for vendor, payload in lines]


def test_claude_calls_the_hooks_of_its_project(claude: Stage) -> None:
    record = hooks_in(claude, claude.directory / ".claude/settings.json")
    claude.run("[[tools]]", native_id="11111111-2222-4333-8444-555555555555")
    events = [payload["hook_event_name"] for vendor, payload in heard(record) if vendor == "claude"]
    assert events[:2] == ["SessionStart", "UserPromptSubmit"]
    assert {"PreToolUse", "PostToolUse", "Stop", "SessionEnd"} <= {*events}


def test_codex_calls_the_hooks_of_its_user(codex: Stage) -> None:
    codex.environment("gpt-5.5")
    record = hooks_in(codex, codex.folder / "home/.codex/hooks.json")
    codex.run("[[command]]", arguments=("--dangerously-bypass-hook-trust",))
    assert codex_events(record) >= CODEX_EVENTS


def test_codex_calls_the_hooks_of_the_main_checkout_in_a_worktree_that_has_its_folder_too(codex: Stage) -> None:
    record = hooks_in(codex, codex.folder / "repository/.codex/hooks.json")
    trust_folder = f'projects."{codex.folder}/repository".trust_level="trusted"'
    arguments = ("--dangerously-bypass-hook-trust", "-c", trust_folder)
    codex.run("[[command]]", arguments=arguments)
    assert not record.exists(), "the worktree has no .codex"
    (codex.directory / ".codex").mkdir()
    codex.run("[[command]]", arguments=arguments)
    assert codex_events(record) >= CODEX_EVENTS


def test_codex_runs_what_was_trusted_and_goes_on_trusting_what_others_have(codex: Stage) -> None:
    """Nobody is asked in `codex exec`: what is not trusted is passed over in silence."""
    codex.environment("gpt-5.5")
    home = (codex.folder / "home/.codex").rename(codex.folder / "codex")
    file, foreign = home / "hooks.json", codex.folder / "foreign"
    theirs = {"hooks": [{"type": "command", "command": f"echo stopped >> {foreign}"}]}
    file.write_text(json.dumps({"hooks": {"Stop": [theirs]}}))
    trust_all(codex, home)
    record = hooks_in(codex, file)
    codex.run("[[command]]", more={"CODEX_HOME": str(home)})
    assert (foreign.read_text(), record.exists()) == ("stopped\n", False)
    trust_all(codex, home)
    codex.run("[[command]]", more={"CODEX_HOME": str(home)})
    assert codex_events(record) >= CODEX_EVENTS
    invocation = Invocation({"HOME": str(codex.folder / "home"), "CODEX_HOME": str(home)})
    assert hook_states.find_to_do(invocation, registry.settings()["codex"], "user") is None


CODEX_EVENTS = {"SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "Stop"}


def codex_events(record: Path) -> set[str]:
    return {payload["hook_event_name"] for vendor, payload in heard(record) if vendor == "codex"}


def trust_all(stage: Stage, home: Path) -> None:
    """What a person does who chooses "Trust all" when Codex asks."""
    program = selection.resolve("codex", DriverSettings(), {"PATH": os.environ["PATH"]}).program
    asked = [
        {"id": 1, "method": "initialize", "params": {"clientInfo": {"name": "test", "version": "1"}}},
        {"id": 2, "method": "hooks/list", "params": {"cwds": [str(stage.directory)]}},
    ]
    with subprocess.Popen(
        [*stage.model.wrapper, *program, "app-server"],
        env={**stage.environment("gpt-5.5"), "CODEX_HOME": str(home)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        server.stdin.write("".join(f"{json.dumps(each)}\n" for each in asked))
        server.stdin.flush()
        answers = (json.loads(line) for line in server.stdout)
        (found,) = next(answer for answer in answers if answer.get("id") == asked[-1]["id"])["result"]["data"]
        server.kill()
    states = [
        f'[hooks.state."{hook["key"]}"]\ntrusted_hash = "{hook["currentHash"]}"\n'
        for hook in found["hooks"]
        if hook["trustStatus"] != "trusted"
    ]
    with (home / "config.toml").open("a") as config:
        config.writelines(states)
