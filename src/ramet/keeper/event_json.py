"""Events as JSON that everybody can store: no text without end, no NUL, no half of a surrogate pair, and no secret.

The rules for secrets are loaded with the first text, so that the agent starts without waiting for them.
"""

from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from ramet.model.history.image import bounded
from ramet.model.work.stream import Started, StreamEvent, SubAgent, ToolCall, ToolResult
from ramet.protocol.work.keepers import KeeperRedaction

if TYPE_CHECKING:
    from ramet.model.redaction import Redactor
    from ramet.model.redaction.structs import StructRedactor

AnyEvent = TypeVar("AnyEvent", bound=Struct)

LONGEST_TEXT = 1024 * 1024

_encoder = msgspec.json.Encoder()


def encode_event(event: StreamEvent) -> bytes:
    """One event as JSON, shortened where it is too long."""
    return _encoder.encode(_mend_event(event))


def _mend_event(event: Struct) -> Struct:
    fields = {name: getattr(event, name) for name in event.__struct_fields__}
    texts = {name: _mend(value) for name, value in fields.items() if isinstance(value, str)}
    changed = {name: text for name, text in texts.items() if text is not fields[name]}
    if changed:
        event = replace(event, **changed)
    if isinstance(event, SubAgent):
        event = replace(event, said=_mend_event(event.said))
    if isinstance(event, ToolResult) and event.images:
        event = replace(event, images=bounded(event.images))
    return _mend_input(event) if isinstance(event, ToolCall) else event


def _mend_input(call: ToolCall) -> ToolCall:
    """What a tool is given may be any JSON, and its texts are as dangerous as others."""
    mended = _mend_all(call.input)
    encoded = _encoder.encode(mended)
    return replace(call, input=mended if len(encoded) <= LONGEST_TEXT else _mend(encoded.decode()))


def _mend_all(value: Any) -> Any:
    if isinstance(value, str):
        return _mend(value)
    if isinstance(value, list):
        return [_mend_all(item) for item in value]
    if isinstance(value, dict):
        return {_mend(str(name)): _mend_all(item) for name, item in value.items()}
    return value


def _mend(text: str) -> str:
    """The same text object where nothing is wrong with it."""
    if len(text) > LONGEST_TEXT:
        text = f"{text[:LONGEST_TEXT]}… (cut: {len(text) - LONGEST_TEXT:,} more characters)"
    if "\0" in text:
        text = text.replace("\0", "")
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-8", "replace").decode()
    return text


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
