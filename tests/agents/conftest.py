"""The real CLIs, where they are installed; and what is said where they are not."""

import os
from collections.abc import Iterator

import pytest
from tests.agents import npm_programs, stage
from tests.agents.scripts import SCRIPTS
from tests.agents.stage import Stage, a_stage


def pytest_report_header() -> str:
    if stage.isolation() is None:
        return "agents: NOT ISOLATED: no network namespace can be made here; only their settings keep the CLIs offline"
    return "agents: in a network namespace that has only loopback"


@pytest.fixture(scope="session")
def real_agents() -> None:
    """On a laptop the tests say loudly what they leave out; a build that leaves it out has failed."""
    missing = stage.missing()
    if missing:
        message = f"NOT TESTED WITH REAL AGENTS: {', '.join(missing)} not installed; `make test-agents` installs them"
        if os.environ.get("CI", "").lower() in ("1", "true"):
            pytest.fail(message)
        pytest.skip(message)


@pytest.fixture(scope="session")
def npm_agents() -> None:
    """The same for the programs that npm has."""
    missing = npm_programs.missing()
    if missing:
        message = (
            f"NOT TESTED WITH REAL AGENTS: {', '.join(missing)} not installed; `make test-agents` needs npm for it"
        )
        if os.environ.get("CI", "").lower() in ("1", "true"):
            pytest.fail(message)
        pytest.skip(message)


@pytest.fixture
def claude(real_agents: None) -> Iterator[Stage]:
    with a_stage("claude", SCRIPTS) as made:
        yield made


@pytest.fixture
def codex(real_agents: None) -> Iterator[Stage]:
    with a_stage("codex", SCRIPTS) as made:
        yield made
