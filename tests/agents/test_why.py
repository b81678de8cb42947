"""Where lines of a real agent CLI come from: its edits and its commands, in an effort of the queue."""

from collections.abc import Iterator

import pytest
from tests.agents.project import Project
from tests.agents.scripts import SCRIPTS
from tests.agents.stage import a_stage

pytestmark = [pytest.mark.agents, pytest.mark.timeout(180)]

IDENTITY = ("-c", "user.name=P", "-c", "user.email=p@example.com")


@pytest.fixture
def project(real_agents: None) -> Iterator[Project]:
    with a_stage("claude", SCRIPTS, key_name="CLAUDE_CODE_OAUTH_TOKEN") as stage:
        made = Project(stage)
        try:
            yield made
        finally:
            made("daemon", "stop")


@pytest.mark.requirement("R395")
def test_lines_of_claude_code_name_its_edit_its_command_and_the_prompt(project: Project) -> None:
    (project.cwd / "shop.py").write_text("import shop\nopen_shop()\n")
    project.git(*IDENTITY, "add", "-A")
    project.git(*IDENTITY, "commit", "-q", "-m", "a shop")
    project.ok("add", "Greet everybody. [[edit]]", "--skill", "do")
    project.ok("work", "--once")
    effort = project.effort()
    assert effort["outcome"] == "success", effort
    project.git(*IDENTITY, "merge", "-q", "--squash", effort["git_branch"])
    project.git(*IDENTITY, "commit", "-q", "-m", "greet\n\nRamet-Effort: e1")
    assert project.json("why", "shop.py:2")["ranges"][0]["certainty"] == "unknown"
    edited = project.ok("why", "shop.py:3")
    assert "greet_every_customer(today)" in edited
    assert "Edit by claude s1" in edited
    assert "Greet everybody." in edited
    (source,) = project.json("why", "shop.py:4")["sources"]
    assert (source["effort_id"], source["edit"]["kind"], source["edit"]["tool"]) == (1, "shell", "Bash")
    assert source["edit"]["command"] == "echo 'close_shop(evening)' >> shop.py"
