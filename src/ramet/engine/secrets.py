"""Secrets in what people and agents write: taken out before anything of it is stored or recorded.

A transcript's content is redacted where it is prepared for its blob (`messages`); this is about the other free texts:
titles, reasons, proofs, what a session hands on. Names and paths stay as they are, because things are found by them.
"""

from typing import Any

from msgspec.structs import replace

from ramet.model.redaction import Redactor
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

FREE_TEXTS: dict[type[Request], tuple[str, ...]] = {
    UpsertProject: ("name",),
    UpsertTask: ("workspace", "title", "description", "keywords"),
    StartEffort: ("metadata",),
    FinishEffort: ("keywords",),
    EnterPhase: ("proof", "reason"),
    FinishSession: ("dehydration_payload",),
    UpsertSkill: ("phases", "modes", "templates", "cmd_dependencies", "directives"),
    RegisterAgent: ("label",),
}
"""The fields of each request in which anything may be written."""


def redact(request: Request, redactor: Redactor) -> Request:
    """The request without the secrets in its free texts."""
    changed = {}
    for field in FREE_TEXTS.get(type(request), ()):
        given = getattr(request, field)
        kept = None if given is None else _redact(given, redactor)
        if kept != given:
            changed[field] = kept
    return replace(request, **changed) if changed else request


def _redact(value: Any, redactor: Redactor) -> Any:
    if isinstance(value, str):
        return redactor.redact(value).text
    if isinstance(value, list):
        return [_redact(item, redactor) for item in value]
    if isinstance(value, dict):
        return {_redact(key, redactor): _redact(item, redactor) for key, item in value.items()}
    return value
