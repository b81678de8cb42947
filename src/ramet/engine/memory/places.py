"""Opened places: what is around a place that a recollection or a search names, within a number of bytes."""

from ramet.engine import scopes
from ramet.engine.record import lookup
from ramet.engine.transaction import Transaction
from ramet.errors import Forbidden, InvalidParams, SessionNotFound
from ramet.model.instant import from_datetime, to_iso
from ramet.model.memory.recollection import Place, Recollection
from ramet.model.memory.search import tool_records
from ramet.model.record.effort import Effort
from ramet.model.record.session import Session
from ramet.store.memory import chunks, recalled_turns
from ramet.store.memory.recalled_turns import Turn
from ramet.store.record import efforts, sessions

_BEFORE, _AFTER = 5, 12
"""Turns around a place. It is opened to read on, so there are more after it."""
_FIELD = "query"


def open_place(tx: Transaction, place: Place, project_id: int | None) -> list[Recollection]:
    """What is at a place: the place itself, what follows it, and what was before it. `project_id`: the only project
    that the asker may see.
    """
    if place.effort_id is not None:
        return _open_effort(_find_effort(tx, place.effort_id, project_id))
    if place.document_id is not None:
        return [_open_document(tx, place.document_id, project_id)]
    assert place.session_id is not None  # noqa: S101
    session = _find_session(tx, place.session_id, project_id)
    if place.message is None:
        anchor = recalled_turns.find_newest(tx.db, session.id)
    else:
        anchor = recalled_turns.find(tx.db, session.id, place.message)
        if anchor is None:
            raise SessionNotFound(
                f"session {session.id} has no message {place.message}",
                field=_FIELD,
                value=f"s{session.id}:{place.message}",
                fix=f"`ramet recall s{session.id}` shows the end of the session",
            )
    if anchor is None:
        return []
    turns = recalled_turns.list_around(tx.db, tx.codec, session.id, anchor, before=_BEFORE + 1, after=_AFTER)
    at = next(number for number, turn in enumerate(turns) if turn.id == anchor.message_id)
    return [_describe(session, turn) for turn in (*turns[at:], *reversed(turns[:at]))]


def _describe(session: Session, turn: Turn) -> Recollection:
    kind, text, exit_status = turn.role, turn.text, None
    if turn.tool is not None and turn.role == "assistant":
        call = tool_records.read_call(turn.tool, turn.text)
        kind, text = call.kind, call.text
    elif turn.role == "tool":
        outcome = tool_records.read_outcome(turn.text, turn.status)
        kind, text, exit_status = outcome.kind, outcome.text, outcome.exit_status
    return Recollection(
        place=f"s{session.id}:{turn.id}",
        kind=kind,
        time=to_iso(turn.at_ms),
        text=text,
        agent=session.driver,
        exit_status=exit_status,
    )


def _open_effort(effort: Effort) -> list[Recollection]:
    """An effort's goal, and what it produced."""
    texts = {"goal": effort.prompt, "report": effort.output_content}
    time = to_iso(from_datetime(effort.created_at))
    return [
        Recollection(place=f"e{effort.id}", kind=kind, time=time, text=text, title=effort.skill)
        for kind, text in texts.items()
        if text
    ]


def _open_document(tx: Transaction, document_id: int, project_id: int | None) -> Recollection:
    """A text that a program gave to be searched."""
    found, name = chunks.find(tx.db, document_id), f"c{document_id}"
    if found is None:
        raise InvalidParams(f"there is no document {name}", field=_FIELD, value=name, fix="use a place of an answer")
    if found.project_id is not None:
        _require(tx, found.project_id, project_id, name)
    elif tx.asker is not None or project_id is not None:
        raise Forbidden(f"{name} belongs to no project", field=_FIELD, value=name)
    return Recollection(
        place=name, kind=found.source_type, time=found.updated_at, text=found.chunk_text, title=found.source_path
    )


def _find_session(tx: Transaction, session_id: int, project_id: int | None) -> Session:
    found = sessions.find(tx.db, session_id)
    if found is None:
        raise lookup.no_session(session_id, _FIELD)
    _require(tx, efforts.project_of(tx.db, found.effort_id), project_id, f"s{session_id}")
    return found


def _find_effort(tx: Transaction, effort_id: int, project_id: int | None) -> Effort:
    found = efforts.find(tx.db, effort_id)
    if found is None:
        raise lookup.no_effort(effort_id, _FIELD)
    _require(tx, efforts.project_of(tx.db, effort_id), project_id, f"e{effort_id}")
    return found


def _require(tx: Transaction, found: int, project_id: int | None, place: str) -> None:
    """Refuse a place in another project than the asker's."""
    scopes.require_project(tx, found, _FIELD)
    if project_id is not None and found != project_id:
        raise Forbidden(f"{place} belongs to another project", field=_FIELD, value=place)
