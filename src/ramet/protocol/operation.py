"""An operation: one thing that may be asked."""

import types
from functools import cache
from typing import Any, Literal, Union, get_args, get_origin

import msgspec
from msgspec import Raw, Struct

from ramet.errors import RametError
from ramet.protocol.requests import Change, Request

Host = Literal["engine", "store", "daemon", "workplace"]
Scope = Literal["user", "session"]


class Operation(Struct, frozen=True, kw_only=True):
    """A name, what it is for, what it takes, what it gives, and what can go wrong."""

    name: str
    purpose: str
    request: type[Request]
    reply: Any
    errors: tuple[type[RametError], ...] = ()
    host: Host = "engine"
    """Who answers: a function of the engine in one transaction, the database itself, only a daemon, or the workplace,
    which also looks at this machine's disk.
    """

    scope: Scope = "user"
    """Who may ask for it: only the user, or also an agent, for its own session and what is below it."""

    locks_rows: bool = False
    """Whether it locks the rows that it decides on. Where several machines share a database, others then wait for it or
    pass it by, instead of one of them starting over.
    """

    @property
    def changes(self) -> bool:
        """Whether it changes something: runs on the writer, and takes an idempotency key."""
        return issubclass(self.request, Change)


@cache
def reply_kinds(reply: Any) -> tuple[Any, ...]:
    """What a reply may be: the members of a union, or the one type that it is."""
    return get_args(reply) if get_origin(reply) in (Union, types.UnionType) else (reply,)


def decode_reply(reply: Any, document: bytes | Raw) -> Any:
    """A reply of the type that an operation names. Of several structs it is the first whose required fields are all
    there: the replies of one operation are told apart by what they say.
    """
    structs = [kind for kind in reply_kinds(reply) if kind is not type(None)]
    if len(structs) == 1:
        return msgspec.json.decode(document, type=reply)
    fields = msgspec.json.decode(document, type=dict[str, Any])
    fitting = (kind for kind in structs if _required(kind) <= fields.keys())
    return msgspec.convert(fields, next(fitting, structs[-1]))


@cache
def _required(kind: type[Struct]) -> frozenset[str]:
    return frozenset(field.encode_name for field in msgspec.structs.fields(kind) if field.required)
