"""The real Codex as a person starts it: it tells Ramet's tools no session, and they find it by its process."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.agents.hooked import Hooked
from tests.agents.stage import Stage, a_stage

pytestmark = [pytest.mark.agents, pytest.mark.timeout(240)]

SCRIPTS = {
    "noting": [
        [{"tool": "log", "namespace": "mcp__ramet", "input": {"text": "the till is mended"}}],
        [{"text": "Noted."}],
    ],
}
_LOGGED = r'"status": "logged", "path": "(?P<path>[^"]+)"'


@pytest.fixture
def stage(real_agents: None) -> Iterator[Stage]:
    with a_stage("codex", SCRIPTS) as made:
        yield made


@pytest.mark.requirement("R369")
def test_a_note_of_a_codex_that_a_person_started_is_in_the_log_of_its_own_session(stage: Stage) -> None:
    hooked = Hooked(stage)
    try:
        hooked.ok("mcp", "install", "codex")
        trusted = ("-c", f'projects."{stage.folder}/repository".trust_level="trusted"')
        file = stage.directory / ".codex/config.toml"
        # It waits for the server then. A person types for longer than that takes.
        file.write_text(file.read_text().replace("[mcp_servers.ramet]\n", "[mcp_servers.ramet]\nrequired = true\n"))
        for number in (1, 2):
            done = hooked.run("Note it. [[noting]]", arguments=(*trusted, "-c", 'approval_policy="never"'))
            hooked.settle()
            answered = [text for role, text in hooked.said(number) if role == "tool"]
            (logged,) = [Path(found["path"]) for text in answered if (found := re.search(_LOGGED, text))]
            assert "the till is mended" in logged.read_text()
            assert logged.name == f"{number}_DO_LOG.md"
            assert hooked.query("SELECT native_id FROM sessions ORDER BY id")[-1] == [done.native_id]
    finally:
        hooked.close()
