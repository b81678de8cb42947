"""Rows of an earlier system on their way into the database: their texts made ready, and what each of them became."""

from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from ramet.engine.contents import Contents, Prepared
from ramet.engine.record import messages
from ramet.engine.record.messages import Turn
from ramet.engine.transaction import Transaction
from ramet.errors import BadRequest
from ramet.model.history.content import (
    PAYLOAD,
    ContentPayload,
    DialogueContent,
    FreeformContent,
    InstructionContent,
    Packed,
    ToolIOContent,
    pack,
    validate_content,
)
from ramet.model.instant import to_iso
from ramet.model.memory.predecessor import ImportedCommit, NewMessage, NewRow, NewTurn, RowRef, SourceRow, System
from ramet.model.names import clean_name
from ramet.store.memory import predecessors


class ReadyRow(Struct, frozen=True):
    """A row about to be written, and its text that needs no transaction any more."""

    row: NewRow
    text: Prepared | None = None
    turn: Turn | None = None


class PreparedRow(Struct, frozen=True):
    """A row of a source: as it is, and what it becomes."""

    source: SourceRow
    record: Prepared | None
    becomes: list[ReadyRow]


class ImportedRow(Struct):
    """What a row of a source has become."""

    rows: dict[str, Any] = {}
    """The id of the row of each kind that stands for it."""
    added: list[str] = []
    """The kinds of those that are new."""

    def put(self, kind: str, name: Any, *, is_new: bool = True) -> None:
        """One more row that stands for it."""
        self.rows[kind] = name
        if is_new:
            self.added.append(kind)


def make_ready(row: NewRow, contents: Contents) -> ReadyRow:
    """Hash and compress the text of a row that has one."""
    match row:
        case NewMessage():
            return ReadyRow(row, turn=replace(messages.make_turn(contents, _spoken(row)), at_ms=row.at_ms))
        case NewTurn():
            return ReadyRow(row, contents.prepare(row.text, row.metadata))
        case ImportedCommit():
            packed = _pack(row)
            payload = {PAYLOAD: packed.payload} if packed.payload else {}
            prepared = contents.prepare(packed.text, {**row.metadata, **payload})
            return ReadyRow(row, replace(prepared, content_type=packed.content_type, role=packed.role))
        case _:
            return ReadyRow(row)


def _spoken(row: NewMessage) -> ContentPayload:
    match row.role:
        case "tool":
            return ToolIOContent(text=row.text, tool_name=clean_name(row.tool_name or "tool"))
        case "system":
            return InstructionContent(text=row.text)
        case "user" | "assistant" as role:
            return DialogueContent(text=row.text, role=role)


def _pack(row: ImportedCommit) -> Packed:
    """A content in the form that Ramet has for its kind; else as a free form, with all that it says."""
    try:
        return pack(validate_content({**row.content, "content_type": row.content_type}))
    except BadRequest:
        return pack(FreeformContent(payload=row.content))


class KnownRows:
    """What the rows of one source have become, in this transaction and before it."""

    def __init__(self, tx: Transaction, system: System, source: str) -> None:
        self.tx = tx
        self.system = system
        self.source = source
        self._known: dict[RowRef, dict[str, Any]] = {}

    def key_of(self, ref: RowRef) -> str:
        """The key under which a row of the source is known."""
        return f"import:{self.system}:{self.source}:{ref}"

    def remember(self, ref: RowRef, became: ImportedRow) -> None:
        """What a row has become, for those behind it."""
        self._known[ref] = became.rows

    def find(self, ref: RowRef | None, kind: str) -> Any:
        """The row of a kind that another row of the source has become; None if there is none."""
        if ref is None:
            return None
        if ref not in self._known:
            found = predecessors.find_imported(self.tx.db, self.key_of(ref))
            self._known[ref] = {} if found is None else found["rows"]
        return self._known[ref].get(kind)

    def time(self, *instants: int | None) -> str:
        """The first instant that is known; else now."""
        return to_iso(next((each for each in instants if each is not None), self.tx.now_ms))
