"""Events as JSON that everybody can store: no text without end, no NUL, no half of a surrogate pair."""

from typing import Any

import msgspec
from msgspec.structs import replace

from ramet.model.work.stream import StreamEvent, ToolCall

LONGEST_TEXT = 1024 * 1024

_encoder = msgspec.json.Encoder()


def encode_event(event: StreamEvent) -> bytes:
    """One event as JSON, shortened where it is too long."""
    fields = {name: getattr(event, name) for name in event.__struct_fields__}
    texts = {name: _mend(value) for name, value in fields.items() if isinstance(value, str)}
    changed = {name: text for name, text in texts.items() if text is not fields[name]}
    if changed:
        event = replace(event, **changed)
    if isinstance(event, ToolCall):
        event = _mend_input(event)
    return _encoder.encode(event)


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
