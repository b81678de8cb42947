"""An operation: one thing that may be asked."""

from typing import Any, Literal

from msgspec import Struct

from ramet.errors import RametError
from ramet.protocol.requests import Change, Request

Host = Literal["engine", "store", "daemon"]


class Operation(Struct, frozen=True, kw_only=True):
    """A name, what it is for, what it takes, what it gives, and what can go wrong."""

    name: str
    purpose: str
    request: type[Request]
    reply: Any
    errors: tuple[type[RametError], ...] = ()
    host: Host = "engine"
    """Who answers: a function of the engine in one transaction, the database itself, or only a daemon."""

    @property
    def changes(self) -> bool:
        """Whether it changes something: runs on the writer, and takes an idempotency key."""
        return issubclass(self.request, Change)
