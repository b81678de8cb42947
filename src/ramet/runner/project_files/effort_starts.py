"""`commands.*`: operations that use the disk and the database at once.

An effort that starts reads everything first, and is written in one transaction: so a failure leaves nothing behind. The
others change the database first, because only that says where to look on the disk: a note whose log cannot be written
is still among the events, and a session that continues does so, regardless of the disk.
"""

from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from msgspec.structs import asdict

from ramet.errors import ProjectNotFound, RametError, SkillFileInvalid, SkillNotFound, TaskNotFound, UnknownSkill
from ramet.model.hooks import briefing
from ramet.model.hooks.briefing import Debrief, Opening
from ramet.model.hooks.note import entry, log_file_named
from ramet.model.record.effort import Effort
from ramet.model.record.phase import parse_phases
from ramet.model.record.prompt import report_file_of
from ramet.model.record.skill import Skill, mode_meaning
from ramet.model.record.skills.skill_file import SkillFile
from ramet.protocol.hooks.compactions import ShowContract
from ramet.protocol.hooks.effort_starts import (
    BeginEffort,
    Begun,
    DebriefRow,
    Opened,
    OpenEffort,
    Resumed,
    ResumeSession,
)
from ramet.protocol.hooks.handoffs import ContinueSession
from ramet.protocol.hooks.moments import SessionContext
from ramet.protocol.hooks.notes import AppendLog, Logged, NoteLog
from ramet.protocol.record.efforts import ListEfforts, nest
from ramet.protocol.record.sessions import FindSessions
from ramet.protocol.record.skills import GetSkill, KeepSkill
from ramet.runner import projects
from ramet.runner.answers import answers
from ramet.runner.machine import Machine
from ramet.runner.project_files import recall
from ramet.runner.project_files.skill_discovery import define
from ramet.runner.projects import Site
from ramet.vendors import registry
from ramet.workspace import surroundings
from ramet.workspace.files import (
    directives,
    notes,
    project_files,
    skills,
)
from ramet.workspace.files.skills import Found

_MOST_DEBRIEFS = 10
_MOST_REMEMBERED = 2000
"""Characters of a note that its event has; the log has all."""


@answers(OpenEffort)
def start_effort(machine: Machine, request: OpenEffort) -> Opened:
    """The operation `commands.effort.start`."""
    site = projects.find(machine, request.task_id, "task_id")
    found = skills.find(site.root, machine.environ, registry.skill_folders(), request.skill)
    debriefs = _debriefs(machine, site, request.task_id)
    sessions = machine.ask(FindSessions(task_id=request.task_id)).items
    told = list(dict.fromkeys(_directives(site, [request.task_id, *request.directories])))
    begun = _begin(machine, site, request, found, told)
    known = recall.recall(machine, site, begun)
    opening = Opening(
        effort=nest(begun.effort),
        session=begun.session,
        phases=begun.phases,
        next_skills=begun.next_skills,
        skill_file=found.path if found else None,
        description=found.skill.description if found and found.skill else None,
        parts=_list_parts(found.skill, Path(found.path).parent, request.mode) if found and found.skill else [],
        debriefs=debriefs,
        sessions=[session for session in sessions if session.id != begun.session.id],
        directives=told,
        commands=begun.commands,
        relevant_sessions=known.sessions,
        relevant_docs=known.docs,
    )
    return Opened(
        effort=begun.effort,
        session=begun.session,
        debriefs=[_row(debrief) for debrief in debriefs],
        directives=told,
        skill_file=opening.skill_file,
        markdown=briefing.open_effort(opening),
    )


@answers(ResumeSession)
def continue_session(machine: Machine, request: ResumeSession) -> Resumed:
    """The operation `commands.session.continue`. What the disk says comes behind the change: so a request that is
    repeated is the same request.
    """
    context = machine.ask(ContinueSession(**asdict(request)))
    effort, session = context.effort, context.session
    around = _look_around(machine, context)
    gone = [path for path in context.required_files if not Path(path).exists()]
    warnings = [*around.warnings, *(f"{path} no longer exists" for path in gone)]
    contract = machine.ask(ShowContract(session_id=session.id, uncommitted=around.uncommitted))
    return Resumed(
        session=session,
        effort=effort,
        required_files=context.required_files,
        warnings=warnings,
        markdown=briefing.go_on(nest(effort), session, around.phases, contract.text, context.required_files, warnings),
    )


@answers(AppendLog)
def append_log(machine: Machine, request: AppendLog) -> Logged:
    """The operation `commands.log.append`."""
    text = machine.redactor.redact(request.text).text
    noted = machine.ask(
        NoteLog(
            session_id=request.session_id,
            effort_id=request.effort_id,
            text=text[:_MOST_REMEMBERED],
            idempotency_key=request.idempotency_key,
        )
    )
    site = projects.find(machine, noted.task_id, "task_id")
    path = f"{noted.task_id}/{log_file_named(noted.artifact_prefix)}"
    written = entry(text, noted.at)
    size = notes.append(site.root, path, written, is_repeated=noted.is_repeated)
    return Logged(effort_id=noted.effort_id, path=path, entry=written, size=size)


def _begin(machine: Machine, site: Site, request: OpenEffort, found: Found | None, told: list[str]) -> Begun:
    asked = asdict(request) | {"definition": define(found) if found else None, "directives": told}
    try:
        begun = machine.ask(BeginEffort(**asked))
    except UnknownSkill as error:
        on_disk = skills.list_all(site.root, machine.environ, registry.skill_folders())
        names = ", ".join(each.name for each in on_disk if each.skill)
        fix = f"{error.fix}; skill files on this disk: {names or 'none'}"
        raise UnknownSkill(error.message, field=error.field, value=error.value, fix=fix) from error
    return begun


def _list_parts(skill: SkillFile, folder: Path, mode: str | None) -> list[str]:
    """What belongs to a skill beside its text: what the mode means, and the files, as seen from its folder."""
    meaning = mode_meaning(skill.modes, mode)
    modes = [] if meaning is None else [f"mode {mode}: {meaning}"]
    templates = [f"template {name}: {folder / path}" for name, path in skill.templates.items()]
    return [*modes, *templates, *(f"needs {folder / path}" for path in skill.cmd_dependencies)]


def _debriefs(machine: Machine, site: Site, task_id: str) -> list[Debrief]:
    """What the task's finished efforts left, the newest first."""
    try:
        efforts = machine.ask(ListEfforts(task_id=task_id)).items
    except TaskNotFound:
        return []
    found = (_debrief(site, nest(effort)) for effort in reversed(efforts) if effort.lifecycle == "finished")
    return [debrief for debrief in found if debrief.path or debrief.text][:_MOST_DEBRIEFS]


def _debrief(site: Site, effort: Effort) -> Debrief:
    """The database before the file."""
    for path in (report_file_of(effort), briefing.debrief_file_of(effort)):
        if path is not None:
            with suppress(RametError):
                text = project_files.read(site.root, path)
                return Debrief(effort=effort, path=str(site.root / path), text=effort.output_content or text)
    return Debrief(effort=effort, path=None, text=effort.output_content)


def _row(debrief: Debrief) -> DebriefRow:
    effort = debrief.effort
    return DebriefRow(effort_id=effort.id, skill=effort.skill, outcome=effort.outcome, path=debrief.path)


def _directives(site: Site, directories: list[str]) -> list[str]:
    names = registry.directive_files()
    return [str(path) for directory in directories for path in directives.discover(site.root, directory, names)]


class _Around(NamedTuple):
    """What the disk says when work continues."""

    uncommitted: list[str]
    phases: list[str]
    warnings: list[str]


def _look_around(machine: Machine, context: SessionContext) -> _Around:
    try:
        site = projects.find(machine, context.effort.task_id)
    except ProjectNotFound as error:
        return _Around([], context.skill_phases, [f"{error.message} on this machine"])
    skill, warnings = _reread_skill(machine, site, context.effort.skill)
    phases = [phase.label for phase in parse_phases(skill.phases if skill else None)]
    uncommitted: list[str] = []
    with suppress(RametError):
        uncommitted = surroundings.list_uncommitted(machine.git, site.root)
    return _Around(uncommitted, phases, warnings)


def _reread_skill(machine: Machine, site: Site, name: str) -> tuple[Skill | None, list[str]]:
    """The skill as its file is now; warnings if it cannot be read. The work continues without it."""
    known = _find_skill(machine, site, name)
    try:
        found = skills.find(site.root, machine.environ, registry.skill_folders(), name)
    except SkillFileInvalid as error:
        return known, [f"the registered skill is used, because its file cannot be read: {error.message}"]
    definition = None if found is None else define(found)
    if definition is not None:
        known = machine.ask(KeepSkill(name=name, project_id=site.project.id, definition=definition))
        return known, []
    if known is None:
        return None, [f"the skill {name!r} no longer exists: the effort has no phases"]
    is_registered = known.id is not None
    return known, [f"the skill {name!r} has no file here: the registered skill is used"] if is_registered else []


def _find_skill(machine: Machine, site: Site, name: str) -> Skill | None:
    try:
        skill = machine.ask(GetSkill(name=name, project_id=site.project.id))
    except SkillNotFound:
        return None
    return skill
