"""Callers: who tells of an event, as far as the event itself, the machine and the program's environment say."""

from msgspec import Struct

from ramet.model.hooks.hook import HookEvent, Moment
from ramet.model.record.session import LONGEST_NATIVE_ID, SessionRef, native_name
from ramet.protocol.hooks.hooks import HookFacts

_OPENING: frozenset[Moment] = frozenset({"session_start", "user_prompt"})
"""When a session may be open in another process than before."""


class Caller(Struct, frozen=True, kw_only=True):
    """What the environment of a program says about it."""

    session: SessionRef | None = None
    agent: str | None = None
    pid: int | None = None
    only_registered: bool = False
    """Whether a session outside every registered project is none of ours."""


class Told(Struct, frozen=True):
    """An event, with what the machine and the environment say about whoever tells of it."""

    event: HookEvent
    facts: HookFacts
    caller: Caller

    @property
    def window(self) -> str:
        """The name of the context window that the program has open."""
        return native_name(self.event.native_id, None)

    @property
    def agent(self) -> str:
        """By whom a session is held that somebody started by hand."""
        return self.caller.agent or f"{self.event.vendor}:{self.window}"[:LONGEST_NATIVE_ID]

    @property
    def pid(self) -> int | None:
        """A program may call its hooks through others; the machine knows which of them it is."""
        return self.caller.pid if self.facts.process is None else self.facts.process.pid

    @property
    def is_opening(self) -> bool:
        """Whether the program may have opened the window just now."""
        return self.event.agent_id is None and self.event.moment in _OPENING
