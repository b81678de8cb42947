"""What a message of Goose says: the same objects in the database and in old files."""

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any, Literal

import msgspec

from ramet.model.history.image import Image, decode_image
from ramet.model.hooks.transcript import Entry
from ramet.vendors.contract import json_lines
from ramet.vendors.contract.stored_files.instants import from_milliseconds

_MILLISECONDS = 100_000_000_000
"""From here on a time is in milliseconds; a smaller one is in seconds."""


def instant(value: Any) -> datetime | None:
    """A time in seconds or milliseconds since 1970, or as text."""
    if isinstance(value, str):
        return _parse_time(value)
    is_seconds = isinstance(value, int | float) and value < _MILLISECONDS
    return from_milliseconds(value * 1000 if is_seconds else value)


def _parse_time(text: str) -> datetime | None:
    try:
        at = datetime.fromisoformat(text.removesuffix(" UTC"))
    except ValueError:
        return None
    return at if at.tzinfo else at.replace(tzinfo=UTC)


class Message(msgspec.Struct, frozen=True):
    """One message, wherever it is from."""

    key: str
    role: str
    created: Any
    content: list[Any]
    metadata: dict[str, Any]


def tell(message: Message) -> Iterator[Entry]:
    """What a message says."""
    at = instant(message.created)
    for number, part in enumerate(message.content):
        if not isinstance(part, dict):
            continue
        key = f"{message.key}/{number}" if number else message.key
        match part.get("type"):
            case "text" | "image":
                yield from _words(key, part, at, message)
            case "thinking" | "reasoning":
                if text := json_lines.text(part, "thinking") or json_lines.text(part, "text"):
                    yield Entry(key=key, kind="reasoning", at=at, text=text)
            case "toolRequest" | "frontendToolRequest":
                yield _call(key, part, at)
            case "toolResponse":
                yield _result(key, part, at)


def _words(key: str, part: dict[str, Any], at: datetime | None, message: Message) -> Iterator[Entry]:
    """What a side said. What only the agent sees stands for the messages that a compaction hid from the agent."""
    image = decode_image(json_lines.text(part, "mimeType"), json_lines.text(part, "data"))
    text = json_lines.text(part, "text") or (image.reference if image else "")
    is_hidden, is_user = message.metadata.get("userVisible") is False, message.role == "user"
    if text and is_hidden and is_user:
        yield Entry(key=key, kind="compaction", at=at, role="system", text=text)
    elif text:
        said: Literal["user", "assistant"] = "user" if is_user else "assistant"
        role = "system" if is_hidden else said
        yield Entry(key=key, kind="text", at=at, role=role, text=text, images=[image] if image else [])


def _call(key: str, part: dict[str, Any], at: datetime | None) -> Entry:
    call = json_lines.entry(part, "toolCall")
    value = json_lines.entry(call, "value") or call
    return Entry(
        key=key,
        kind="tool_call",
        at=at,
        text=msgspec.json.encode(value.get("arguments", {})).decode(),
        tool=json_lines.text(value, "name") or None,
        call_id=json_lines.text(part, "id") or key,
        is_error=call.get("status") == "error",
    )


def _result(key: str, part: dict[str, Any], at: datetime | None) -> Entry:
    """Old versions have the content alone, new ones an object around it."""
    result = json_lines.entry(part, "toolResult")
    value = result.get("value")
    content = value.get("content") if isinstance(value, dict) else value
    texts, images = list[str](), list[Image]()
    for each in json_lines.entries({"content": content}, "content"):
        image = decode_image(json_lines.text(each, "mimeType"), json_lines.text(each, "data"))
        images += [image] if image else []
        resource = json_lines.entry(each, "resource")
        texts.append(
            json_lines.text(each, "text") or json_lines.text(resource, "text") or (image.reference if image else "")
        )
    is_failed = isinstance(value, dict) and value.get("isError") is True
    return Entry(
        key=key,
        kind="tool_result",
        at=at,
        role="tool",
        text="\n".join(text for text in texts if text) or json_lines.text(result, "error"),
        images=images,
        call_id=json_lines.text(part, "id") or None,
        is_error=result.get("status") == "error" or is_failed,
    )
