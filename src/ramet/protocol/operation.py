"""An operation: one thing that Ramet can do on request, declared once, on the class of its request.

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
Ring = Literal["user", "own", "chain", "project"]
Audience = Literal["public", "internal", "compatibility"]

R = TypeVar("R")


class Pages(Struct, frozen=True):
    """How an operation gives a long list in parts. `protocol/pages` has the rules, and follows them.

    Every such request has a `limit`, and every such reply a `next`. Only the names of these two differ:
    """

    cursor: str = "cursor"
    """The field of the request that takes the `next` of the page before."""
    items: tuple[str, ...] = ("items",)
    """The lists of the reply, nearly always one. The lists of all pages, joined in their order, are the whole list."""
    size: int = 1000
    """How many items a caller that follows the pages asks for at a time."""
    unless: str | None = None
    """A field of the request that excludes pages: with it the reply is always whole."""


class Operation(Struct, frozen=True):
    """A name, a purpose, a request, a reply and the errors that can occur."""

    name: str
    errors: tuple[type[RametError], ...] = ()
    host: Host = "engine"
    """What answers: a function of the engine in one transaction, the database itself, only a daemon, or the machine,
    which also reads its disk.
    """
    ring: Ring = "user"
    """Who may call it: only the user; or also an agent, about its own session and those below it, about what its effort
    is based on as well, or about its project.
    """
    audience: Audience = "public"
    """Who uses it: any program; only Ramet's own processes, so that it may change with any release; or programs
    written for the systems before Ramet.
    """
    locks_rows: bool = False
    """Whether it locks the rows that it decides on. If several machines share a database, the others then wait for it
    or skip it, instead of restarting their transaction.
    """
    is_long: bool = False
    """Whether it takes so long that it never runs on the event loop. A read then runs on a thread; a change is prepared
    on one, and short changes that wait are written first.
    """
    pages: Pages | None = None
    """How its reply is given in parts; None if it is always whole."""
    request: type["Request[Any]"] = None  # type: ignore[assignment]
    reply: Any = None
    purpose: str = ""

    @property
    def is_for_agents(self) -> bool:
        """Whether an agent may call it over its connection. What is internal is only asked in its name, by the daemon,
        which has checked the rest.
        """
        return self.ring != "user" and (self.audience != "internal" or self.host == "daemon")

    @property
    def changes(self) -> bool:
        """Whether it changes something. It then runs on the writer and takes an idempotency key."""
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
        """Whether the request needs a model's answer first."""
        return False

    def draft(self) -> "Request[Any] | None":
        """What is read of a history before the change is made, beside the writer; None if that is not worth while."""
        return None

    def skill_names(self) -> frozenset[str]:
        """The skills whose files are read before the request is performed."""
        return frozenset()

    def reads_first(self) -> bool:
        """Whether files or git are read before the request is performed."""
        return bool(self.skill_names())


class Change(Request[R], frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A request that changes something."""

    idempotency_key: Name | None = None


class Ask(Protocol):
    """Performs an operation and waits for the reply. A refusal is raised as its `RametError`."""

    def __call__(self, request: Request[R], /) -> R: ...


class AsyncAsk(Protocol):
    """The same for code that runs on an event loop."""

    def __call__(self, request: Request[R], /) -> Awaitable[R]: ...


@cache
def reply_kinds(reply: Any) -> tuple[Any, ...]:
    """The possible types of a reply: the members of a union, or the one type."""
    return get_args(reply) if get_origin(reply) in (Union, types.UnionType) else (reply,)


def decode_reply(request: type[Request[R]], document: bytes | Raw) -> R:
    """Decode a reply to the type that the request declares. If that is a union of structs, choose the first struct
    whose required fields are all present.
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
