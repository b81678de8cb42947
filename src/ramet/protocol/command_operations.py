"""The operations on what is in the database and on the disk at once."""

from ramet import errors
from ramet.protocol import commands
from ramet.protocol.operation import Operation
from ramet.protocol.replies import Page

_INSIDE = (errors.ProjectNotFound, errors.PathOutside, errors.InvalidParams)
_EFFORT = (
    errors.ProjectNotFound,
    errors.UnknownSkill,
    errors.SessionNotFound,
    errors.SessionEnded,
    errors.WrongTask,
    errors.AgentBusy,
    errors.EffortHeld,
    errors.InvalidParams,
)

COMMAND_OPERATIONS = (
    Operation(
        name="commands.effort.start",
        purpose="Begin an effort by the skill's SKILL.md, with its task and session: all or nothing; and a briefing.",
        request=commands.OpenEffort,
        reply=commands.Opened,
        errors=(*_EFFORT, errors.SkillFileInvalid, errors.PathOutside),
        host="workplace",
    ),
    Operation(
        name="commands.effort.begin",
        purpose="What commands.effort.start writes, in one transaction.",
        request=commands.BeginEffort,
        reply=commands.Begun,
        errors=_EFFORT,
    ),
    Operation(
        name="commands.session.continue",
        purpose="Go on with an effort in a new context window, linked to the one before it; and a briefing.",
        request=commands.ResumeWork,
        reply=commands.Resumed,
        errors=(
            errors.SessionNotFound,
            errors.EffortFinished,
            errors.EffortHeld,
            errors.AgentBusy,
            errors.WrongTask,
            errors.InvalidParams,
        ),
        host="workplace",
    ),
    Operation(
        name="commands.session.undo",
        purpose="Go on from before a compaction: the exact context of then becomes the prompt of another session.",
        request=commands.UndoCompaction,
        reply=commands.Undone,
        errors=(
            errors.SessionNotFound,
            errors.NothingToUndo,
            errors.ProjectNotFound,
            errors.EffortHeld,
            errors.AgentBusy,
            errors.InvalidParams,
        ),
        host="workplace",
    ),
    Operation(
        name="commands.log.append",
        purpose="Put a note with its time into the log of an effort; its sessions count their tool calls anew.",
        request=commands.AppendLog,
        reply=commands.Logged,
        errors=(errors.SessionNotFound, errors.EffortNotFound, errors.Forbidden, *_INSIDE),
        host="workplace",
        scope="session",
    ),
    Operation(
        name="agent.directives.discover",
        purpose="Which directives hold in a folder: AGENTS.md, CLAUDE.md and .directives/ there and above.",
        request=commands.DiscoverDirectives,
        reply=commands.DirectivePaths,
        errors=_INSIDE,
        host="workplace",
    ),
    Operation(
        name="agent.directives.dereference",
        purpose="What a directive says, and what it imports with @path.",
        request=commands.DereferenceDirective,
        reply=commands.Directives,
        errors=(*_INSIDE, errors.FileMissing),
        host="workplace",
    ),
    Operation(
        name="agent.directives.resolve",
        purpose="All that directives say about some folders, imports included, each text once.",
        request=commands.ResolveDirectives,
        reply=commands.Directives,
        errors=_INSIDE,
        host="workplace",
    ),
    Operation(
        name="agent.skills.parse",
        purpose="What a SKILL.md says; what is wrong with it is refused with its line and field.",
        request=commands.ParseSkill,
        reply=commands.ParsedSkill,
        errors=(*_INSIDE, errors.FileMissing, errors.SkillFileInvalid),
        host="workplace",
    ),
    Operation(
        name="agent.skills.list",
        purpose="The skill files of a project and of the user, by name; broken ones with what is wrong.",
        request=commands.ListSkillFiles,
        reply=Page[commands.SkillEntry],
        errors=(errors.ProjectNotFound,),
        host="workplace",
    ),
    Operation(
        name="fs.files.read",
        purpose="The text of a file in a project, a part at a time.",
        request=commands.ReadFile,
        reply=commands.FileText,
        errors=(*_INSIDE, errors.FileMissing),
        host="workplace",
    ),
    Operation(
        name="fs.files.append",
        purpose="Put a text behind the end of a file in a project, which is made where it is new.",
        request=commands.AppendFile,
        reply=commands.Appended,
        errors=_INSIDE,
        host="workplace",
    ),
    Operation(
        name="fs.paths.resolve",
        purpose="Where a path leads, in which project, and what is there; a path that leads out is refused.",
        request=commands.ResolvePath,
        reply=commands.ResolvedPath,
        errors=_INSIDE,
        host="workplace",
    ),
)
