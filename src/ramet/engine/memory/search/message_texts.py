"""From a message to what the index has of it: what kind of text it is, and what its tool was given and returned."""

from typing import Any

from ramet.model.memory.search.hit import Kind
from ramet.model.memory.search.tool_records import read_call, read_outcome
from ramet.store.memory.index.index_writer import IndexWriter, NewCommand, NewDoc
from ramet.store.memory.sources import SourceMessage, SourceSession

_LONGEST_TEXT = 100_000
"""Characters of a message that are indexed."""

_KINDS: dict[str, Kind] = {"user": "prompt", "assistant": "answer", "system": "instruction", "tool": "output"}


def read_message(writer: IndexWriter, session: SourceSession, message: SourceMessage) -> None:
    """Write the texts of a message."""
    if not message.text.strip():
        return
    if message.content_type == "session":
        _read_boundary(writer, session, message)
    elif message.tool_name is None and message.role != "tool":
        text = message.text[:_LONGEST_TEXT]
        writer.add(_doc(session, message, kind=_KINDS[message.role], text=text, is_passing=message.is_provisional))
    elif message.payload.get("direction") == "call" or message.role == "assistant":
        _read_call(writer, session, message)
    else:
        _read_result(writer, session, message)


def _read_boundary(writer: IndexWriter, session: SourceSession, message: SourceMessage) -> None:
    """A handoff or a compaction: what was done, and each decision by itself."""
    steps = [step for name in ("failed_approaches", "next_steps") for step in _texts(message.payload.get(name))]
    writer.add(_doc(session, message, kind="handoff", text="\n".join([message.text[:_LONGEST_TEXT], *steps])))
    for decision in _texts(message.payload.get("decisions")):
        writer.add(_doc(session, message, kind="decision", text=decision))


def _read_call(writer: IndexWriter, session: SourceSession, message: SourceMessage) -> None:
    tool = message.tool_name or "tool"
    call = read_call(tool, message.text)
    doc = _doc(session, message, kind=call.kind, text=call.text, paths=call.paths)
    doc_id = writer.add(doc)
    if call.command is not None:
        call_id = _call_id(message)
        writer.add_command(doc_id, doc, NewCommand(tool=tool, command=call.command, call_id=call_id, cwd=call.cwd))


def _read_result(writer: IndexWriter, session: SourceSession, message: SourceMessage) -> None:
    status = message.payload.get("status")
    outcome = read_outcome(message.text, status if isinstance(status, str) else None)
    lines = [] if outcome.error_line is None else [outcome.error_line]
    writer.add(_doc(session, message, kind=outcome.kind, text=outcome.text, error_lines=lines))
    writer.end_command(session.id, _call_id(message), outcome, message.id)


def _call_id(message: SourceMessage) -> str | None:
    call_id = message.payload.get("call_id")
    return call_id if isinstance(call_id, str) else None


def _texts(value: Any) -> list[str]:
    return [text for text in value if isinstance(text, str)] if isinstance(value, list) else []


def _doc(session: SourceSession, message: SourceMessage, *, kind: Kind, text: str, **rest: Any) -> NewDoc:
    return NewDoc(
        kind=kind,
        text=text,
        time_ms=message.time_ms,
        role=message.role,
        session_id=session.id,
        effort_id=session.effort_id,
        project_id=session.project_id,
        driver=session.driver,
        agent_id=session.agent_id,
        message_id=message.id,
        is_below=session.is_below,
        **rest,
    )
