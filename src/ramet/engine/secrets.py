"""Secrets in what people and agents write: taken out before anything of it is stored or recorded.

A transcript's content is redacted where it is prepared for its blob (`messages`); this is about the other free texts:
titles, reasons, proofs, what a session hands on. Names and paths stay as they are, because things are found by them.
"""

from typing import Any, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from ramet.model.redaction import Redactor
from ramet.protocol.history.child_branches import Report, Spawn
from ramet.protocol.hooks.effort_starts import BeginEffort, SkillDefinition
from ramet.protocol.hooks.handoffs import HandOff
from ramet.protocol.hooks.moments import FleetRecruit, HookFleetStart
from ramet.protocol.hooks.notes import NoteLog
from ramet.protocol.record.agents import RegisterAgent
from ramet.protocol.record.efforts import EnterPhase, FinishEffort, StartEffort
from ramet.protocol.record.projects import UpsertProject
from ramet.protocol.record.sessions import FinishSession
from ramet.protocol.record.skills import UpsertSkill
from ramet.protocol.record.tasks import UpsertTask
from ramet.protocol.runs.runs import NewLine, StartRun
from ramet.protocol.spawn.children import ChildOrder, ReportSession, SpawnAgent, SpawnAgents
from ramet.protocol.work.kills import CancelSpawn, Kill
from ramet.protocol.work.leases import CompleteWork
from ramet.protocol.work.queue import AddWork, SetOutput

AnyStruct = TypeVar("AnyStruct", bound=Struct)

_NUL = "\N{SYMBOL FOR NULL}"
"""What stands for a NUL, which not every database can keep in a text."""

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
    SkillDefinition: ("phases", "modes", "templates", "cmd_dependencies", "directives"),
}
"""The fields of each request in which anything may be written."""


def redact(request: AnyStruct, redactor: Redactor) -> AnyStruct:
    """The request without the secrets in its free texts."""
    changed = {}
    for field in FREE_TEXTS.get(type(request), ()):
        given = getattr(request, field)
        kept = _clean(given, redactor)
        if kept != given:
            changed[field] = kept
    return replace(request, **changed) if changed else request


def _clean(given: Any, redactor: Redactor) -> Any:
    if isinstance(given, Struct):
        return redact(given, redactor)
    if isinstance(given, list) and given and type(given[0]) in FREE_TEXTS:
        return [redact(each, redactor) for each in given]
    kept, _ = redactor.redact_value(given)
    return kept.replace("\0", _NUL) if isinstance(kept, str) else kept
