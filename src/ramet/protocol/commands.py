"""The requests and replies of what needs the disk and the database at once: beginning an effort, logs, skill files,
directives and the files of a project.
"""

from typing import Annotated, Any, Literal

from msgspec import Meta, Struct

from ramet.model.hooks.directive import Directive
from ramet.model.record.session import Session
from ramet.model.record.skill import Skill
from ramet.model.record.skill_file import SkillFile
from ramet.protocol.hooks import Compaction, Pid
from ramet.protocol.replies import EffortReply, SessionReply
from ramet.protocol.requests import Change, Content, Id, Name, Path, Request, SessionId, Text
from ramet.protocol.work import DriverName

Offset = Annotated[int, Meta(ge=0, le=2**31 - 1)]
Limit = Annotated[int, Meta(ge=1, le=2**23)]
Source = Literal["project", "user"]


class SkillDefinition(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a skill file says that the database keeps."""

    phases: list[Any] = []
    modes: dict[str, Any] = {}
    templates: dict[str, Any] = {}
    cmd_dependencies: list[Text] = []
    next_skills: list[Name] = []
    directives: list[Text] = []

    def is_news(self, known: Skill | None) -> bool:
        """Whether the database has something else, or nothing."""
        return known is None or any(getattr(known, name) != getattr(self, name) for name in self.__struct_fields__)


class _NewEffort(Change, frozen=True, kw_only=True):
    """An effort that begins by hand, and the session that does it."""

    task_id: Path
    skill: Name
    mode: Name | None = None
    metadata: dict[str, Any] | None = None
    title: Text | None = None
    description: Text | None = None
    keywords: Text | None = None
    workspace: Text | None = None
    session_id: SessionId | None = None
    """The session that goes on with it. Without one a new session begins."""
    agent_id: Name | None = None
    driver: DriverName | None = None
    native_id: Name | None = None
    pid: Pid | None = None


class OpenEffort(_NewEffort, frozen=True, kw_only=True):
    """Apply a skill to a task, and be told all that there is to know."""

    directories: Annotated[list[Path], Meta(max_length=100)] = []
    """Where the work will be, beside the task's own folder: what holds there is told."""


class BeginEffort(_NewEffort, frozen=True, kw_only=True):
    """What is written of it, all at once."""

    definition: SkillDefinition | None = None
    """What the skill's file says; None where there is no file, and the skill is known already."""
    directives: list[Path] = []
    directories: list[Path] = []


class ResumeWork(Change, frozen=True, kw_only=True):
    """Go on in a new context window: from the session named, else the agent's last, else the task's."""

    session_id: SessionId | None = None
    agent_id: Name | None = None
    task_id: Path | None = None
    driver: DriverName | None = None
    native_id: Name | None = None
    pid: Pid | None = None


class UndoCompaction(Change, frozen=True, kw_only=True):
    """Go on from what a session's context was before it was compacted."""

    session_id: SessionId
    number: Annotated[int, Meta(ge=1, le=2**31 - 1)] | None = None
    """Which compaction. Default: the last one."""
    only_show: bool = False
    """Whether only the prompt is wanted, and nothing is to begin."""


class AppendLog(Change, frozen=True, kw_only=True):
    """A note for an effort's log. Of the session, else of the effort; an agent writes into its own session's alone."""

    text: Annotated[str, Meta(min_length=1, max_length=1_000_000)]
    session_id: SessionId | None = None
    effort_id: Id | None = None


class DiscoverDirectives(Request, frozen=True, kw_only=True):
    directory: Path
    down: bool = False
    """Whether those in the folders below count as well."""


class DereferenceDirective(Request, frozen=True, kw_only=True):
    path: Path


class ResolveDirectives(Request, frozen=True, kw_only=True):
    directories: Annotated[list[Path], Meta(min_length=1, max_length=100)]


class ParseSkill(Request, frozen=True, kw_only=True):
    path: Path
    """The SKILL.md, or the folder that it is in."""


class ListSkillFiles(Request, frozen=True, kw_only=True):
    project: Path | None = None
    """A path in the project; without one only the user's own skills are listed."""


class ReadFile(Request, frozen=True, kw_only=True):
    path: Path
    offset: Offset = 0
    limit: Limit = 1_000_000
    """How many characters at most."""


class AppendFile(Request, frozen=True, kw_only=True):
    path: Path
    content: Content


class ResolvePath(Request, frozen=True, kw_only=True):
    path: Path
    base: Path | None = None
    """Where a relative path begins."""


# The replies.


class Debrief(Struct, frozen=True, kw_only=True):
    """What a finished effort of the task left."""

    effort_id: int
    skill: str
    outcome: str | None
    path: str | None
    """Its file on this disk; None where only the database has it."""


class Begun(Struct, frozen=True, kw_only=True):
    """An effort and the session that does it."""

    effort: EffortReply
    session: SessionReply
    phases: list[str]
    """The labels of the skill's phases."""
    next_skills: list[str]


class Opened(Struct, frozen=True, kw_only=True):
    """An effort that has begun, and what its agent is told."""

    effort: EffortReply
    session: SessionReply
    debriefs: list[Debrief]
    directives: list[str]
    skill_file: str | None
    markdown: str


class Resumed(Struct, frozen=True, kw_only=True):
    """A session that goes on with an effort, and what its agent is told."""

    session: Session
    effort: EffortReply
    required_files: list[str]
    warnings: list[str]
    markdown: str


class Undone(Struct, frozen=True, kw_only=True):
    """What a compaction dropped, and who goes on with it."""

    compaction: Compaction
    prompt: str
    """The exact context before the compaction, as what the next session is told."""
    tokens: int
    driver: str | None
    directory: str
    """Where the project is, in which it goes on."""
    session: Session | None = None
    """The session that goes on, and waits for its agent to be started with it as `RAMET_SESSION`."""
    effort: EffortReply | None = None
    """What was queued instead, of an agent that Ramet runs."""


class Logged(Struct, frozen=True, kw_only=True):
    """Where a note was written."""

    effort_id: int
    path: str
    entry: str
    size: int
    """Of the log, in bytes."""


class DirectivePaths(Struct, frozen=True, kw_only=True):
    """The directives that hold in a folder, the outermost first; those below it behind them."""

    project: str
    items: list[str]


class Directives(Struct, frozen=True, kw_only=True):
    """Directives with their texts, what they import behind them."""

    project: str
    items: list[Directive]
    missing: list[str] = []
    """What they import that is not there, or not in the project."""


class ParsedSkill(SkillFile, frozen=True, kw_only=True):
    """A skill file that can be used."""

    path: str


class SkillEntry(Struct, frozen=True, kw_only=True):
    """A skill file that was found; one that cannot be used says why."""

    name: str
    path: str
    source: Source
    description: str | None
    error: str | None


class FileText(Struct, frozen=True, kw_only=True):
    """A part of a file's text; `next` is the offset behind it, where there is more."""

    path: str
    content: str
    size: int
    """Of the whole text, in characters."""
    next: int | None


class Appended(Struct, frozen=True, kw_only=True):
    """A file that has grown."""

    path: str
    size: int


class ResolvedPath(Struct, frozen=True, kw_only=True):
    """Where a path leads."""

    path: str
    relative: str
    """Seen from the project; empty for the project itself."""
    project: str
    project_id: int
    kind: Literal["file", "directory", "other"] | None
    """None where there is nothing."""
