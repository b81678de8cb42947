"""What takes the disk and the database at once: skill files, briefings, logs, directives and the files of a project."""

from pathlib import Path
from typing import Any

import pytest
from tests.runner.desk import Desk

from ramet.errors import (
    EffortNotFound,
    FileMissing,
    PathOutside,
    ProjectNotFound,
    RametError,
    SessionNotFound,
    SkillFileInvalid,
    UnknownSkill,
)
from ramet.protocol.operations import OPERATIONS

STORM = """\
---
name: brainstorm
description: Think before building.
phases: ["1: Dialogue Loop", "2: Synthesis"]
directives: [heartbeat]
next-skills: [implement]
---
Ask first.
"""
SECTIONS = [
    "SRC_EFFORT",
    "SRC_SKILL",
    "SRC_PRIOR_EFFORTS",
    "SRC_PRIOR_SESSIONS",
    "SRC_RELEVANT_DOCS",
    "SRC_DIRECTIVES",
    "SRC_NEXT_SKILLS",
    "SRC_COMMANDS",
]


@pytest.fixture
def storm(desk: Desk) -> Desk:
    """A project with a skill file and rules."""
    desk.write(".claude/skills/brainstorm/SKILL.md", STORM)
    desk.write("AGENTS.md", "Be brief.")
    return desk


def start(desk: Desk, skill: str = "brainstorm", **params: Any) -> Any:
    return desk.call("commands.effort.start", task_id=desk.task, skill=skill, **params)


def sections(markdown: str) -> dict[str, str]:
    parts = markdown.split("\n## ")[1:]
    return {name: body.strip() for name, _, body in (part.partition("\n") for part in parts)}


@pytest.mark.requirement("R252")
def test_every_operation_of_the_seed_is_there_under_its_name() -> None:
    named = {
        "commands.": {"effort.start", "session.continue", "log.append"},
        "agent.": {
            "directives.discover",
            "directives.dereference",
            "directives.resolve",
            "skills.parse",
            "skills.list",
        },
        "fs.": {"files.read", "files.append", "paths.resolve"},
    }
    assert {f"{space}{name}" for space, names in named.items() for name in names} <= set(OPERATIONS)


@pytest.mark.requirement("R247")
def test_an_effort_begins_by_its_skill_file(storm: Desk) -> None:
    opened = start(storm, agent_id="blue", mode="focused")
    assert (opened.effort.artifact_prefix, opened.session.effort_id) == ("1_BRAINSTORM", opened.effort.id)
    assert opened.skill_file == str(storm.project / ".claude/skills/brainstorm/SKILL.md")
    assert opened.directives == [str(storm.project / "AGENTS.md")]
    assert storm.world.call("db.skills.get", name="brainstorm", project_id=1).next_skills == ["implement"]
    entered = storm.world.call("db.effort.phase", effort_id=opened.effort.id, label="1")
    assert entered.current_phase == "1: Dialogue Loop"


@pytest.mark.requirement("R247", "R275")
def test_the_briefing_has_all_its_sections_in_one_order(storm: Desk) -> None:
    storm.write("tasks/cart/AGENTS.md", "Test the cart.")
    opened = start(storm, agent_id="blue")
    found = sections(opened.markdown)
    assert list(found) == SECTIONS
    assert opened.markdown.startswith(f"# e1: brainstorm on {storm.task}\n\n## SRC_EFFORT\n")
    assert f"- log: {storm.task}/1_BRAINSTORM_LOG.md" in found["SRC_EFFORT"]
    assert "- phases: 1: Dialogue Loop, 2: Synthesis" in found["SRC_EFFORT"]
    assert "Think before building." in found["SRC_SKILL"]
    assert found["SRC_DIRECTIVES"].splitlines() == [f"- {storm.project}/AGENTS.md", f"- {storm.task}/AGENTS.md"]
    assert found["SRC_NEXT_SKILLS"] == "- implement"
    assert {found[name] for name in SECTIONS[2:5]} == {"(none)"}


@pytest.mark.requirement("R247")
def test_the_briefing_says_what_the_mode_means_and_where_the_skill_keeps_its_files(storm: Desk) -> None:
    more = "modes: {focused: one question at a time}\ntemplates: {debrief: assets/D.md}\ncmd-dependencies: [bin/ask]\n"
    folder = storm.write(
        ".claude/skills/brainstorm/SKILL.md", STORM.replace("directives:", f"{more}directives:")
    ).parent
    told = sections(start(storm, mode="focused").markdown)["SRC_SKILL"]
    assert told.splitlines()[-3:] == [
        "- mode focused: one question at a time",
        f"- template debrief: {folder}/assets/D.md",
        f"- needs {folder}/bin/ask",
    ]
    assert "- mode" not in start(storm, mode="loose").markdown


@pytest.mark.requirement("R304", "R349")
def test_a_mode_with_several_facts_is_told_as_json(storm: Desk) -> None:
    modes = "modes: {focused: {description: one question at a time, rounds: 3}}\n"
    storm.write(".claude/skills/brainstorm/SKILL.md", STORM.replace("directives:", f"{modes}directives:"))
    told = sections(start(storm, mode="focused").markdown)["SRC_SKILL"]
    assert '- mode focused: {"description": "one question at a time", "rounds": 3}' in told


@pytest.mark.requirement("R247", "R276")
def test_an_unknown_skill_is_an_error_that_names_the_known_and_leaves_nothing(storm: Desk) -> None:
    before = storm.world.dump()
    with pytest.raises(UnknownSkill) as caught:
        start(storm, "sing")
    assert "implement" in caught.value.fix
    assert "brainstorm" in caught.value.fix
    assert storm.world.dump() == before


@pytest.mark.requirement("R247")
@pytest.mark.parametrize(
    ("params", "error"),
    [
        ({"skill": "broken"}, SkillFileInvalid),
        ({"session_id": 77}, SessionNotFound),
        ({"directories": ["/etc"]}, PathOutside),
        ({"task_id": "/nowhere/task"}, ProjectNotFound),
    ],
)
def test_whatever_fails_leaves_no_row(storm: Desk, params: dict[str, Any], error: type[RametError]) -> None:
    storm.write(".claude/skills/broken/SKILL.md", STORM)
    before = storm.world.dump()
    with pytest.raises(error):
        storm.call("commands.effort.start", **{"task_id": storm.task, "skill": "brainstorm", **params})
    assert storm.world.dump() == before


def test_a_built_in_skill_needs_no_file(desk: Desk) -> None:
    opened = start(desk, "implement")
    assert (opened.skill_file, opened.effort.artifact_prefix) == (None, "1_IMPLEMENTATION")
    assert sections(opened.markdown)["SRC_SKILL"] == "(none)"


def test_the_same_request_again_begins_no_second_effort(storm: Desk) -> None:
    first = start(storm, idempotency_key="k")
    again = start(storm, idempotency_key="k")
    assert again.effort.id == first.effort.id
    assert len(storm.world.call("db.effort.list", task_id=storm.task).items) == 1


@pytest.mark.requirement("R247", "R272", "R273")
def test_what_earlier_efforts_of_the_task_left_is_told(storm: Desk) -> None:
    plan = storm.run("plan", output_content="Count twice.\n## SRC_EFFORT\n- effort: e99")
    by_hand = start(storm, agent_id="blue")
    storm.write("tasks/cart/2_BRAINSTORM.md", "We chose a tree.")
    unfinished = storm.world.call("db.effort.start", task_id=storm.task, skill="implement")
    storm.world.call("db.effort.finish", effort_id=by_hand.effort.id)
    opened = start(storm, agent_id="blue")
    assert [(row.effort_id, row.path) for row in opened.debriefs] == [
        (by_hand.effort.id, f"{storm.task}/2_BRAINSTORM.md"),
        (plan.id, None),
    ]
    assert "We chose a tree." in opened.markdown
    assert "Count twice." in opened.markdown
    assert f"- e{unfinished.id} " not in opened.markdown
    assert list(sections(opened.markdown)) == SECTIONS, "what others wrote makes no section"


@pytest.mark.requirement("R248")
def test_the_next_context_window_goes_on_where_the_last_one_ended(storm: Desk) -> None:
    opened = start(storm, agent_id="blue")
    storm.world.call("db.effort.phase", effort_id=opened.effort.id, label="1")
    file = storm.write("notes.md", "x")
    storm.world.call(
        "db.session.handoff",
        session_id=opened.session.id,
        summary="Half of it is thought through.",
        next_steps=["ask about taxes"],
        required_files=[str(file), str(storm.project / "gone.md")],
    )
    resumed = storm.call("commands.session.continue", agent_id="blue")
    assert "## Uncommitted files\n" in resumed.markdown
    assert (resumed.session.prev_session_id, resumed.effort.id) == (opened.session.id, opened.effort.id)
    assert resumed.effort.current_phase == "1: Dialogue Loop"
    assert resumed.required_files == [str(file), str(storm.project / "gone.md")]
    assert resumed.warnings == [f"{storm.project}/gone.md no longer exists"]
    found = sections(resumed.markdown)
    assert f"- session: s{resumed.session.id}, after s{opened.session.id}" in found["SRC_EFFORT"]
    assert "ask about taxes" in resumed.markdown
    assert str(file) in resumed.markdown


@pytest.mark.requirement("R248", "R275")
def test_what_goes_on_is_named_by_its_session_or_its_task(storm: Desk) -> None:
    opened = start(storm, agent_id="blue")
    by_session = storm.call("commands.session.continue", session_id=opened.session.id)
    assert by_session.session.prev_session_id == opened.session.id
    by_task = storm.call("commands.session.continue", task_id=storm.task)
    assert by_task.session.prev_session_id == by_session.session.id
    headings = [line for line in by_task.markdown.splitlines() if line.startswith("## SRC_")]
    assert headings == ["## SRC_EFFORT", "## SRC_HANDOFF", "## SRC_REQUIRED_FILES", "## SRC_WARNINGS"]


@pytest.mark.requirement("R248")
def test_the_same_request_again_begins_no_second_window(storm: Desk) -> None:
    start(storm, agent_id="blue")
    first = storm.call("commands.session.continue", agent_id="blue", idempotency_key="k")
    storm.write("new.py", "x")
    assert storm.call("commands.session.continue", agent_id="blue", idempotency_key="k").session == first.session


@pytest.mark.requirement("R248")
def test_work_goes_on_where_the_project_is_not_with_a_warning(storm: Desk) -> None:
    session = start(storm, agent_id="blue").session
    for host, path in (("here", str(storm.project)), ("elsewhere", "/mnt/shop")):
        storm.world.call("db.project.upsert", path=path, host=host, remote="git@forge.example:team/shop")
    storm.machine.host = "elsewhere"
    resumed = storm.call("commands.session.continue", session_id=session.id)
    assert "on this machine" in resumed.warnings[0]
    assert "- phases: 1: Dialogue Loop" in resumed.markdown


@pytest.mark.requirement("R248")
def test_what_goes_on_keeps_to_the_skill_as_its_file_is_now(storm: Desk) -> None:
    opened = start(storm, agent_id="blue")
    storm.write(".claude/skills/brainstorm/SKILL.md", STORM.replace("2: Synthesis", "2: Choice"))
    resumed = storm.call("commands.session.continue", session_id=opened.session.id)
    assert "- phases: 1: Dialogue Loop, 2: Choice" in resumed.markdown
    assert resumed.warnings == []
    events = storm.world.events()
    storm.call("commands.session.continue", session_id=resumed.session.id)
    assert "skill.changed" not in storm.world.events()[len(events) :]


@pytest.mark.requirement("R248", "R276")
def test_a_skill_whose_file_has_vanished_or_broken_is_a_warning_and_the_work_goes_on(storm: Desk) -> None:
    session = start(storm, agent_id="blue").session
    file = storm.project / ".claude/skills/brainstorm/SKILL.md"
    file.write_text("---\nname: brainstorm\n---\n")
    broken = storm.call("commands.session.continue", session_id=session.id)
    assert "description is missing" in broken.warnings[0]
    file.unlink()
    vanished = storm.call("commands.session.continue", session_id=broken.session.id)
    assert vanished.warnings == ["the skill 'brainstorm' has no file here: the registered skill is used"]
    assert "- phases: 1: Dialogue Loop, 2: Synthesis" in vanished.markdown
    storm.world.call("db.skills.delete", name="brainstorm", project_id=1)
    forgotten = storm.call("commands.session.continue", session_id=vanished.session.id)
    assert forgotten.warnings == ["the skill 'brainstorm' no longer exists: the effort has no phases"]
    assert f"- {forgotten.warnings[0]}" in sections(forgotten.markdown)["SRC_WARNINGS"]


def test_a_built_in_skill_needs_no_file_to_go_on(desk: Desk) -> None:
    opened = start(desk, "implement")
    assert desk.call("commands.session.continue", session_id=opened.session.id).warnings == []


def test_a_built_in_skill_keeps_its_phases_where_a_file_has_none(storm: Desk) -> None:
    storm.write(".agents/skills/implement/SKILL.md", "---\nname: implement\ndescription: x\nnext-skills: tidy\n---\n")
    opened = start(storm, "implement")
    assert "- phases: 1: Prepare, 2: Build," in opened.markdown
    assert sections(opened.markdown)["SRC_NEXT_SKILLS"] == "- tidy"


@pytest.mark.requirement("R249", "R272")
def test_a_note_goes_into_the_log_of_its_effort_with_its_time(storm: Desk) -> None:
    opened = start(storm, agent_id="blue")
    first = storm.call("commands.log.append", session_id=opened.session.id, text="## Found it\nin the cart")
    storm.world.clock.advance(61)
    second = storm.call("commands.log.append", effort_id=opened.effort.id, text="mended")
    assert first.path == second.path == f"{storm.task}/1_BRAINSTORM_LOG.md"
    assert Path(second.path).read_text() == (
        "\n## [2026-01-05T08:00:00Z] Found it\nin the cart\n\n## [2026-01-05T08:01:01Z]\n\nmended\n"
    )
    logged = storm.world.call("events.list", kind="session.logged").items
    assert [each.data["text"] for each in logged] == ["## Found it\nin the cart", "mended"]


@pytest.mark.requirement("R249")
def test_a_note_resets_the_count_of_its_sessions(storm: Desk) -> None:
    session = start(storm, agent_id="blue").session
    for _ in range(4):
        storm.world.call("db.session.heartbeat", session_id=session.id)
    storm.call("commands.log.append", session_id=session.id, text="on my way")
    assert storm.world.call("db.session.get", session_id=session.id).heartbeat_counter == 0


def test_a_note_that_is_repeated_is_there_once_and_has_no_secret(storm: Desk) -> None:
    session = start(storm).session
    key = "sk-ant-" + "a1" * 24
    sizes = {
        storm.call("commands.log.append", session_id=session.id, text=f"it is {key}", idempotency_key="k").size
        for _ in range(2)
    }
    assert len(sizes) == 1
    log = Path(f"{storm.task}/1_BRAINSTORM_LOG.md").read_text()
    assert (log.count("it is"), key in log, key in repr(storm.world.dump())) == (1, False, False)


def test_a_log_of_nobody_is_refused_and_a_link_in_its_place_is_not_followed(storm: Desk, tmp_path: Path) -> None:
    with pytest.raises(EffortNotFound):
        storm.call("commands.log.append", effort_id=99, text="x")
    effort = start(storm).effort
    Path(storm.task).mkdir(parents=True)
    (Path(storm.task) / "1_BRAINSTORM_LOG.md").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(PathOutside):
        storm.call("commands.log.append", effort_id=effort.id, text="x")
    assert not (tmp_path / "elsewhere").exists()


@pytest.mark.requirement("R252")
def test_skill_files_are_listed_and_parsed(storm: Desk) -> None:
    storm.write(".agents/skills/tidy/SKILL.md", "no front matter")
    rows = storm.call("agent.skills.list", project=str(storm.project)).items
    assert [(row.name, row.description is None, row.error is None) for row in rows] == [
        ("brainstorm", False, True),
        ("tidy", True, False),
    ]
    parsed = storm.call("agent.skills.parse", path=str(storm.project / ".claude/skills/brainstorm"))
    assert (parsed.phases, parsed.body) == (["1: Dialogue Loop", "2: Synthesis"], "Ask first.")
    with pytest.raises(SkillFileInvalid, match="line 1"):
        storm.call("agent.skills.parse", path=rows[1].path)
    with pytest.raises(FileMissing):
        storm.call("agent.skills.parse", path=str(storm.project / "nothing"))


@pytest.mark.requirement("R252")
def test_a_skill_file_of_the_user_s_own_is_parsed_where_it_is_listed(desk: Desk) -> None:
    home = Path(desk.machine.environ["HOME"])
    for name, text in (("brainstorm", STORM), ("tidy", "nothing")):
        (home / f".agents/skills/{name}").mkdir(parents=True)
        (home / f".agents/skills/{name}/SKILL.md").write_text(text)
    good, bad = desk.call("agent.skills.list").items
    assert desk.call("agent.skills.parse", path=good.path).body == "Ask first."
    with pytest.raises(SkillFileInvalid):
        desk.call("agent.skills.parse", path=bad.path)
    with pytest.raises(ProjectNotFound):
        desk.call("agent.skills.parse", path=str(home / "elsewhere"))


@pytest.mark.requirement("R252")
def test_directives_are_discovered_dereferenced_and_resolved(storm: Desk) -> None:
    storm.write("AGENTS.md", "See @docs/style.md and @docs/gone.md.")
    storm.write("docs/style.md", "Short words.")
    storm.write("src/CLAUDE.md", "Types.")
    top = str(storm.project)
    found = storm.call("agent.directives.discover", directory=f"{top}/src")
    assert (found.project, found.items) == (top, [f"{top}/AGENTS.md", f"{top}/src/CLAUDE.md"])
    assert storm.call("agent.directives.discover", directory=top, down=True).items == found.items
    whole = storm.call("agent.directives.dereference", path=f"{top}/AGENTS.md")
    assert ([each.path for each in whole.items], whole.missing) == (
        [f"{top}/AGENTS.md", f"{top}/docs/style.md"],
        ["docs/gone.md"],
    )
    told = storm.call("agent.directives.resolve", directories=[f"{top}/src", top])
    assert [each.text for each in told.items][1:] == ["Short words.", "Types."]


@pytest.mark.requirement("R250")
def test_files_of_a_project_are_read_a_part_at_a_time_and_appended_to(storm: Desk) -> None:
    path = str(storm.project / "log.txt")
    assert storm.call("fs.files.append", path=path, content="0123456789").size == 10
    part = storm.call("fs.files.read", path=path, offset=2, limit=3)
    assert (part.content, part.size, part.next) == ("234", 10, 5)
    assert storm.call("fs.files.read", path=path, offset=5).next is None


@pytest.mark.requirement("R250")
def test_a_path_is_resolved_inside_its_project_and_refused_outside(storm: Desk) -> None:
    top = str(storm.project)
    (storm.project / "rules").symlink_to("AGENTS.md")
    found = storm.call("fs.paths.resolve", path="../rules", base=f"{top}/src")
    assert (found.path, found.relative, found.project, found.kind) == (f"{top}/AGENTS.md", "AGENTS.md", top, "file")
    assert storm.call("fs.paths.resolve", path=f"{top}/src/new.py").kind is None
    (storm.project / "out").symlink_to("/etc")
    for path in (f"{top}/out/passwd", "/etc/passwd", f"{top}/../x"):
        for name, params in (("fs.paths.resolve", {}), ("fs.files.read", {}), ("fs.files.append", {"content": "x"})):
            with pytest.raises((PathOutside, ProjectNotFound)):
                storm.call(name, path=path, **params)
