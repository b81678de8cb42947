"""A model that says what a script says, on loopback, for the real agent CLIs. It speaks Anthropic Messages, OpenAI
Responses, OpenAI Chat Completions and Gemini.

    python scripted_model.py SCRIPTS LOG [--raise-loopback]

SCRIPTS is a JSON file: by name, a list of steps, each a list of blocks:

    {"text": ...} | {"thinking": ...} | {"tool": NAME, "input": {...}} | {"custom": NAME, "input": TEXT}
    {"error": {"type": ..., "message": ...}, "status": 529, "headers": {...}} | {"hold": true}

The newest text of the user that contains `[[name]]` chooses the script, and the assistant's turns since then choose the
step; so nothing is remembered between requests, and retries, resumed and parallel conversations are answered right.
`hold` alone is remembered: the first time, its step is never answered. Every request is one line of LOG, written before
it is answered. Prints its port. A tool of Codex's may also have a `namespace`.
"""

import argparse
import json
import re
import socket
import struct
import threading
import time
from collections.abc import Iterator
from fcntl import ioctl
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import count, pairwise
from pathlib import Path
from typing import Any

INPUT_TOKENS = 1000
CACHED_TOKENS = 200
OUTPUT_TOKENS = 50
"""What every answer is said to have used."""

_MARKER = re.compile(r"\[\[([a-z0-9_-]+)\]\]")
_numbers = count(1)

Block = dict[str, Any]
Turn = tuple[str, str]


class Server(ThreadingHTTPServer):
    """Answers from its scripts."""

    daemon_threads = True

    def __init__(self, scripts: dict[str, list[list[Block]]], log: Path) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.scripts = scripts
        self.log = log
        self._lock = threading.Lock()
        self._held: set[object] = set()

    def is_first(self, what: object) -> bool:
        with self._lock:
            is_first = what not in self._held
            self._held.add(what)
        return is_first

    def note(self, entry: dict[str, Any]) -> None:
        with self._lock, self.log.open("a", encoding="utf-8") as log:
            log.write(json.dumps({"at": time.time(), **entry}) + "\n")

    def choose(self, turns: list[Turn]) -> tuple[str | None, int, list[Block]]:
        """The script, the step and what it says."""
        marked = [
            (index, found[-1])
            for index, (role, text) in enumerate(turns)
            if role == "user" and (found := _MARKER.findall(text))
        ]
        if not marked:
            return None, 0, [{"text": "There is nothing to do."}]
        index, name = marked[-1]
        roles = pairwise(role for role, _ in turns[index:])
        step = sum(role == "assistant" and before != "assistant" for before, role in roles)
        steps = self.scripts.get(name, [])
        return name, step, steps[step] if step < len(steps) else [{"text": f"The script {name} is at its end."}]


class Handler(BaseHTTPRequestHandler):
    """One request."""

    server: Server
    protocol_version = "HTTP/1.1"

    def log_message(self, *arguments: object) -> None:
        pass

    def do_HEAD(self) -> None:
        self._answer({})

    def do_GET(self) -> None:
        self._answer({"object": "list", "data": []})

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        path = self.path.split("?")[0]
        try:
            if path.endswith("/messages"):
                self._perform(body, _anthropic_turns(body), _anthropic_events)
            elif path.endswith("/responses"):
                self._perform(body, _openai_turns(body), _openai_events)
            elif path.endswith("/chat/completions"):
                self._perform(body, _chat_turns(body), _chat_events)
            elif path.endswith(":streamGenerateContent"):
                self._perform(body, _gemini_turns(body), _gemini_events)
            else:
                self._answer({"input_tokens": INPUT_TOKENS})
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True

    def _perform(self, body: dict[str, Any], turns: list[Turn], events: Any) -> None:
        script, step, blocks = self.server.choose(turns)
        self.server.note({"path": self.path, "script": script, "step": step, "body": body})
        for block in blocks:
            if block.get("hold") and self.server.is_first((script, step)):
                threading.Event().wait()
            if "error" in block:
                error = {"type": "error", "error": block["error"]}
                self._answer(error, block["status"], block.get("headers", {}))
                return
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("connection", "close")
        self.end_headers()
        self.close_connection = True
        spoken = [block for block in blocks if "hold" not in block]
        for event in events(body.get("model", "scripted"), spoken):
            name = f"event: {event['type']}\n" if "type" in event else ""
            self.wfile.write(f"{name}data: {json.dumps(event)}\n\n".encode())
            self.wfile.flush()

    def _answer(self, reply: Any, status: int = 200, headers: dict[str, str] | None = None) -> None:
        content = json.dumps(reply).encode()
        self.send_response(status)
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(content)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content)


def _text(content: Any) -> str:
    if isinstance(content, str):
        return content
    return "\n".join(part["text"] for part in content or [] if isinstance(part.get("text"), str))


# Anthropic Messages.


def _anthropic_turns(body: dict[str, Any]) -> list[Turn]:
    turns = []
    for message in body["messages"]:
        content = message["content"]
        if isinstance(content, list) and any(part.get("type") == "tool_result" for part in content):
            turns.append(("tool", ""))
        if text := _text(content):
            turns.append((message["role"], text))
        elif message["role"] == "assistant":
            turns.append(("assistant", ""))
    return turns


def _anthropic_events(model: str, blocks: list[Block]) -> Iterator[dict[str, Any]]:
    usage = {"input_tokens": INPUT_TOKENS, "cache_read_input_tokens": CACHED_TOKENS, "cache_creation_input_tokens": 0}
    message: Block = {
        "id": f"msg_{next(_numbers):04}",
        "type": "message",
        "role": "assistant",
        "model": model,
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": {**usage, "output_tokens": 1},
    }
    yield {"type": "message_start", "message": message}
    for index, block in enumerate(blocks):
        empty, delta = _anthropic_block(block)
        yield {"type": "content_block_start", "index": index, "content_block": empty}
        yield {"type": "content_block_delta", "index": index, "delta": delta}
        if "thinking" in block:
            signature = {"type": "signature_delta", "signature": "c2NyaXB0ZWQ="}
            yield {"type": "content_block_delta", "index": index, "delta": signature}
        yield {"type": "content_block_stop", "index": index}
    reason = "tool_use" if any("tool" in block for block in blocks) else "end_turn"
    ended = {"stop_reason": reason, "stop_sequence": None}
    yield {"type": "message_delta", "delta": ended, "usage": {"output_tokens": OUTPUT_TOKENS}}
    yield {"type": "message_stop"}


def _anthropic_block(block: Block) -> tuple[Block, Block]:
    if "tool" in block:
        empty = {"type": "tool_use", "id": f"toolu_{next(_numbers):04}", "name": block["tool"], "input": {}}
        return empty, {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
    if "thinking" in block:
        return {"type": "thinking", "thinking": ""}, {"type": "thinking_delta", "thinking": block["thinking"]}
    return {"type": "text", "text": ""}, {"type": "text_delta", "text": block["text"]}


# OpenAI Responses.


def _openai_turns(body: dict[str, Any]) -> list[Turn]:
    turns = []
    for item in body["input"]:
        kind = item.get("type", "message")
        if kind == "message":
            turns.append((item["role"], _text(item["content"])))
        elif kind.endswith("_output"):
            turns.append(("tool", ""))
        elif kind.endswith("_call"):
            turns.append(("assistant", ""))
    return turns


def _openai_events(model: str, blocks: list[Block]) -> Iterator[dict[str, Any]]:
    items = [_openai_item(block) for block in blocks]
    usage = {
        "input_tokens": INPUT_TOKENS,
        "input_tokens_details": {"cached_tokens": CACHED_TOKENS},
        "output_tokens": OUTPUT_TOKENS,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": INPUT_TOKENS + OUTPUT_TOKENS,
    }
    begun = {
        "id": f"resp_{next(_numbers):04}",
        "object": "response",
        "model": model,
        "status": "in_progress",
        "output": [],
    }
    yield {"type": "response.created", "response": begun}
    for index, item in enumerate(items):
        yield {"type": "response.output_item.added", "output_index": index, "item": item}
        yield {"type": "response.output_item.done", "output_index": index, "item": item}
    yield {"type": "response.completed", "response": {**begun, "status": "completed", "output": items, "usage": usage}}


def _openai_item(block: Block) -> Block:
    number = f"{next(_numbers):04}"
    if "thinking" in block:
        summary = [{"type": "summary_text", "text": block["thinking"]}]
        return {"type": "reasoning", "id": f"rs_{number}", "summary": summary}
    if "custom" in block:
        return {
            "type": "custom_tool_call",
            "id": f"ctc_{number}",
            "call_id": f"call_{number}",
            "name": block["custom"],
            "input": block["input"],
            "status": "completed",
        }
    if "tool" in block:
        return {
            "type": "function_call",
            "id": f"fc_{number}",
            "call_id": f"call_{number}",
            "name": block["tool"],
            "arguments": json.dumps(block["input"]),
            "status": "completed",
            **({"namespace": block["namespace"]} if "namespace" in block else {}),
        }
    content = [{"type": "output_text", "text": block["text"], "annotations": []}]
    return {"type": "message", "id": f"msg_{number}", "role": "assistant", "status": "completed", "content": content}


# OpenAI Chat Completions.


def _chat_turns(body: dict[str, Any]) -> list[Turn]:
    """None of a request without tools: it asks for a title of the same conversation."""
    if not body.get("tools"):
        return []
    return [(message["role"], _text(message.get("content"))) for message in body["messages"]]


def _chat_events(model: str, blocks: list[Block]) -> Iterator[dict[str, Any]]:
    base = {"id": f"chatcmpl-{next(_numbers):04}", "object": "chat.completion.chunk", "created": 1, "model": model}
    calls = [
        {
            "index": index,
            "id": f"call_{next(_numbers):04}",
            "type": "function",
            "function": {"name": block["tool"], "arguments": json.dumps(block["input"])},
        }
        for index, block in enumerate(block for block in blocks if "tool" in block)
    ]
    said = "".join(block["text"] for block in blocks if "text" in block)
    deltas: list[Block] = [{"role": "assistant", "content": said}, *([{"tool_calls": calls}] if calls else [])]
    for delta in deltas:
        yield {**base, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]}
    reason = "tool_calls" if calls else "stop"
    usage = {
        "prompt_tokens": INPUT_TOKENS,
        "prompt_tokens_details": {"cached_tokens": CACHED_TOKENS},
        "completion_tokens": OUTPUT_TOKENS,
        "total_tokens": INPUT_TOKENS + OUTPUT_TOKENS,
    }
    yield {**base, "choices": [{"index": 0, "delta": {}, "finish_reason": reason}], "usage": usage}


# Gemini.


def _gemini_turns(body: dict[str, Any]) -> list[Turn]:
    turns = []
    for content in body["contents"]:
        parts = content["parts"]
        if any("functionResponse" in part for part in parts):
            turns.append(("tool", ""))
        elif text := _text(parts):
            turns.append(("assistant" if content["role"] == "model" else "user", text))
        elif content["role"] == "model":
            turns.append(("assistant", ""))
    return turns


def _gemini_events(model: str, blocks: list[Block]) -> Iterator[dict[str, Any]]:
    parts = [
        {"functionCall": {"name": block["tool"], "args": block["input"]}}
        if "tool" in block
        else {"text": block["text"]}
        for block in blocks
    ]
    usage = {
        "promptTokenCount": INPUT_TOKENS,
        "cachedContentTokenCount": CACHED_TOKENS,
        "candidatesTokenCount": OUTPUT_TOKENS,
        "totalTokenCount": INPUT_TOKENS + OUTPUT_TOKENS,
    }
    content = {"role": "model", "parts": parts}
    candidate = {"index": 0, "content": content, "finishReason": "STOP"}
    yield {"candidates": [candidate], "usageMetadata": usage, "modelVersion": model}


def raise_loopback() -> None:
    """In a network namespace of one's own not even loopback is up."""
    flags_of, set_flags, is_up = 0x8913, 0x8914, 0x1
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        name = struct.pack("16sH14s", b"lo", 0, b"")
        flags = struct.unpack("16sH14s", ioctl(any_socket, flags_of, name))[1]
        ioctl(any_socket, set_flags, struct.pack("16sH14s", b"lo", flags | is_up, b""))


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("scripts", type=Path)
    parser.add_argument("log", type=Path)
    parser.add_argument("--raise-loopback", action="store_true")
    arguments = parser.parse_args()
    if arguments.raise_loopback:
        raise_loopback()
    server = Server(json.loads(arguments.scripts.read_text(encoding="utf-8")), arguments.log)
    print(server.server_address[1], flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main()
