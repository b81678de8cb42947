"""The transcripts of Cursor's command line: `~/.cursor/projects/<path>/agent-transcripts/**/<session>.jsonl`.

A line is a message, without an id and without a time: its number is its key, and the time is that of the file. Results
of tools are mostly not in it. The folder's name is the project's path with `-` for `/` and `.`, which is ambiguous.
"""

import os
import re
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from ramet.model.hooks.transcript import Entry
from ramet.model.memory.stored_session import Head, Piece, Source
from ramet.vendors.contract import json_lines, transcript_lines
from ramet.vendors.contract.stored_files import document_file, line_file, positions
from ramet.vendors.contract.stored_files.line_file import Place

VENDOR = "cursor"
_FOLDER = "agent-transcripts"
_PROMPT = re.compile(r"<user_query>\s*(.*?)\s*</user_query>", re.DOTALL)
_MOST_TRIES = 500


class _Position(Struct, frozen=True):
    place: Place


def find(home: Path) -> Iterator[Source]:
    """The transcripts below Cursor's folder, sub-agents behind their sessions."""
    yield from list_files(sorted(home.glob(f"projects/*/{_FOLDER}/**/*.jsonl"), key=_depth))


def is_ours(path: Path) -> bool:
    """Whether a file is a transcript."""
    first = transcript_lines.first_object(path)
    return path.suffix == ".jsonl" and "role" in first and isinstance(first.get("message"), dict)


def list_files(files: Iterable[Path]) -> Iterator[Source]:
    """Each transcript once: an id is a file's name."""
    listed = set()
    for file in files:
        try:
            status = os.stat(file)  # noqa: PTH116
        except OSError:
            continue
        if file.stem not in listed:
            listed.add(file.stem)
            changed_ms = status.st_mtime_ns // 1_000_000
            yield Source(
                vendor=VENDOR,
                key=file.stem,
                path=str(file),
                size_bytes=status.st_size,
                changed_ms=changed_ms,
                is_subagent=file.parent.name == "subagents",
            )


def read(source: Source, position: str | None) -> Iterator[Piece]:
    """A transcript from a position on."""
    path, known = Path(source.path), positions.decode(position, _Position)
    head: Head | None = None
    is_first = True
    for lines in line_file.read(path, known.place if known else None):
        at = datetime.fromtimestamp(lines.changed_ms / 1000, UTC)
        entries: list[Entry] = []
        skipped = lines.skipped
        for line in lines.lines:
            message = transcript_lines.parse_object(line.data)
            if message is None:
                skipped += 1
            else:
                entries += _tell(f"{path.stem}/{line.number}", message, at)
        head, is_first = _head(path, at) if is_first else None, False
        yield Piece(entries=entries, position=positions.encode(_Position(lines.place)), head=head, skipped=skipped)


def _depth(path: Path) -> tuple[int, str]:
    return len(path.parts), str(path)


def _tell(key: str, line: dict[str, Any], at: datetime) -> Iterator[Entry]:
    is_user = line.get("role") == "user"
    content = json_lines.entry(line, "message").get("content", line.get("content"))
    blocks = [{"type": "text", "text": content}] if isinstance(content, str) else None
    for number, block in enumerate(blocks or json_lines.entries({"content": content}, "content")):
        name = f"{key}/{number}" if number else key
        match block.get("type"):
            case "text" if text := json_lines.text(block, "text"):
                prompt = _PROMPT.search(text) if is_user else None
                said = prompt[1] if prompt else text
                yield Entry(key=name, kind="text", at=at, role="user" if is_user else "assistant", text=said)
            case "thinking" | "reasoning":
                if text := json_lines.text(block, "thinking") or json_lines.text(block, "text"):
                    yield Entry(key=name, kind="reasoning", at=at, text=text)
            case "tool_use":
                given = msgspec.json.encode(block.get("input")).decode()
                tool, call_id = json_lines.text(block, "name") or None, json_lines.text(block, "id") or name
                yield Entry(key=name, kind="tool_call", at=at, text=given, tool=tool, call_id=call_id)
            case "tool_result":
                yield _result(name, block, at)


def _result(key: str, block: dict[str, Any], at: datetime) -> Entry:
    content = block.get("content")
    parts = json_lines.entries(block, "content")
    return Entry(
        key=key,
        kind="tool_result",
        at=at,
        role="tool",
        text=content if isinstance(content, str) else "\n".join(json_lines.text(part, "text") for part in parts),
        call_id=json_lines.text(block, "tool_use_id") or None,
        is_error=block.get("is_error") is True,
    )


def _head(path: Path, at: datetime) -> Head:
    """A sub-agent's transcript is in the folder `subagents` of its session."""
    parent = path.parents[1].name if path.parent.name == "subagents" else None
    folder = next((each.parent for each in path.parents if each.name == _FOLDER), None)
    return Head(
        native_id=path.stem,
        cwd=_directory(folder) if folder else None,
        started_at=at,
        parent_id=parent if parent != path.stem else None,
    )


@lru_cache(maxsize=256)
def _directory(folder: Path) -> str | None:
    """The directory of a project: as the program wrote it, else the one on the disk that its folder may stand for."""
    trusted = document_file.read_small(folder / ".workspace-trusted")
    return json_lines.text(trusted, "workspacePath") or _decode(folder.name)


def _decode(name: str) -> str | None:
    """Tries each way in which a name may be read, one component at a time; a few hundred, and no folder is listed."""
    words = name.split("-")
    tries = 0
    waiting = [("", 0)]
    while waiting and tries < _MOST_TRIES:
        path, start = waiting.pop()
        if start == len(words):
            return path
        for end in range(start + 1, len(words) + 1):
            for mark in ("-", "."):
                tries += 1
                inner = f"{path}/{mark.join(words[start:end])}"
                if os.path.isdir(inner):  # noqa: PTH112
                    waiting.append((inner, end))
                if end == start + 1:
                    break
    return None
