"""The real programs as people meet Ramet: started in a sub-directory, and after the daemon was killed."""

from collections.abc import Iterator
from typing import Any

import psutil
import pytest
from tests.agents.hooked import WINDOW, Hooked
from tests.agents.scripts import SCRIPTS
from tests.agents.stage import a_stage, wait_for

pytestmark = [pytest.mark.agents, pytest.mark.timeout(240)]

RULES = {"claude": "AGENTS.md", "codex": "CLAUDE.md"}
"""What each of them does not read by itself."""


@pytest.fixture(params=["claude", "codex"])
def hooked(request: pytest.FixtureRequest, real_agents: None) -> Iterator[Hooked]:
    """Set up by `ramet init`, as it is by default: only registered projects are recorded."""
    with a_stage(request.param, SCRIPTS) as stage:
        hooked = Hooked(stage, record="registered")
        (stage.directory / RULES[request.param]).write_text("Prices are whole cents.\n")
        hooked.ok("init", "--agent", request.param)
        yield hooked
        hooked.close()


def kill_daemon(hooked: Hooked) -> None:
    daemon = psutil.Process(hooked.json("daemon", "status")["pid"])
    daemon.kill()
    wait_for(lambda: not daemon.is_running() or daemon.status() == psutil.STATUS_ZOMBIE, "the daemon's end")


def named(hooked: Hooked) -> dict[str, Any]:
    return {"native_id": WINDOW} if hooked.stage.driver.name == "claude" else {}


@pytest.mark.requirement("R366")
def test_a_session_in_a_sub_directory_is_recorded_and_elsewhere_none_is(hooked: Hooked) -> None:
    top = hooked.stage.directory
    (top / "deep").mkdir()
    hooked.stage.directory = top / "deep"
    hooked.run("Which colour? [[answer]]", **named(hooked))
    hooked.settle()
    assert ("user", "Which colour? [[answer]]") in hooked.said()
    assert hooked.query("SELECT task_id FROM sessions") == [[f"{hooked.stage.folder}/repository/.ramet/adhoc"]]
    hooked.stage.directory = hooked.stage.folder / "elsewhere"
    hooked.stage.directory.mkdir()
    hooked.stage.run("Which colour? [[answer]]", arguments=hooked.trust())
    assert hooked.query("SELECT count(*) FROM sessions") == [[1]]


@pytest.mark.requirement("R367")
def test_the_first_session_after_the_daemon_was_killed_gets_its_rules_and_its_contract(hooked: Hooked) -> None:
    kill_daemon(hooked)
    first = hooked.run("Which colour? [[answer]]", **named(hooked))
    assert all(
        "Prices are whole cents." in hooked.asked(number) for number in range(len(hooked.stage.model.requests()))
    )
    hooked.settle()
    hooked.wait_for_ends()
    kill_daemon(hooked)
    hooked.run("And now? [[again]]", native_id=first.native_id, resumes=True)
    assert "ramet-resume-contract" in hooked.asked()
    assert not (hooked.data / "gaps.jsonl").exists()
