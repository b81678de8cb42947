"""The arguments that agents give, checked before anything is asked."""

from typing import Annotated, Any, TypeVar

import msgspec
from msgspec import Meta, Struct

from ramet.errors import InvalidParams
from ramet.model.memory.recollection import Mode
from ramet.protocol.fields import Id, TimeoutSeconds
from ramet.protocol.spawn.children import ChildOrder
from ramet.protocol.wire.frames import explain

_Arguments = TypeVar("_Arguments")


class AwaitSessions(
    Struct,
    frozen=True,
    kw_only=True,
    forbid_unknown_fields=True,
    rename={"session_ids": "sessionIds", "timeout_seconds": "timeoutSeconds"},
):
    session_ids: Annotated[list[Id], Meta(min_length=1, max_length=1000)]
    timeout_seconds: TimeoutSeconds | None = None


class ReadOutput(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, rename={"effort_id": "effortId"}):
    effort_id: Id
    offset: Annotated[int, Meta(ge=0)] = 0


class Recall(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    query: Annotated[str, Meta(min_length=1)]
    mode: Mode = "recall"


class Nothing(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """No arguments."""


class Log(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    text: Annotated[str, Meta(min_length=1)]


class EnterPhase(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    label: Annotated[str, Meta(min_length=1)]
    proof: dict[str, Any] | None = None
    reason: str | None = None


class _Agents(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    agents: Annotated[list[ChildOrder], Meta(min_length=1)]


class _Wait(Struct, frozen=True, kw_only=True):
    wait: bool = True


class SpawnAgent(Struct, frozen=True, kw_only=True):
    """One child or several, and whether to wait for them."""

    children: list[ChildOrder]
    is_single: bool
    wait: bool


def check(kind: type[_Arguments], given: dict[str, Any]) -> _Arguments:
    """What was given, as its type; `InvalidParams` says what is wrong with it."""
    try:
        return msgspec.convert(given, kind)
    except msgspec.ValidationError as error:
        raise explain(str(error), kind, given) from error


def check_spawn(given: dict[str, Any]) -> SpawnAgent:
    """A single child is described beside `wait`; several children are in `agents`."""
    rest = dict(given)
    wait = check(_Wait, {name: rest.pop(name) for name in ("wait",) if name in rest}).wait
    if "agents" not in rest:
        return SpawnAgent(children=[check(ChildOrder, rest)], is_single=True, wait=wait)
    if others := sorted(set(rest) - {"agents"}):
        named = ", ".join(others)
        fix = "describe each child in `agents`, or a single child without `agents`"
        raise InvalidParams(f"with `agents`, only `wait` is allowed, not {named}", field=named, fix=fix)
    return SpawnAgent(children=check(_Agents, rest).agents, is_single=False, wait=wait)
