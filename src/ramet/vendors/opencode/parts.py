"""What a message of opencode and its parts say: the same objects in the database and in the tree of files."""

from collections.abc import Iterator
from datetime import datetime
from typing import Any, Literal

import msgspec

from ramet.model.history.image import decode_url
from ramet.model.hooks.transcript import MESSAGE_USAGE, Entry
from ramet.vendors.contract import json_lines
from ramet.vendors.contract.stored_files.instants import from_milliseconds

_INVALID = "invalid"
"""The tool that stands for a call of a tool that does not exist, or with wrong arguments."""


def tell(name: str, part: dict[str, Any], message: dict[str, Any]) -> Iterator[Entry]:
    """What one part says. `message` is the one that it belongs to."""
    is_user = message.get("role") == "user"
    at = from_milliseconds(json_lines.entry(part, "time").get("start")) or _created(message)
    model = None if is_user else json_lines.text(message, "modelID") or None
    match part.get("type"):
        case "text" if text := json_lines.text(part, "text"):
            if message.get("summary") is True:
                yield Entry(key=name, kind="compaction", at=at, role="system", text=text)
                return
            is_program = part.get("synthetic") is True
            role: Literal["user", "assistant", "system"] = "user" if is_user else "assistant"
            yield Entry(key=name, kind="text", at=at, role="system" if is_program else role, text=text, model=model)
        case "reasoning" if text := json_lines.text(part, "text"):
            yield Entry(key=name, kind="reasoning", at=at, text=text, model=model)
        case "tool":
            yield from _tell_call(name, part, at, model)
        case "file":
            image = decode_url(json_lines.text(part, "url"))
            label = json_lines.text(part, "filename") or json_lines.text(part, "mime") or "file"
            said, images = (image.reference, [image]) if image else (f"[{label}]", [])
            yield Entry(key=name, kind="text", at=at, role="user" if is_user else "assistant", text=said, images=images)


def _tell_call(name: str, part: dict[str, Any], at: datetime | None, model: str | None) -> Iterator[Entry]:
    state = json_lines.entry(part, "state")
    tool, call_id = json_lines.text(part, "tool") or None, json_lines.text(part, "callID") or name
    given = msgspec.json.encode(state.get("input", {})).decode()
    started = from_milliseconds(json_lines.entry(state, "time").get("start")) or at
    yield Entry(key=name, kind="tool_call", at=started, text=given, tool=tool, call_id=call_id, model=model)
    status = state.get("status")
    if status in ("completed", "error"):
        status_code = json_lines.entry(state, "metadata").get("exit")
        yield Entry(
            key=f"{name}/result",
            kind="tool_result",
            at=from_milliseconds(json_lines.entry(state, "time").get("end")) or started,
            role="tool",
            text=json_lines.text(state, "output") or json_lines.text(state, "error"),
            tool=tool,
            call_id=call_id,
            # A command that failed is `completed`: only its exit status tells.
            is_error=status == "error" or tool == _INVALID or (status_code is not None and status_code != 0),
        )


def failure(name: str, message: dict[str, Any]) -> Iterator[Entry]:
    """Why a message was not finished."""
    error = json_lines.entry(message, "error")
    if text := json_lines.text(json_lines.entry(error, "data"), "message") or json_lines.text(error, "name"):
        yield Entry(key=f"{name}/error", kind="text", at=_created(message), role="system", text=text, is_error=True)


def usage(name: str, message: dict[str, Any]) -> Iterator[Entry]:
    """What a message used and cost. What it says itself counts; its steps repeat it."""
    tokens, cost = json_lines.entry(message, "tokens"), json_lines.amount(message, "cost")
    cache = json_lines.entry(tokens, "cache")
    sent, said, thought = (json_lines.count(tokens, each) for each in ("input", "output", "reasoning"))
    cached, written = json_lines.count(cache, "read"), json_lines.count(cache, "write")
    if json_lines.count(tokens, "total") != sent + said + cached + written:
        said += thought  # most versions count thoughts apart; if the sum fits without them, they are in the output
    used: dict[str, int | float] = {
        "input_tokens": sent,
        "output_tokens": said,
        "cache_read_tokens": cached,
        "cache_write_tokens": written,
    }
    if any(used.values()) or cost:
        used["context_tokens"] = sent + cached + written
        used |= {} if cost is None else {"cost_usd": cost}
        model = json_lines.text(message, "modelID") or None
        yield Entry(key=f"{MESSAGE_USAGE}{name}", kind="usage", at=_created(message), model=model, usage=used)


def _created(message: dict[str, Any]) -> datetime | None:
    return from_milliseconds(json_lines.entry(message, "time").get("created"))
