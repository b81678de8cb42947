"""The real Claude Code as a person starts it: Ramet's tools know by its hooks which session they belong to."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.agents.hooked import WINDOW, Hooked
from tests.agents.stage import Stage, a_stage

pytestmark = [pytest.mark.agents, pytest.mark.timeout(180)]

SCRIPTS = {"noting": [[{"tool": "mcp__ramet__log", "input": {"text": "the till is mended"}}], [{"text": "Noted."}]]}


@pytest.fixture
def stage(real_agents: None) -> Iterator[Stage]:
    with a_stage("claude", SCRIPTS) as made:
        yield made


@pytest.mark.requirement("R249")
def test_a_note_of_an_agent_that_a_person_started_is_in_the_log_of_its_effort(stage: Stage) -> None:
    hooked = Hooked(stage)
    try:
        hooked.ok("mcp", "install", "claude")
        configuration = ("--mcp-config", str(stage.directory / ".mcp.json"), "--strict-mcp-config")
        may = ("--allowedTools", "mcp__ramet")
        hooked.run("Note it. [[noting]]", native_id=WINDOW, arguments=(*configuration, *may))
        hooked.settle()
        answered = json.loads(next(text for role, text in hooked.said() if role == "tool" and "logged" in text))
        assert "the till is mended" in Path(answered["path"]).read_text()
        assert Path(answered["path"]).parts[-3:] == (".ramet", "adhoc", "1_DO_LOG.md")
    finally:
        hooked.close()
