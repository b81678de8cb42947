"""Codex's transcripts: `sessions/<year>/<month>/<day>/rollout-<instant>-<thread>.jsonl`, sub-agents' among them.

What the model was sent and answered stands in `response_item` lines; `event_msg` lines repeat it for the screen, so of
these only the count of tokens is read. What the program tells the model of itself is not read: a session that goes on
gets its own. Old versions write no ids: there the line itself is the key.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import msgspec

from ramet.model.history.image import Image, decode_url
from ramet.model.hooks.transcript import Entry, Reading
from ramet.vendors.contract import json_lines, transcript_lines
from ramet.vendors.contract.transcript_lines import Subagent, Transcripts

_PROGRAM = ("<environment_context>", "<user_instructions>", "<permissions instructions>", "# AGENTS.md instructions")
"""How texts begin that the program writes in the user's name, and writes again in every session."""
_ITEMS = ("message", "reasoning", "function_call", "function_call_output", "local_shell_call")
_METADATA = "internal_chat_message_metadata_passthrough"
_FAILED = re.compile(r"^(?:Process exited with code|Exit code:) -?[1-9]", re.MULTILINE)
_HEAD_CHARACTERS = 300
"""Where a command's result says how it ended; what follows it printed itself."""
_THREAD_CHARACTERS = 36
_DAY, _FILE = "[0-9][0-9][0-9][0-9]/[0-9][0-9]/[0-9][0-9]", "rollout-*.jsonl"
DAYS = f"{_DAY}/{_FILE}"
"""Where a thread's file is below the folder of all."""


def read(data: bytes, offset: int) -> Reading:
    """What the file says from `offset` on; `data` are its bytes from there."""
    return transcript_lines.read(data, offset, _tell)


def thread_of(path: Path) -> str:
    """The thread whose file it is, by its name."""
    return path.stem[-_THREAD_CHARACTERS:]


def find_subagents(paths: Sequence[Path]) -> list[Subagent]:
    """The files of the threads that these have started: they lie among all others, and are no older."""
    threads = {thread_of(path): path for path in paths if path.match(DAYS)}
    return [
        Subagent(thread_of(file), file, above)
        for file in _list_since(threads.values())
        if (above := threads.get(_origin(file) or "")) not in (None, file)
    ]


def _list_since(paths: Iterable[Path]) -> Iterator[Path]:
    """All files from the day of the first of these on. Each is looked at once, however many these are."""
    first: dict[Path, Path] = {}
    for path in paths:
        root = path.parents[3]
        first[root] = min(first.get(root, path.parent), path.parent)
    for root, day in first.items():
        for folder in sorted(root.glob(_DAY)):
            if folder >= day:
                yield from sorted(folder.glob(_FILE))


def _origin(file: Path) -> str | None:
    """The session that a file's thread is a sub-agent of; None where it is none, or that is not to be known yet. Hooks
    name the session, too, and not the thread between.
    """
    try:
        return _read_origin(file)
    except LookupError:
        return None


@lru_cache(maxsize=4096)
def _read_origin(file: Path) -> str | None:
    """Raises where there is nothing yet, so that it is asked for again."""
    meta = json_lines.entry(transcript_lines.first_object(file), "payload")
    if not meta:
        raise LookupError(file)
    return find_parent(meta)


def find_parent(meta: dict[str, Any]) -> str | None:
    """The session that a thread is a sub-agent of, from what its first line says; None if it is none."""
    source = json_lines.entry(json_lines.entry(json_lines.entry(meta, "source"), "subagent"), "thread_spawn")
    parent = json_lines.text(meta, "parent_thread_id") or json_lines.text(source, "parent_thread_id")
    return (json_lines.text(meta, "session_id") or parent) if parent else None


def _tell(line: dict[str, Any], raw: bytes) -> Iterator[Entry]:
    if "payload" not in line and json_lines.text(line, "type") in _ITEMS:
        line = {"type": "response_item", "payload": line}  # as the first versions wrote it
    payload = json_lines.entry(line, "payload")
    key, at = json_lines.text(payload, "id") or transcript_lines.digest(raw), transcript_lines.instant(line)
    match line.get("type"), payload.get("type"):
        case "response_item", "message" if json_lines.entry(line, "metadata").get("compaction_output") is True:
            return  # what follows as `compacted`
        case "response_item", "message":
            yield from _message(key, line, payload)
        case "response_item", "reasoning":
            text = _texts(payload.get("summary")) or _texts(payload.get("content"))
            if text:
                yield Entry(key=key, kind="reasoning", at=at, text=text)
        case "response_item", str(kind) if kind.endswith("_output"):
            yield _result(key, line, payload)
        case "response_item", str(kind) if kind.endswith("_call"):
            yield _call(key, kind, line, payload)
        case "compacted", _:
            text = json_lines.text(payload, "message")
            yield Entry(key=key, kind="compaction", at=at, role="system", text=text)
        case "event_msg", "token_count":
            yield from _usage(line, json_lines.entry(payload, "info"))
        case kind:
            yield from _meta(key, kind, payload)


def _meta(key: str, kind: tuple[Any, Any], payload: dict[str, Any]) -> Iterator[Entry]:
    """What a line says of the thread as a whole."""
    match kind:
        case "session_meta", _ if origin := json_lines.text(payload, "forked_from_id"):
            yield Entry(key=key, kind="meta", at=None, meta={"origin": origin})
        case "event_msg", "thread_name_updated":
            yield Entry(key=key, kind="meta", at=None, meta={"title": payload.get("thread_name"), "is_given": True})
        case "turn_context", _ if model := json_lines.text(payload, "model"):
            yield Entry(key=key, kind="meta", at=None, model=model)


def _message(key: str, line: dict[str, Any], payload: dict[str, Any]) -> Iterator[Entry]:
    text, images = _parts(payload.get("content"))
    at, metadata = transcript_lines.instant(line), json_lines.entry(payload, _METADATA)
    match payload.get("role"):
        case "assistant" if text:
            yield Entry(key=key, kind="text", at=at, text=text)
        case "user" if text and not text.startswith(_PROGRAM):
            if _is_users(text, metadata):
                prompt_id = json_lines.text(metadata, "turn_id") or None
                yield Entry(key=key, kind="text", at=at, role="user", text=text, images=images, prompt_id=prompt_id)
            else:
                yield Entry(key=key, kind="text", at=at, role="system", text=text)


def _is_users(text: str, metadata: dict[str, Any]) -> bool:
    """New versions say whose words they are."""
    kinds = metadata.get("content_item_kinds")
    if isinstance(kinds, list) and kinds:
        return any(str(kind).startswith("user.") for kind in kinds)
    return not text.startswith("<turn_aborted>")


def _call(key: str, kind: str, line: dict[str, Any], payload: dict[str, Any]) -> Entry:
    given = payload.get("arguments", payload.get("input", payload.get("action")))
    name, space = json_lines.text(payload, "name") or kind.removesuffix("_call"), json_lines.text(payload, "namespace")
    return Entry(
        key=key,
        kind="tool_call",
        at=transcript_lines.instant(line),
        text=given if isinstance(given, str) else msgspec.json.encode(given).decode(),
        tool=f"{space}__{name}" if space.startswith("mcp__") else name,
        call_id=json_lines.text(payload, "call_id") or None,
    )


def _result(key: str, line: dict[str, Any], payload: dict[str, Any]) -> Entry:
    output = payload.get("output", payload.get("tools"))
    success = output.get("success") if isinstance(output, dict) else None
    text, images = _parts(output.get("content") if isinstance(output, dict) else output)
    return Entry(
        key=key,
        kind="tool_result",
        at=transcript_lines.instant(line),
        role="tool",
        text=text,
        images=images,
        call_id=json_lines.text(payload, "call_id") or None,
        is_error=success is False or _FAILED.search(text[:_HEAD_CHARACTERS]) is not None,
    )


def _texts(content: Any) -> str:
    """The texts of a content's parts; what is none is named."""
    return _parts(content)[0]


def _parts(content: Any) -> tuple[str, list[Image]]:
    """The texts of a content's parts, and the images that they name."""
    if isinstance(content, str):
        return content, []
    texts, images = [], []
    for part in json_lines.entries({"content": content}, "content"):
        image = decode_url(json_lines.text(part, "image_url"))
        images += [] if image is None else [image]
        texts.append(json_lines.text(part, "text") or (image.reference if image else f"[{part.get('type')}]"))
    return "\n".join(texts), images


def _usage(line: dict[str, Any], info: dict[str, Any]) -> Iterator[Entry]:
    """What the thread has used since its beginning, under one key. What came from the cache is counted as input too."""
    used = json_lines.entry(info, "total_token_usage")
    read_tokens, written = (
        json_lines.count(used, "cached_input_tokens"),
        json_lines.count(used, "cache_write_input_tokens"),
    )
    if used:
        tokens: dict[str, int | float] = {
            "input_tokens": max(0, json_lines.count(used, "input_tokens") - read_tokens - written),
            "output_tokens": json_lines.count(used, "output_tokens"),
            "cache_read_tokens": read_tokens,
            "cache_write_tokens": written,
        }
        tokens["context_tokens"] = json_lines.count(json_lines.entry(info, "last_token_usage"), "input_tokens")
        tokens["window_tokens"] = json_lines.count(info, "model_context_window")
        yield Entry(key="thread", kind="usage", at=transcript_lines.instant(line), usage=tokens)


TRANSCRIPT = Transcripts(read=read, find_subagents=find_subagents, counts_subagents=False)
