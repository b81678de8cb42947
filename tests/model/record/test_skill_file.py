"""A SKILL.md is read as every agent program reads it, and what Ramet finds in it beside that."""

from contextlib import suppress

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ramet.errors import SkillFileInvalid
from ramet.model.record.skills.skill_file import MAX_BYTES, SkillFile, parse

WHOLE = """\
---
name: brainstorm
description: Think before building. Use it when the way is not clear.
license: Apache-2.0
compatibility: any
metadata:
  author: somebody
  version: 1.0
allowed-tools: Read Bash(git:*)
argument-hint: "[topic]"
phases:
  - 1: Dialogue Loop
  - "2: Synthesis"
  - label: "3: Decide"
    proof: [choice]
modes: {focused: one question at a time, wide: many}
templates:
  debrief: assets/DEBRIEF.md
directives:
  - heartbeat
next-skills: [implement]
---

# Brainstorm

Ask first.
"""


def refused(text: str | bytes, folder: str | None = None) -> SkillFileInvalid:
    with pytest.raises(SkillFileInvalid) as caught:
        parse(text, folder)
    return caught.value


@pytest.mark.requirement("R351")
@pytest.mark.parametrize(("written", "read"), [("CMD.md", ["CMD.md"]), ("[a.md, b/c.md]", ["a.md", "b/c.md"])])
def test_a_phase_names_its_command_files(written: str, read: list[str]) -> None:
    skill = parse(WHOLE.replace("proof: [choice]", f"commands: {written}"))
    assert skill.phases[2] == {"label": "3: Decide", "commands": read}


@pytest.mark.requirement("R351")
@pytest.mark.parametrize("written", ["7", "{a: b}", "[[a]]", "['']", "[3]"])
def test_command_files_that_are_no_paths_are_refused_with_their_line(written: str) -> None:
    error = refused(WHOLE.replace("proof: [choice]", f"commands: {written}"))
    assert (error.line, (error.field or "").startswith("phases[2].commands")) == (14, True)
    assert error.fix


@pytest.mark.requirement("R252")
def test_a_whole_file_says_what_the_open_format_has_and_what_ramet_has() -> None:
    skill = parse(WHOLE, "brainstorm")
    assert (skill.name, skill.license, skill.compatibility) == ("brainstorm", "Apache-2.0", "any")
    assert skill.description.startswith("Think before building.")
    assert skill.metadata == {"author": "somebody", "version": "1.0"}
    assert skill.allowed_tools == ["Read", "Bash(git:*)"]
    assert skill.phases == ["1: Dialogue Loop", "2: Synthesis", {"label": "3: Decide", "proof": ["choice"]}]
    assert skill.modes == {"focused": "one question at a time", "wide": "many"}
    assert (skill.templates, skill.directives) == ({"debrief": "assets/DEBRIEF.md"}, ["heartbeat"])
    assert skill.next_skills == ["implement"]
    assert skill.body == "# Brainstorm\n\nAsk first."


@pytest.mark.requirement("R359")
def test_a_skill_may_say_that_it_changes_code() -> None:
    assert parse("---\nname: a\ndescription: x\nchanges: code\n---\n").changes == "code"
    assert parse("---\nname: a\ndescription: x\n---\n").changes is None


def test_a_plain_agent_skill_is_enough() -> None:
    skill = parse("---\r\nname: tidy\r\ndescription: Tidy up.\r\n---\r\nDo.", "tidy")
    assert (skill.name, skill.phases, skill.body) == ("tidy", [], "Do.")


def test_tools_are_told_apart_by_blanks_or_commas_and_keep_their_rules() -> None:
    skill = parse("---\nname: a\ndescription: b\nallowed-tools: Bash(git add:*), Read,Grep  mcp__x__y\n---")
    assert skill.allowed_tools == ["Bash(git add:*)", "Read", "Grep", "mcp__x__y"]


def test_underscores_and_modes_as_a_list_are_understood() -> None:
    skill = parse("---\nname: a\ndescription: b\nnext_skills: plan\nmodes: [tdd, hotfix]\n---")
    assert (skill.next_skills, skill.modes) == (["plan"], {"tdd": "", "hotfix": ""})


@pytest.mark.requirement("R252", "R304")
@pytest.mark.parametrize(
    ("front", "line", "field"),
    [
        ("name: Brain Storm\ndescription: x", 2, "name"),
        ("name: a--b\ndescription: x", 2, "name"),
        ("description: x", 1, "name"),
        ("name: a", 1, "description"),
        ("name: a\ndescription: 12", 3, "description"),
        (f"name: a\ndescription: {'x' * 1025}", 3, "description"),
        (f"name: a\ndescription: x\ncompatibility: {'x' * 501}", 4, "compatibility"),
        ("name: a\ndescription: x\nmetadata: [1]", 4, "metadata"),
        ("name: a\ndescription: x\nphases:\n  - '2: b'\n  - '1: c'", 6, "phases[1]"),
        ("name: a\ndescription: x\nphases: many", 4, "phases"),
        ("name: a\ndescription: x\nphases:\n  - label: '1: b'\n    proof: {a: colour}", 5, "phases[0].proof"),
        ("name: a\ndescription: x\nphases:\n  - label: '1: b'\n    due: 2026-01-01", 5, "phases[0]"),
        ("name: a\ndescription: x\nmodes: {a: 2026-01-01}", 4, "modes"),
        ("name: a\ndescription: x\nmodes: {a: .inf}", 4, "modes"),
        ("name: a\ndescription: x\ntemplates: {a: 3}", 4, "templates"),
        ("name: a\ndescription: x\nnext-skills:\n  - b\n  - 3", 6, "next-skills[1]"),
        ("name: a\ndescription: x\nchanges: texts", 4, "changes"),
    ],
)
def test_what_is_wrong_is_named_with_its_line_and_its_field(front: str, line: int, field: str) -> None:
    error = refused(f"---\n{front}\n---\n")
    assert (error.line, error.field) == (line, field)
    assert error.message.startswith(f"line {line}: ")
    assert error.fix


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("# no front matter", 1),
        ("---\nname: a\n", 1),
        ("---\n- a\n---\n", 2),
        ("---\nname: a\nx: [\n---\n", 3),
        ("---\nname: &x a\ndescription: *x\n---\n", 3),
        ("---\nwhen: 2026-13-45\n---\n", 1),
        ("---\nx: " + "[" * 5000 + "\n---\n", 1),
        ("---\n" + "x: y\n" * 20_000 + "---\n", 1),
        ("---\nx: " + ":".join("1" * 1000) + "\n---\n", 2),
        ("---\nx: 0x" + "f" * 5000 + "\n---\n", 2),
        ('---\nx: "\\0"\n---\n', 2),
        ('---\nname: a\nx: {"\\ud800": y}\n---\n', 3),
        (b"---\nname: \xff\n---\n", 2),
        ("---\nname: a\nx: \0\n---\n", 3),
    ],
)
def test_what_is_not_front_matter_is_refused(text: str | bytes, line: int) -> None:
    assert refused(text).line == line


def test_a_skill_is_named_like_its_folder() -> None:
    error = refused(WHOLE, "storm")
    assert (error.line, error.field, error.value) == (2, "name", "brainstorm")


def test_a_file_that_is_too_large_is_refused() -> None:
    assert "larger" in refused(WHOLE + "x" * MAX_BYTES).message


@given(st.text(max_size=300) | st.text("{}[]:,-?!&*\"'\\\n .0123456789abcdefinoux_~|>", max_size=60))
def test_whatever_stands_there_is_read_as_json_has_it_or_refused(front: str) -> None:
    with suppress(SkillFileInvalid):
        skill = parse(f"---\nname: a\ndescription: b\nmodes:\n  {front}\n---\nbody")
        assert msgspec.json.decode(msgspec.json.encode(skill), type=SkillFile) == skill
