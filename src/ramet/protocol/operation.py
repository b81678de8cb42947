"""An operation: one thing that Ramet can be asked to do, declared once, on the class of its request.

    class AddWork(Change[WorkReply], frozen=True, kw_only=True):
        "Queue an effort."

        op = Operation("work.add", errors=(ProjectNotFound,))

        prompt: Content

The docstring's first paragraph is the purpose, the type argument is the reply. Server, library, command line, reference
and completeness tests read it from there. A request is validated when it is decoded: wrong types, unknown names and
values out of range never reach the engine.
"""

import types
from collections.abc import Awaitable
from functools import cache
from typing import Any, ClassVar, Generic, Literal, Protocol, TypeVar, Union, get_args, get_origin

import msgspec
from msgspec import Raw, Struct

from ramet.errors import RametError
from ramet.protocol.fields import Name

Host = Literal["engine", "store", "daemon", "machine"]
Scope = Literal["user", "session"]
Audience = Literal["public", "internal", "compatibility"]

R = TypeVar("R")


class Operation(Struct, frozen=True):
    """A name, what it is for, what it takes, what it gives, and what can go wrong."""

    name: str
    errors: tuple[type[RametError], ...] = ()
    host: Host = "engine"
    """Who answers: a function of the engine in one transaction, the database itself, only a daemon, or the machine,
    whose disk is read too.
    """
    scope: Scope = "user"
    """Who may call it: only the user, or also an agent, for its own session and those below it."""
    audience: Audience = "public"
    """Whom it is for: everybody; only Ramet's own processes, so that it may change with any release; or programs
    written for the systems that came before.
    """
    locks_rows: bool = False
    """Whether it locks the rows that it decides on. If several machines share a database, the others then wait for it
    or skip it, instead of one of them starting over.
    """
    request: type["Request[Any]"] = None  # type: ignore[assignment]
    reply: Any = None
    purpose: str = ""

    @property
    def changes(self) -> bool:
        """Whether it changes something: runs on the writer, and takes an idempotency key."""
        return issubclass(self.request, Change)


class Request(Struct, Generic[R], frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A request that only reads. `R` is the reply."""

    op: ClassVar[Operation]

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        declared = cls.__dict__.get("op")
        if declared is not None:
            (reply,) = get_args(cls.__orig_bases__[0])  # type: ignore[attr-defined]
            purpose = " ".join((cls.__doc__ or "").partition("\n\n")[0].split())
            cls.op = msgspec.structs.replace(declared, request=cls, reply=reply, purpose=purpose)

    def needs_model(self) -> bool:
        """Whether a model has to be asked before the request can be done."""
        return False


class Change(Request[R], frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A request that changes something."""

    idempotency_key: Name | None = None


class Ask(Protocol):
    """Performs an operation and waits for it; a refusal is raised as its `RametError`."""

    def __call__(self, request: Request[R], /) -> R: ...


class AsyncAsk(Protocol):
    """The same for code that runs on an event loop."""

    def __call__(self, request: Request[R], /) -> Awaitable[R]: ...


@cache
def reply_kinds(reply: Any) -> tuple[Any, ...]:
    """What a reply may be: the members of a union, or the one type that it is."""
    return get_args(reply) if get_origin(reply) in (Union, types.UnionType) else (reply,)


def decode_reply(request: type[Request[R]], document: bytes | Raw) -> R:
    """A reply of the type that the request names. Of several structs it is the first whose required fields are all
    there: the replies of one operation are distinguished by their fields.
    """
    reply = request.op.reply
    structs = [kind for kind in reply_kinds(reply) if kind is not type(None)]
    if len(structs) == 1:
        return msgspec.json.decode(document, type=reply)  # type: ignore[no-any-return]
    fields = msgspec.json.decode(document, type=dict[str, Any])
    fitting = (kind for kind in structs if _required(kind) <= fields.keys())
    return msgspec.convert(fields, next(fitting, structs[-1]))  # type: ignore[no-any-return]


@cache
def _required(kind: type[Struct]) -> frozenset[str]:
    return frozenset(field.encode_name for field in msgspec.structs.fields(kind) if field.required)
