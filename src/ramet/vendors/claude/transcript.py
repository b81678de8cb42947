"""Claude Code's transcripts: `projects/<directory>/<session>.jsonl`, and one file for each sub-agent beside it.

A line has a uuid of its own and mostly one block of a message; a message is spread over several lines, each of which
repeats its usage, so usage goes under the message's id. What the program tells the model of itself (its tools, skills,
the state of git) stands in `attachment` lines and is not read: a session that goes on gets its own. A copy of a session
keeps the uuids of its lines, so a key names an entry only within its session.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Literal

import msgspec
from msgspec.structs import replace

from ramet.model.hooks.transcript import (
    MESSAGE_USAGE,
    RUNNING_COST,
    Entry,
    Reading,
)
from ramet.vendors.claude.stream import read_block
from ramet.vendors.contract import json_lines, transcript_lines
from ramet.vendors.contract.transcript_lines import Subagent, Transcripts

_ITSELF = "<synthetic>"
"""The model of messages that the program wrote, not the agent."""
_PROGRAM = ("<command-name>", "<local-command-", "<bash-", "[Request interrupted by user")
"""How texts begin that the program writes in the user's name: of what a person told it and not the agent, such as
`/compact`, and of what came of that. A command that is a prompt begins with `<command-message>`.
"""
_EDITOR = re.compile(r"\s*(?:<(ide_\w+)>.*?</\1>\s*)+", re.DOTALL)
"""What an editor tells the agent of itself, such as the file that is open; it comes before what a person says."""
_USAGE = {
    "input_tokens": "input_tokens",
    "output_tokens": "output_tokens",
    "cache_read_input_tokens": "cache_read_tokens",
    "cache_creation_input_tokens": "cache_write_tokens",
}


def read(data: bytes, offset: int) -> Reading:
    """What the file says from `offset` on; `data` are its bytes from there."""
    return transcript_lines.read(data, offset, _tell)


def find_subagents(paths: Sequence[Path]) -> list[Subagent]:
    """The files of these sessions' sub-agents, and of theirs."""
    return [Subagent(file.stem.removeprefix("agent-"), file, path) for path in paths for file in _list_subagents(path)]


def _list_subagents(path: Path) -> list[Path]:
    """None of a path that can be no file; a hook may name any."""
    try:
        return sorted((path.parent / path.stem / "subagents").rglob("agent-*.jsonl"))
    except (OSError, ValueError):
        return []


def _tell(line: dict[str, Any], raw: bytes) -> Iterable[Entry]:
    if line.get("isSidechain") is True and not line.get("agentId"):
        return []  # old versions wrote into the session's file what its sub-agents said
    key = json_lines.text(line, "uuid") or transcript_lines.digest(raw)
    return [*_origin(line, key), *_say(line, key)]


def _origin(line: dict[str, Any], key: str) -> Iterator[Entry]:
    """A copy may say of which session it is one. If it does not, it repeats the messages of that session."""
    if origin := json_lines.text(json_lines.entry(line, "forkedFrom"), "sessionId"):
        yield Entry(key=key, kind="meta", at=None, meta={"origin": origin})


def _say(line: dict[str, Any], key: str) -> Iterable[Entry]:
    match line.get("type"):
        case "assistant":
            return [*_numbered(key, _answers(line)), *_usage(line)]
        case "user" if line.get("isCompactSummary") is True:
            text = "\n".join(entry.text for entry in _prompts(line))
            return [Entry(key=key, kind="compaction", at=transcript_lines.instant(line), role="system", text=text)]
        case "user":
            return _numbered(key, _prompts(line))
        case "attachment":
            return _numbered(key, _queued(line))
        case "cost-state":
            return _cost(line)
        case "custom-title":
            return [Entry(key=key, kind="meta", at=None, meta={"title": line.get("customTitle"), "is_given": True})]
        case "ai-title":
            return [Entry(key=key, kind="meta", at=None, meta={"title": line.get("aiTitle")})]
    return []


def _numbered(key: str, entries: Iterable[Entry]) -> Iterator[Entry]:
    """Each with a key of its own, which does not depend on how many there are."""
    for number, entry in enumerate(entries):
        yield replace(entry, key=f"{key}/{number}" if number else key)


def _answers(line: dict[str, Any]) -> Iterator[Entry]:
    """What the agent said, thought and did."""
    message, at = json_lines.entry(line, "message"), transcript_lines.instant(line)
    model = json_lines.text(message, "model") or None
    role: Literal["system", "assistant"] = "system" if model == _ITSELF else "assistant"
    for block in _blocks(message.get("content")):
        match block.get("type"):
            case "text" if text := json_lines.text(block, "text"):
                yield Entry(key="", kind="text", at=at, role=role, text=text, model=model)
            case "thinking" if text := json_lines.text(block, "thinking"):
                yield Entry(key="", kind="reasoning", at=at, text=text, model=model)
            case "tool_use" | "server_tool_use" | "mcp_tool_use":
                yield Entry(
                    key="",
                    kind="tool_call",
                    at=at,
                    text=msgspec.json.encode(block.get("input")).decode(),
                    tool=json_lines.text(block, "name") or None,
                    call_id=json_lines.text(block, "id") or None,
                    model=model,
                )
            case str(kind) if kind.endswith("tool_result"):
                yield _result(line, block)


def _prompts(line: dict[str, Any]) -> Iterator[Entry]:
    """What came to the agent: from a person, from a tool, or from the program in their name."""
    for block in _blocks(json_lines.entry(line, "message").get("content")):
        match block.get("type"):
            case "tool_result":
                yield _result(line, block)
            case "text":
                if text := json_lines.text(block, "text"):
                    yield _prompt(line, text, is_program=line.get("isMeta") is True)
            case _:
                text, images = read_block(block)
                yield replace(_prompt(line, text, is_program=line.get("isMeta") is True), images=images)


def _queued(line: dict[str, Any]) -> Iterator[Entry]:
    """What a person said while the agent was at work."""
    attachment = json_lines.entry(line, "attachment")
    if attachment.get("type") == "queued_command":
        is_program = json_lines.text(attachment, "commandMode") not in ("", "prompt")
        for block in _blocks(attachment.get("prompt")):
            if text := json_lines.text(block, "text"):
                yield _prompt(line, text, is_program=is_program)


def _prompt(line: dict[str, Any], text: str, *, is_program: bool) -> Entry:
    """What sub-agents report comes to the agent, and to its hooks, as a prompt; but no person has said it."""
    at, prompt_id = transcript_lines.instant(line), json_lines.text(line, "promptId") or None
    if is_program or text.startswith(_PROGRAM) or _EDITOR.fullmatch(text):
        return Entry(key="", kind="text", at=at, role="system", text=text)
    role: Literal["system", "user"] = "system" if line.get("promptSource") == "system" else "user"
    return Entry(key="", kind="text", at=at, role=role, text=text, prompt_id=prompt_id)


def _result(line: dict[str, Any], block: dict[str, Any]) -> Entry:
    parts = [read_block(part) for part in _blocks(block.get("content"))]
    return Entry(
        key="",
        kind="tool_result",
        at=transcript_lines.instant(line),
        role="tool",
        text="\n".join(text for text, _ in parts),
        images=[image for _, images in parts for image in images],
        call_id=json_lines.text(block, "tool_use_id") or None,
        is_error=block.get("is_error") is True,
    )


def _blocks(content: Any) -> list[dict[str, Any]]:
    """A content's blocks; a mere text is one."""
    if isinstance(content, str):
        return [{"type": "text", "text": content}] if content else []
    return json_lines.entries({"content": content}, "content")


def _usage(line: dict[str, Any]) -> Iterator[Entry]:
    """What the whole message used. Its last line says it best, so the same key again replaces what it said before."""
    message = json_lines.entry(line, "message")
    used = json_lines.entry(message, "usage")
    tokens: dict[str, int | float] = {ours: json_lines.count(used, theirs) for theirs, ours in _USAGE.items()}
    message_id, model = json_lines.text(message, "id"), json_lines.text(message, "model")
    if message_id and model != _ITSELF and any(tokens.values()):
        tokens["context_tokens"] = sum(tokens.values()) - tokens["output_tokens"]
        key = f"{MESSAGE_USAGE}{message_id}"
        yield Entry(key=key, kind="usage", at=transcript_lines.instant(line), model=model or None, usage=tokens)


def _cost(line: dict[str, Any]) -> Iterator[Entry]:
    """What everything cost since the session's beginning, its sub-agents too; tokens are counted by message."""
    cost = json_lines.amount(line, "totalCostUSD")
    if cost is not None:
        key = f"{RUNNING_COST}{json_lines.count(line, 'startTime')}"
        yield Entry(key=key, kind="usage", at=None, usage={"cost_usd": cost})


TRANSCRIPT = Transcripts(read=read, find_subagents=find_subagents, counts_subagents=True)
