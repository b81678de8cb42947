"""`ramet skill`: list, show and change the skills of a project."""

import click
from msgspec.structs import asdict

from ramet.cli import references
from ramet.cli.command import Group
from ramet.cli.commands.record.project import find_project
from ramet.cli.commands.record.project_scope import path_here
from ramet.cli.exchanges import ask_as_written
from ramet.cli.invocation import Invocation
from ramet.cli.output import Columns, pick_cells, print_json, print_table, say, show_items, show_row
from ramet.model.record.skill import Skill
from ramet.protocol.hooks.skill_files import ListSkillFiles, SkillEntry
from ramet.protocol.record.projects import ListProjects
from ramet.protocol.record.skills import DeleteSkill, FindSkills, GetSkill, ListSkills, UpsertSkill

_of_project = click.option(
    "--project",
    type=references.project,
    default=".",
    help="The project: its number, or a path in it (default: the project of the current directory).",
)


def _phases(row: Skill) -> list[str]:
    return [phase["label"] if isinstance(phase, dict) else str(phase) for phase in row.phases or ()]


_COLUMNS: Columns[Skill] = {
    "SKILL": lambda row: row.name,
    "PROJECT": lambda row: row.project_id,
    "FROM": lambda row: "built in" if row.id is None else "the project",
    "PHASES": _phases,
    "NEXT": lambda row: row.next_skills,
}


_FILE_COLUMNS: Columns[SkillEntry] = {
    "SKILL": lambda row: row.name,
    "FROM": lambda row: "the project" if row.source == "project" else "the user",
    "FILE": lambda row: row.path,
    "PROBLEM": lambda row: row.error,
}


@click.group(cls=Group)
def skill() -> None:
    """List, show and change the skills of a project. A skill is a recipe for an effort."""


@skill.command(
    examples=[
        "ramet skill add brainstorm --phase '1: Dialogue Loop' --phase '2: Synthesis'",
        "ramet skill add brainstorm --file brainstorm.json",
    ]
)
@click.argument("name")
@_of_project
@click.option("--phase", "phases", multiple=True, metavar="LABEL", help="A phase; give phases in order (repeatable).")
@click.option(
    "--file", "file", metavar="FILE", help="Read phases, modes, templates, … from a JSON file; `-` is standard input."
)
@click.pass_obj
def add(invocation: Invocation, name: str, project: int | str, phases: tuple[str, ...], file: str | None) -> None:
    """Add a skill, or replace the given parts of one."""
    parts = references.json_object(references.file_or_stdin(file, "--file")) if file else {}
    if phases:
        parts["phases"] = list(phases)
    project_id = find_project(invocation, project)
    reply = ask_as_written(invocation, UpsertSkill, {**parts, "name": name, "project_id": project_id})
    say(invocation, reply, f"skill {name} in project {project_id}, {len(reply.phases or ())} phases")


@skill.command("list", examples=["ramet skill list", "ramet skill list --project 1"])
@_of_project
@click.pass_obj
def list_skills(invocation: Invocation, project: int | str) -> None:
    """List the project's skills, including built-in ones and skill files that are not registered yet."""
    project_id = find_project(invocation, project)
    reply = invocation.ask(ListSkills(project_id=project_id))
    registered = {row.name for row in reply.items if row.id is not None}
    files = [entry for entry in _list_files(invocation, project, project_id) if entry.name not in registered]
    if invocation.as_json:
        return print_json({**asdict(reply), "files": files})
    show_items(invocation, reply, _COLUMNS, nothing="no skills")
    if files:
        click.echo(
            "\nskill files that are not registered yet; `ramet add --skill NAME` and `ramet effort start` do it:"
        )
        print_table(list(_FILE_COLUMNS), pick_cells(files, _FILE_COLUMNS))
    return None


def _list_files(invocation: Invocation, project: int | str, project_id: int) -> list[SkillEntry]:
    """The skill files of the project and of its user; none if the project is on another machine."""
    path = project
    if isinstance(project, int):
        rows = invocation.ask(ListProjects()).items
        path = next((path_here(invocation, row) or "" for row in rows if row.id == project_id), "")
    return invocation.ask(ListSkillFiles(project=str(path))).items if path else []


@skill.command(examples=["ramet skill show implement"])
@click.argument("name")
@_of_project
@click.pass_obj
def show(invocation: Invocation, name: str, project: int | str) -> None:
    """Show a skill as the project sees it."""
    reply = invocation.ask(GetSkill(name=name, project_id=find_project(invocation, project)))
    show_row(invocation, reply)


@skill.command(examples=["ramet skill delete brainstorm"])
@click.argument("name")
@_of_project
@click.pass_obj
def delete(invocation: Invocation, name: str, project: int | str) -> None:
    """Delete a skill of the project. A built-in skill with the same name becomes visible again."""
    reply = invocation.ask(DeleteSkill(name=name, project_id=find_project(invocation, project)))
    say(invocation, reply, f"deleted skill {name}" if reply.deleted else f"there was no skill {name}")


@skill.command(examples=["ramet skill find dialogue"])
@click.argument("query")
@click.option("--project", type=references.project, help="Search only this project: its number, or a path in it.")
@click.pass_obj
def find(invocation: Invocation, query: str, project: int | str | None) -> None:
    """Find skills whose name or content contains QUERY."""
    project_id = None if project is None else find_project(invocation, project)
    reply = invocation.ask(FindSkills(query=query, project_id=project_id))
    show_items(invocation, reply, _COLUMNS, nothing=f"no skill contains {query!r}")
