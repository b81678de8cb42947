"""The settings of a project, as the machine that works on it has them."""

from tests.project_settings import write_trusted
from tests.runner.desk import Desk

from ramet.vendors import registry


def test_agents_see_the_variables_of_their_programs_unless_the_project_says_otherwise(desk: Desk) -> None:
    seen = desk.machine.settings_in(str(desk.project)).work.environment
    variables = registry.passed_variables()
    assert seen[-len(variables) :] == variables
    assert {"ANTHROPIC_*", "CLAUDE_*", "OPENAI_*", "CODEX_*", "AWS_*"} <= set(variables)
    write_trusted(desk.project, desk.machine.places.home, "work: {environment: [PATH]}\n")
    assert desk.machine.settings_in(str(desk.project)).work.environment == ["PATH"]
