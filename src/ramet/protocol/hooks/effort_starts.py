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
from ramet.protocol.fields import DriverName, Name, Path, SessionId, Text
from ramet.protocol.hooks.handoffs import NextWindow
from ramet.protocol.hooks.hooks import Pid
from ramet.protocol.operation import Change, Operation, R
from ramet.protocol.record.efforts import EffortDetail, EffortReply
from ramet.protocol.record.sessions import SessionReply
from ramet.protocol.record.skills import SkillDefinition


class _NewEffort(Change[R], frozen=True, kw_only=True):
    """An effort that is started by hand, and the session that works on it."""

    task_id: Path
    skill: Name
    mode: Name | None = None
    metadata: dict[str, Any] | None = None
    title: Text | None = None
    description: Text | None = None
    keywords: Text | None = None
    workspace: Text | None = None
    session_id: SessionId | None = None
    """The session that continues with it (default: a new session)."""
    agent_id: Name | None = None
    driver: DriverName | None = None
    native_id: Name | None = None
    pid: Pid | None = None


class DebriefRow(Struct, frozen=True, kw_only=True):
    """The debrief of a finished effort of the task."""

    effort_id: int
    skill: str
    outcome: str | None
    path: str | None
    """Its file on this disk; None if only the database has it."""


class Opened(Struct, frozen=True, kw_only=True):
    """A started effort, and the briefing for its agent."""

    effort: EffortReply
    session: SessionReply
    debriefs: list[DebriefRow]
    directives: list[str]
    skill_file: str | None
    markdown: str


class OpenEffort(_NewEffort[Opened], frozen=True, kw_only=True):
    """Start an effort from the skill's SKILL.md, with its task and session, in one transaction, and return a
    briefing.
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
    """Directories of the work in addition to the task's own. The briefing lists the directives that apply there."""


class Begun(Struct, frozen=True, kw_only=True):
    """An effort and the session that works on it."""

    effort: EffortReply
    session: SessionReply
    phases: list[str]
    """The labels of the skill's phases."""
    next_skills: list[str]
    commands: list[str] = []
    """The commands that worked in earlier efforts of the task, each with its exit status."""
    topic: str = ""
    """What the task is about, in its own words."""


class BeginEffort(_NewEffort[Begun], frozen=True, kw_only=True):
    """Record the start of an effort for `commands.effort.start`, in one transaction."""

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
    """The content of the skill's file; None if there is no file and the skill is already known."""
    directives: list[Path] = []
    directories: list[Path] = []


class Resumed(Struct, frozen=True, kw_only=True):
    """A session that continues an effort, and the briefing for its agent."""

    session: Session
    effort: EffortDetail
    required_files: list[str]
    warnings: list[str]
    markdown: str


class ResumeSession(NextWindow[Resumed], frozen=True, kw_only=True):
    """Continue an effort in a new session that is linked to the previous one, and return a briefing. The previous
    session is the given one, or else the agent's last, or else the task's last.
    """

    op = Operation(
        "commands.session.continue",
        errors=(SessionNotFound, EffortFinished, EffortHeld, AgentBusy, WrongTask, InvalidParams),
        host="machine",
    )
