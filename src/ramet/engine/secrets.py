"""Secrets in what people and agents write: taken out before anything of it is stored or recorded.

A transcript's content is redacted where it is prepared for its blob (`messages`); this is about the other free texts:
titles, reasons, proofs, what a session hands on. Names and paths stay as they are, because things are found by them.
"""

from msgspec.structs import replace

from ramet.model.redaction import Redactor
from ramet.protocol.history import Spawn
from ramet.protocol.requests import (
    EnterPhase,
    FinishEffort,
    FinishSession,
    RegisterAgent,
    Request,
    StartEffort,
    UpsertProject,
    UpsertSkill,
    UpsertTask,
)
from ramet.protocol.work import AddWork, CompleteWork, Kill, SetOutput

_NUL = "\N{SYMBOL FOR NULL}"
"""What stands for a NUL, which not every database can keep in a text."""

FREE_TEXTS: dict[type[Request], tuple[str, ...]] = {
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
}
"""The fields of each request in which anything may be written."""


def redact(request: Request, redactor: Redactor) -> Request:
    """The request without the secrets in its free texts."""
    changed = {}
    for field in FREE_TEXTS.get(type(request), ()):
        given = getattr(request, field)
        kept, _ = redactor.redact_value(given)
        if isinstance(kept, str):
            kept = kept.replace("\0", _NUL)
        if kept != given:
            changed[field] = kept
    return replace(request, **changed) if changed else request
