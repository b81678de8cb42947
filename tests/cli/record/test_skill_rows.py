"""The table of skills follows the files of the project, through the real command line and the real daemon."""

import json
from typing import Any

import pytest
from tests.cli.command_line import CommandLine

PAINT = """\
---
name: paint
description: Paint things.
phases: ["1: Prime", {label: "2: Paint", proof: [coats]}]
modes: {quick: one coat}
templates: {bill: assets/bill.md}
cmd-dependencies: [bin/mix]
next-skills: [review]
directives: [Never paint wet wood]
---
ALWAYS USE BLUE PAINT.
"""


@pytest.fixture
def shop(ramet: CommandLine) -> CommandLine:
    """A project with a skill of its own."""
    ramet.ok("project", "add", ".")
    file = ramet.cwd / ".claude" / "skills" / "paint" / "SKILL.md"
    (file.parent / "assets").mkdir(parents=True)
    (file.parent / "assets" / "bill.md").write_text("Bill: ...")
    file.write_text(PAINT)
    return ramet


def row(shop: CommandLine) -> dict[str, Any]:
    columns = "phases, modes, templates, cmd_dependencies, next_skills, directives"
    reply = shop.json("query", f"SELECT {columns} FROM skills WHERE name = 'paint'")
    ((values),) = reply["rows"]
    return {name: json.loads(value) for name, value in zip(reply["columns"], values, strict=True)}


@pytest.mark.requirement("R190", "R235")
def test_the_row_of_a_skill_has_what_its_file_says_and_follows_a_change_of_it(shop: CommandLine) -> None:
    shop.ok("add", "Paint the cart.", "--skill", "paint")
    assert row(shop) == {
        "phases": ["1: Prime", {"label": "2: Paint", "proof": ["coats"]}],
        "modes": {"quick": "one coat"},
        "templates": {"bill": "assets/bill.md"},
        "cmd_dependencies": ["bin/mix"],
        "next_skills": ["review"],
        "directives": ["Never paint wet wood"],
    }
    file = shop.cwd / ".claude" / "skills" / "paint" / "SKILL.md"
    file.write_text(PAINT.replace('"1: Prime"', '"1: Sand"').replace("next-skills: [review]\n", ""))
    shop.ok("add", "Paint the door.", "--skill", "paint")
    found = row(shop)
    assert (found["phases"][0], found["next_skills"]) == ("1: Sand", [])
    assert "paint" in shop.ok("skill", "list")
