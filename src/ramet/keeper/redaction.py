"""The agent's output without secrets, before any of it is written to disk.

The rules are loaded with the first text, so that the agent starts without waiting for them.
"""

from functools import cached_property
from typing import TYPE_CHECKING, TypeVar

from msgspec import Struct

from ramet.model.work.stream import Started
from ramet.protocol.work.keepers import KeeperRedaction

if TYPE_CHECKING:
    from ramet.model.redaction import Redactor
    from ramet.model.redaction.structs import StructRedactor

AnyEvent = TypeVar("AnyEvent", bound=Struct)


class EventRedactor:
    """Removes secrets from events and from texts that come in pieces."""

    def __init__(self, redaction: KeeperRedaction) -> None:
        self._redaction = redaction

    @cached_property
    def _redactor(self) -> "Redactor":
        from ramet.model.redaction import Redactor  # noqa: PLC0415

        given = self._redaction
        return Redactor(given.patterns, given.values, is_enabled=given.is_enabled)

    @cached_property
    def _structs(self) -> "StructRedactor":
        from ramet.model.redaction.structs import StructRedactor  # noqa: PLC0415

        return StructRedactor()

    def redact(self, event: AnyEvent) -> AnyEvent:
        """An event without secrets, whatever its fields are."""
        return event if isinstance(event, Started) else self._structs.redact(event, self._redactor)

    def redact_text(self, text: str) -> str:
        """A text without secrets."""
        return self._redactor.redact(text).text

    def split(self, text: str) -> tuple[str, str]:
        """What of a text can be passed on, and what waits for its next piece."""
        from ramet.model.redaction.streams import split  # noqa: PLC0415

        return split(text, self._redactor) if self._redaction.is_enabled else (text, "")
