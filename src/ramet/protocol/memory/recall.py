"""Requests and replies about recalling: a short answer from what is on record, for an agent or a person."""

from typing import Annotated

from msgspec import Meta, Struct

from ramet.errors import EffortNotFound, Forbidden, InvalidParams, ProjectNotFound, SessionNotFound, UnknownFilter
from ramet.model.memory.recollection import Mode, Recollection
from ramet.protocol.fields import Content, ProjectRef, SessionId
from ramet.protocol.operation import Operation, Request


class Recalled(Struct, frozen=True, kw_only=True):
    """The answer to a question, best first."""

    text: str
    """The answer for an agent, at most `max_bytes` long; empty if nothing relevant is on record."""
    items: list[Recollection] = []
    tokens: int = 0
    """What the text costs an agent; estimated."""


class Recall(Request[Recalled], frozen=True, kw_only=True):
    """Answer a question from earlier sessions in a few kilobytes, or open a place of an earlier answer.

    An agent gets only the history of its own project. The answer is empty if nothing relevant is on record.
    """

    op = Operation(
        "memory.recall",
        errors=(InvalidParams, UnknownFilter, ProjectNotFound, SessionNotFound, EffortNotFound, Forbidden),
        ring="project",
        is_long=True,
    )

    query: Content
    """Words, an error, a tool or a topic; or a place such as `s7:120`, `s7` or `e12`."""
    mode: Mode = "recall"
    """recall: what is known about it; fix: what ended this error; how: commands of this tool that worked; files: the
    files of this topic."""
    project: ProjectRef | None = None
    """The project whose history is searched (default: every project; for an agent, its own)."""
    session_id: SessionId | None = None
    """The session that asks: only the history of its project is used, and what it said itself is left out."""
    is_hint: bool = False
    """Whether a hook asks and not an agent: the answer then needs stronger evidence, and is enclosed in tags."""
    max_bytes: Annotated[int, Meta(ge=100, le=4096)] = 4096
