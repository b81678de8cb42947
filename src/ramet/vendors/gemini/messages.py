"""What a message of a Gemini CLI chat says, in either form of the file."""

import re
from collections.abc import Iterator
from datetime import datetime
from typing import Any

import msgspec

from ramet.model.history.image import Image, decode_image
from ramet.model.hooks.transcript import MESSAGE_USAGE, Entry
from ramet.vendors.contract import json_lines, transcript_lines

_PROGRAM = ("<session_context>", "<hook_context>")
"""How texts begin that the program writes in the user's name, and writes again in every session."""
_SNAPSHOT = "<state_snapshot>"
_FAILED = re.compile(r"^Exit Code: -?[1-9]", re.MULTILINE)
"""A failed command has the status `success`: only its output tells."""
_OVER = ("success", "error", "cancelled")


def is_snapshot(message: dict[str, Any]) -> bool:
    """Whether it is what a compaction left of the conversation before it."""
    return message.get("type") == "user" and _parts(message.get("content"))[0].lstrip().startswith(_SNAPSHOT)


class Reading:
    """The messages of one chat, one after the other."""

    def __init__(self) -> None:
        self.model: str | None = None
        self._returned: set[str] = set()
        """The calls whose results were told: the message behind them repeats them."""

    def tell(self, message: dict[str, Any]) -> Iterator[Entry]:
        """What a message says. One without an id says nothing."""
        name, at = json_lines.text(message, "id"), transcript_lines.instant(message)
        if not name:
            return
        match message.get("type"):
            case "user":
                yield from self._tell_user(name, at, message)
            case "gemini":
                self.model = self.model or json_lines.text(message, "model") or None
                yield from self._tell_agent(name, at, message)
            case "info" | "error" | "warning":
                if text := _parts(message.get("content"))[0]:
                    yield Entry(key=name, kind="text", at=at, role="system", text=text)

    def _tell_user(self, name: str, at: datetime | None, message: dict[str, Any]) -> Iterator[Entry]:
        text, images = _parts(message.get("content"))
        if is_snapshot(message):
            yield Entry(key=name, kind="compaction", at=at, role="system", text=text)
        elif text and not text.startswith(_PROGRAM):
            yield Entry(key=name, kind="text", at=at, role="user", text=text, images=images)
        for part in json_lines.entries(message, "content"):
            response = json_lines.entry(part, "functionResponse")
            call = json_lines.text(response, "id")
            if call and call not in self._returned:
                yield self._result(call, at, json_lines.text(response, "name"), [part], is_error=False)

    def _tell_agent(self, name: str, at: datetime | None, message: dict[str, Any]) -> Iterator[Entry]:
        model = json_lines.text(message, "model") or None
        for number, thought in enumerate(json_lines.entries(message, "thoughts")):
            words = (json_lines.text(thought, "subject"), json_lines.text(thought, "description"))
            if text := "\n".join(word for word in words if word):
                when = transcript_lines.instant(thought) or at
                yield Entry(key=f"{name}/thought/{number}", kind="reasoning", at=when, text=text, model=model)
        text, images = _parts(message.get("content"))
        if text:
            yield Entry(key=name, kind="text", at=at, text=text, images=images, model=model)
        calls = json_lines.entries(message, "toolCalls") or _calls(message)
        for number, call in enumerate(calls):
            yield from self._tell_call(call, at, model, json_lines.text(call, "id") or f"{name}/{number}")
        yield from _usage(name, at, message)

    def _tell_call(self, call: dict[str, Any], at: datetime | None, model: str | None, name: str) -> Iterator[Entry]:
        tool, arguments = json_lines.text(call, "name") or None, msgspec.json.encode(call.get("args")).decode()
        key = f"{name}/call"
        yield Entry(key=key, kind="tool_call", at=at, text=arguments, tool=tool, call_id=name, model=model)
        status = call.get("status")
        if status in _OVER or call.get("result"):
            when = transcript_lines.instant(call) or at
            results = json_lines.entries(call, "result") or [{"text": json_lines.text(call, "resultDisplay")}]
            yield self._result(name, when, tool, results, is_error=status in ("error", "cancelled"))

    def _result(
        self, call: str, at: datetime | None, tool: str | None, parts: list[dict[str, Any]], *, is_error: bool
    ) -> Entry:
        self._returned.add(call)
        text = "\n".join(filter(None, map(_response, parts)))
        failed = any(
            "error" in json_lines.entry(json_lines.entry(part, "functionResponse"), "response") for part in parts
        )
        return Entry(
            key=f"{call}/result",
            kind="tool_result",
            at=at,
            role="tool",
            text=text,
            tool=tool,
            call_id=call,
            is_error=is_error or failed or _FAILED.search(text) is not None,
        )


def _calls(message: dict[str, Any]) -> list[dict[str, Any]]:
    """The calls of a message that a list repeats: there they are parts of its content, without their results."""
    return [call for part in json_lines.entries(message, "content") if (call := json_lines.entry(part, "functionCall"))]


def _response(part: dict[str, Any]) -> str:
    """What a tool answered."""
    response = json_lines.entry(json_lines.entry(part, "functionResponse"), "response")
    said = response.get("output", response.get("error"))
    if said is None:
        return json_lines.text(part, "text") or (msgspec.json.encode(response).decode() if response else "")
    return said if isinstance(said, str) else msgspec.json.encode(said).decode()


def _parts(content: Any) -> tuple[str, list[Image]]:
    """The texts of a content's parts, and the images that they name. Calls and their results are elsewhere."""
    if isinstance(content, str):
        return content, []
    texts, images = [], []
    for part in json_lines.entries({"content": content}, "content"):
        inline = json_lines.entry(part, "inlineData")
        kind = json_lines.text(inline, "mimeType")
        image = decode_image(kind, json_lines.text(inline, "data"))
        images += [] if image is None else [image]
        texts.append(json_lines.text(part, "text") or (image.reference if image else f"[{kind}]" if inline else ""))
    return "\n".join(text for text in texts if text), images


def _usage(name: str, at: datetime | None, message: dict[str, Any]) -> Iterator[Entry]:
    """What the call used that gave this message. Its prompt counts all messages before it, cached ones too; a message
    that is written again repeats it, so it goes under the message's id.
    """
    tokens = json_lines.entry(message, "tokens")
    sent, cached = json_lines.count(tokens, "input"), json_lines.count(tokens, "cached")
    used: dict[str, int | float] = {
        "input_tokens": max(0, sent - cached) + json_lines.count(tokens, "tool"),
        "output_tokens": json_lines.count(tokens, "output") + json_lines.count(tokens, "thoughts"),
        "cache_read_tokens": min(sent, cached),
        "cache_write_tokens": 0,
    }
    if any(used.values()):
        used["context_tokens"] = sent
        model = json_lines.text(message, "model") or None
        yield Entry(key=f"{MESSAGE_USAGE}{name}", kind="usage", at=at, model=model, usage=used)
