"""Requests and replies of operations that start or continue an effort in one step."""

from typing import Annotated, Any

from msgspec import Meta, Struct

from ramet.errors import (
    AgentBusy,
    EffortFinished,
    EffortHeld,
    InvalidParams,
    PathOutside,
    ProjectNotFound,
    SessionEnded,
    SessionNotFound,
    SkillFileInvalid,
    UnknownSkill,
    WrongTask,
)
from ramet.model.record.session import Session
from ramet.model.record.skill import Skill
from ramet.protocol.fields import DriverName, Name, Path, SessionId, Text
from ramet.protocol.hooks.handoffs import NextWindow
from ramet.protocol.hooks.hooks import Pid
from ramet.protocol.operation import Change, Operation, R
from ramet.protocol.record.efforts import EffortDetail, EffortReply
from ramet.protocol.record.sessions import SessionReply


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


class _NewEffort(Change[R], frozen=True, kw_only=True):
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


class DebriefRow(Struct, frozen=True, kw_only=True):
    """What a finished effort of the task left."""

    effort_id: int
    skill: str
    outcome: str | None
    path: str | None
    """Its file on this disk; None where only the database has it."""


class Opened(Struct, frozen=True, kw_only=True):
    """An effort that has begun, and what its agent is told."""

    effort: EffortReply
    session: SessionReply
    debriefs: list[DebriefRow]
    directives: list[str]
    skill_file: str | None
    markdown: str


class OpenEffort(_NewEffort[Opened], frozen=True, kw_only=True):
    """Begin an effort by the skill's SKILL.md, with its task and session: all or nothing; and a briefing.

    Apply a skill to a task, and be told all that there is to know.
    """

    op = Operation(
        "commands.effort.start",
        errors=(
            ProjectNotFound,
            UnknownSkill,
            SessionNotFound,
            SessionEnded,
            WrongTask,
            AgentBusy,
            EffortHeld,
            InvalidParams,
            SkillFileInvalid,
            PathOutside,
        ),
        host="machine",
    )

    directories: Annotated[list[Path], Meta(max_length=100)] = []
    """Where the work will be, beside the task's own folder: what holds there is told."""


class Begun(Struct, frozen=True, kw_only=True):
    """An effort and the session that does it."""

    effort: EffortReply
    session: SessionReply
    phases: list[str]
    """The labels of the skill's phases."""
    next_skills: list[str]


class BeginEffort(_NewEffort[Begun], frozen=True, kw_only=True):
    """What commands.effort.start writes, in one transaction.

    What is written of it, all at once.
    """

    op = Operation(
        "commands.effort.begin",
        errors=(
            ProjectNotFound,
            UnknownSkill,
            SessionNotFound,
            SessionEnded,
            WrongTask,
            AgentBusy,
            EffortHeld,
            InvalidParams,
        ),
        audience="internal",
    )

    definition: SkillDefinition | None = None
    """What the skill's file says; None where there is no file, and the skill is known already."""
    directives: list[Path] = []
    directories: list[Path] = []


class Resumed(Struct, frozen=True, kw_only=True):
    """A session that goes on with an effort, and what its agent is told."""

    session: Session
    effort: EffortDetail
    required_files: list[str]
    warnings: list[str]
    markdown: str


class ResumeSession(NextWindow[Resumed], frozen=True, kw_only=True):
    """Go on with an effort in a new context window, linked to the one before it; and a briefing.

    Go on in a new context window: from the session named, else the agent's last, else the task's.
    """

    op = Operation(
        "commands.session.continue",
        errors=(SessionNotFound, EffortFinished, EffortHeld, AgentBusy, WrongTask, InvalidParams),
        host="machine",
    )
