"""What the search index says beyond its hits: words and their weight, commands that worked, what ended an error."""

from collections.abc import Sequence

from msgspec import Struct

from ramet.model.memory.search.hit import TOOL_KINDS
from ramet.store.database.blobs import Codec
from ramet.store.database.connection import Connection, to_json
from ramet.store.database.queries import QueryFile

_sql = QueryFile("memory/recollections")
_MOST_COUNTED = 5000
_MOST_RUNS = 2000
"""Of commands that are looked at for one tool."""


class FoundDoc(Struct, frozen=True):
    """A text of the index, packed."""

    id: int
    unit_id: int | None
    kind: str
    code: int
    size: int
    data: bytes

    def unpack(self, codec: Codec) -> str:
        """The whole text."""
        return codec.unpack(self.code, self.size, self.data).decode(errors="replace")


class WorkedRun(Struct, frozen=True, kw_only=True):
    """A command that worked, with its newest run."""

    command: str
    times: int
    session_id: int
    message_id: int
    exit_status: int | None
    time_ms: int


class Fixed(Struct, frozen=True):
    """A failure of a command, and the run of it, or of another form of it, that succeeded after it."""

    id: int
    session_id: int
    message_id: int
    command: str
    exit_status: int | None
    error_line: str | None
    success_message_id: int
    success_ms: int
    worked: str


class Step(Struct, frozen=True):
    """What an agent did between a failure and a success."""

    kind: str
    message_id: int
    text: str
    has_failed: bool


class TouchedFile(Struct, frozen=True, kw_only=True):
    """A file that sessions touched."""

    path: str
    sessions: int
    is_edited: bool
    time_ms: int
    session_id: int
    message_id: int | None


def count_texts(index: Connection, match: str) -> int:
    """In how many texts a word is; no more than some thousands are counted."""
    return int(index.must(_sql.count_texts, match=match, most=_MOST_COUNTED)[0])


def count_all(index: Connection) -> int:
    """How many texts the index has, without what tools were given and returned."""
    return int(index.must(_sql.count_all)[0])


def find_doc(index: Connection, session_id: int | None, message_id: int | None, source: str) -> FoundDoc | None:
    """The text of a message, or else of a source; None if there is none, such as for a title."""
    if message_id is not None:
        row = index.one(_sql.text_of_message, session_id=session_id, message_id=message_id)
    else:
        row = index.one(_sql.text_of_source, source=source)
    return None if row is None else FoundDoc(*row)


def find_words(index: Connection, doc: FoundDoc, matches: Sequence[str]) -> set[str]:
    """Which of these words a text has, or the unit that it belongs to, or what a tool was given or returned."""
    if doc.unit_id is not None:
        return {match for match in matches if index.one(_sql.has_unit_words, match=match, id=doc.unit_id)}
    query = _sql.has_tool_words if doc.kind in TOOL_KINDS else _sql.has_words
    return {match for match in matches if index.one(query, match=match, id=doc.id)}


def list_worked(index: Connection, match: str, project_id: int | None, limit: int) -> list[WorkedRun]:
    """The commands that match and worked, the most repeated first."""
    rows = index.all(_sql.worked_commands, match=match, project_id=project_id, top=_MOST_RUNS, limit=limit)
    found = []
    for command, times, _, command_id in rows:
        session_id, message_id, exit_status, time_ms = index.must(_sql.command, id=command_id)
        found.append(
            WorkedRun(
                command=command,
                times=times,
                session_id=session_id,
                message_id=message_id,
                exit_status=exit_status,
                time_ms=time_ms,
            )
        )
    return found


def list_fixed(index: Connection, signature: str, project_id: int | None, limit: int) -> list[Fixed]:
    """The failures with an error of this signature that ended, the newest first."""
    rows = index.all(_sql.fixed_by_signature, signature=signature, project_id=project_id, limit=limit)
    return [Fixed(*row) for row in rows]


def find_fixed(index: Connection, session_id: int | None, message_id: int | None) -> Fixed | None:
    """The failure whose command or result is a message, if the command succeeded later."""
    row = index.one(_sql.fixed_by_result, session_id=session_id, message_id=message_id)
    return None if row is None else Fixed(*row)


def list_steps(index: Connection, codec: Codec, fixed: Fixed, limit: int) -> list[Step]:
    """What was run and edited between a failure and the success, oldest first; the last ones, if there are many."""
    rows = index.all(
        _sql.steps_between,
        session_id=fixed.session_id,
        first=fixed.message_id,
        last=fixed.success_message_id,
        limit=limit,
    )
    return [
        Step(kind, message_id, codec.unpack(code, size, data).decode(errors="replace"), bool(is_error))
        for kind, message_id, code, size, data, is_error in reversed(rows)
    ]


def list_touched(index: Connection, session_ids: Sequence[int], limit: int) -> list[TouchedFile]:
    """The files that these sessions touched: those of several sessions and edited ones first."""
    rows = index.all(_sql.touched_files, sessions=to_json(list(session_ids)), limit=limit)
    found = []
    for path, sessions, is_edited, time_ms, doc_id in rows:
        session_id, message_id = index.must(_sql.place, id=doc_id)
        found.append(
            TouchedFile(
                path=path,
                sessions=sessions,
                is_edited=bool(is_edited),
                time_ms=time_ms,
                session_id=session_id,
                message_id=message_id,
            )
        )
    return found
