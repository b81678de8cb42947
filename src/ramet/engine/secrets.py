"""Secrets in requests: removed before the engine sees them, so that no field of any row can hold one.

Every text of every request is redacted: names, paths, keys and ids as well as free texts. Equal secrets give equal
placeholders, so a thing that was stored under a name with a secret is found by that name. The contents of histories,
which are larger, are redacted where they are prepared for their blobs (`contents`).
"""

from collections.abc import Sequence
from typing import TypeVar

from msgspec import Struct

from ramet.model.hooks.directive import Directive
from ramet.model.hooks.hook import HookEvent
from ramet.model.hooks.transcript import Entry
from ramet.model.record.skill import SkillText
from ramet.model.redaction import Redactor
from ramet.model.redaction.structs import StructRedactor
from ramet.model.work.stream import Note, Prompt, Reasoning, Remark, Text, ToolCall, ToolResult
from ramet.protocol.history.child_branches import Report, Spawn
from ramet.protocol.history.commits import Commit, Edit
from ramet.protocol.hooks.effort_starts import BeginEffort
from ramet.protocol.hooks.handoffs import HandOff
from ramet.protocol.hooks.moments import (
    FleetRecruit,
    HookFleetStart,
    HookPostToolUse,
    HookPostToolUseFailure,
    HookPreToolUse,
    HookUserPrompt,
)
from ramet.protocol.hooks.notes import NoteLog
from ramet.protocol.hooks.transcripts import AddEntries
from ramet.protocol.memory.archives import AddArchiveRows
from ramet.protocol.memory.imports import StoredPiece
from ramet.protocol.record.agents import RegisterAgent
from ramet.protocol.record.efforts import EnterPhase, FinishEffort, StartEffort
from ramet.protocol.record.messages import AppendMessage
from ramet.protocol.record.projects import UpsertProject
from ramet.protocol.record.sessions import FinishSession
from ramet.protocol.record.skills import KeepSkill, SkillDefinition, UpsertSkill
from ramet.protocol.record.tasks import UpsertTask
from ramet.protocol.runs.runs import NewLine, StartRun
from ramet.protocol.spawn.children import ChildOrder, ReportSession, SpawnAgent, SpawnAgents
from ramet.protocol.system.ai import Embed, Generate
from ramet.protocol.work.attempts import BeginAttempt, ReportStream
from ramet.protocol.work.kills import CancelSpawn, Kill
from ramet.protocol.work.leases import CompleteWork
from ramet.protocol.work.queue import AddWork, SetOutput

AnyStruct = TypeVar("AnyStruct", bound=Struct)

FREE_TEXTS: dict[type[Struct], tuple[str, ...]] = {
    UpsertProject: ("name",),
    UpsertTask: ("workspace", "title", "description", "keywords"),
    StartEffort: ("metadata",),
    FinishEffort: ("keywords",),
    EnterPhase: ("proof", "reason"),
    FinishSession: ("dehydration_payload",),
    UpsertSkill: ("phases", "modes", "templates", "cmd_dependencies", "directives"),
    RegisterAgent: ("label",),
    Spawn: ("display_name",),
    AddWork: ("prompt",),
    CompleteWork: ("output_content", "reason", "metadata"),
    SetOutput: ("output_content",),
    Kill: ("reason",),
    StartRun: ("name", "prompt", "lines"),
    NewLine: ("text",),
    SpawnAgent: ("goal", "context"),
    SpawnAgents: ("agents",),
    ChildOrder: ("goal", "context"),
    ReportSession: ("report",),
    Report: ("summary", "decisions", "failed_approaches", "artifacts", "next_steps"),
    CancelSpawn: ("reason",),
    HandOff: ("summary", "decisions", "failed_approaches", "next_steps"),
    NoteLog: ("text",),
    HookFleetStart: ("agents",),
    FleetRecruit: ("label",),
    BeginEffort: ("metadata", "title", "description", "keywords", "workspace", "definition"),
    SkillDefinition: ("phases", "modes", "templates", "cmd_dependencies", "directives", "text"),
    KeepSkill: ("definition",),
    SkillText: ("description", "instructions", "template_texts"),
}
"""The fields of each request in which anything may be written, a NUL included."""


PREPARED: dict[type[Struct], tuple[str, ...]] = {
    Commit: ("text", "content", "metadata"),
    Edit: ("text",),
    AppendMessage: ("content",),
    BeginAttempt: ("prompt",),
    ReportStream: ("events",),
    AddEntries: ("entries",),
    AddArchiveRows: ("rows",),
    StoredPiece: ("entries", "position"),
    HookUserPrompt: ("prompt",),
    HookEvent: ("prompt", "tool_input"),
    HookPreToolUse: ("args",),
    HookPostToolUse: ("args",),
    HookPostToolUseFailure: ("args",),
    Directive: ("text",),
    Entry: ("text", "images"),
    Text: ("text",),
    Reasoning: ("text",),
    Remark: ("text",),
    Note: ("text",),
    Prompt: ("text",),
    ToolCall: ("input",),
    ToolResult: ("output", "images"),
}
"""Fields that are not redacted here: the function that prepares the request does it, or they are not stored."""

UNSTORED = (Generate, Embed)
"""Questions to a model, of which nothing is stored."""

_REDACTED = StructRedactor(left=PREPARED, free=FREE_TEXTS)


def redact(request: AnyStruct, redactor: Redactor) -> AnyStruct:
    """The request, or any part of one, without secrets."""
    return request if isinstance(request, UNSTORED) else _REDACTED.redact(request, redactor)


def redact_all(parts: Sequence[AnyStruct], redactor: Redactor) -> list[AnyStruct]:
    """The same for many parts of one request."""
    return _REDACTED.redact_all(parts, redactor)
