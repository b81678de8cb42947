"""Writing the index: texts, units, commands and names, and removing each of them without a trace.

The words of a text are removed by giving the text again, so what is written is a function of the row in `docs`. Every
function expects an open transaction on the index.
"""

from collections import Counter
from zlib import crc32

from msgspec import Struct

from ramet.model.memory.search.hit import TOOL_KINDS, Kind
from ramet.model.memory.search.tool_records import ToolOutcome, command_start
from ramet.model.memory.search.words import find_parts, find_symbols
from ramet.store.database.blobs import Codec
from ramet.store.database.connection import to_json
from ramet.store.database.queries import Query, QueryFile
from ramet.store.database.sqlite.connection import SqliteConnection

_sql = QueryFile("memory/index")

_COLUMNS = ("title", "prompt", "decision", "answer")
_COLUMN_OF: dict[str, str] = {
    "title": "title",
    "goal": "title",
    "prompt": "prompt",
    "decision": "decision",
    "note": "decision",
    "finding": "decision",
    "handoff": "decision",
}
"""In which column the words of a kind stand, and so what they weigh; those of the others are answers."""

_UNIT_KINDS = frozenset({"prompt", "answer"})
_UNIT_CHARACTERS = 16_000
_UNIT_MESSAGES = 25
"""A unit that is longer than that begins a new one, so that a long run of answers is not written again with each."""
_PAGE = 200


class NewDoc(Struct, frozen=True, kw_only=True):
    """A text about to be written."""

    kind: Kind
    text: str
    time_ms: int
    source: str | None = None
    role: str | None = None
    session_id: int | None = None
    effort_id: int | None = None
    project_id: int | None = None
    driver: str | None = None
    agent_id: str | None = None
    message_id: int | None = None
    is_below: bool = False
    """Whether it is of a sub-agent or of a fork."""
    is_passing: bool = False
    """Whether a transcript may take its place."""
    paths: list[str] = []
    error_lines: list[str] = []


class Doc(Struct, frozen=True, kw_only=True):
    """A text of the index."""

    id: int
    source: str | None
    kind: Kind
    role: str | None
    session_id: int | None
    effort_id: int | None
    project_id: int | None
    driver: str | None
    agent_id: str | None
    time_ms: int
    message_id: int | None
    unit_id: int | None
    is_below: bool
    text: str


class NewCommand(Struct, frozen=True, kw_only=True):
    """A command line about to be written beside its text."""

    tool: str
    command: str
    call_id: str | None
    cwd: str | None


def scope_tokens(doc: NewDoc | Doc) -> list[str]:
    """The words by which a text is found within a scope."""
    tokens = [f"zk{doc.kind}"]
    tokens += [f"zp{doc.project_id}"] if doc.project_id is not None else []
    tokens += [f"zs{doc.session_id}"] if doc.session_id is not None else []
    tokens += [f"zr{doc.role}"] if doc.role is not None else []
    return tokens + [agent_token(name) for name in dict.fromkeys((doc.driver, doc.agent_id)) if name]


def agent_token(name: str) -> str:
    """The word by which the texts of an agent or an agent program are found."""
    return f"za{crc32(name.encode()):08x}"


class IndexWriter:
    """The writer's verbs."""

    def __init__(self, index: SqliteConnection, codec: Codec) -> None:
        self.index = index
        self._codec = codec
        self._counts: Counter[str] = Counter()
        self._grown: set[int] = set()

    # Facts about the index.

    def get(self, name: str) -> int | None:
        """A number that the index remembers."""
        row = self.index.one(_sql.get_meta, name=name)
        return None if row is None or row[0] is None else int(row[0])

    def put(self, name: str, value: int | None) -> None:
        """Remember a number."""
        self.index.run(_sql.put_meta, name=name, value=value)

    def last_message(self, session_id: int) -> int:
        """The last message of a session that was read."""
        row = self.index.one(_sql.last_message, session_id=session_id)
        return 0 if row is None else int(row[0])

    def read_until(self, session_id: int, message_id: int) -> None:
        """The messages of a session were read up to this one."""
        self.index.run(_sql.put_session, session_id=session_id, last_message=message_id)

    def sessions_after(self, after: int, limit: int) -> list[int]:
        """The sessions that were read."""
        return [row[0] for row in self.index.all(_sql.sessions_after, after=after, limit=limit)]

    # Texts.

    def add(self, doc: NewDoc) -> int:
        """Write a text; its id."""
        blob = self._codec.pack(doc.text.encode(errors="replace"))
        doc_id = self._insert(
            _sql.insert_doc,
            source=doc.source,
            kind=doc.kind,
            role=doc.role,
            session_id=doc.session_id,
            effort_id=doc.effort_id,
            project_id=doc.project_id,
            driver=doc.driver,
            agent_id=doc.agent_id,
            time_ms=doc.time_ms,
            message_id=doc.message_id,
            unit_id=self._unit_of(doc),
            is_below=doc.is_below,
            is_passing=doc.is_passing,
            codec=blob.codec,
            size=blob.size,
            data=blob.data,
        )
        self._write_words(doc_id, doc, is_deleting=False)
        for kind, texts in (("path", doc.paths), ("error", doc.error_lines), ("symbol", find_symbols(doc.text))):
            for text in texts:
                self._link(doc_id, doc.session_id, kind, text)
        return doc_id

    def put_source(self, doc: NewDoc) -> None:
        """Write a text that has a source, unless that says the same as before; an empty one removes it."""
        row = self.index.one(_sql.doc_of_source, source=doc.source)
        if row is not None:
            if self._codec.unpack(*row[1:]).decode() == doc.text:
                return
            self.remove([int(row[0])])
        if doc.text.strip():
            self.add(doc)

    def remove(self, doc_ids: list[int]) -> None:
        """Remove texts, with their words, names and commands."""
        for doc in self.read(doc_ids):
            if doc.unit_id is not None:
                self._shrink_unit(doc)
            self._write_words(doc.id, doc, is_deleting=True)
            self._unlink(doc.id)
            self.index.run(_sql.delete_command, id=doc.id)
            self.index.run(_sql.delete_doc, id=doc.id)

    def read(self, doc_ids: list[int]) -> list[Doc]:
        """Some texts, in the order of their ids."""
        return read_docs(self.index, self._codec, doc_ids)

    def forget_session(self, session_id: int) -> None:
        """Remove everything that a session has in the index: exactly its words are gone then."""
        for (unit_id,) in self.index.all(_sql.units_of_session, session_id=session_id):
            self._unwrite_unit(unit_id, session_id)
            self.index.run(_sql.delete_unit, id=unit_id)
        while docs := self.index.all(_sql.docs_of_session, session_id=session_id, limit=_PAGE):
            for doc in self.read([row[0] for row in docs]):
                self._write_words(doc.id, doc, is_deleting=True)
                self._unlink(doc.id)
                self.index.run(_sql.delete_command, id=doc.id)
                self.index.run(_sql.delete_doc, id=doc.id)
        self.index.run(_sql.forget_session, session_id=session_id)

    def forget_effort(self, effort_id: int, keep: set[str] | None = None) -> None:
        """Remove an effort's own texts, except for some sources."""
        rows = self.index.all(_sql.docs_of_effort, effort_id=effort_id)
        self.remove(
            [doc_id for doc_id, source in rows if source not in (keep or ()) and not str(source).startswith("n")]
        )

    def notes_of_effort(self, effort_id: int) -> list[int]:
        """The events whose notes about an effort are in the index."""
        rows = self.index.all(_sql.docs_of_effort, effort_id=effort_id)
        return [int(str(source)[1:]) for _, source in rows if str(source).startswith("n")]

    def forget_source(self, source: str) -> None:
        """Remove the text of a source."""
        row = self.index.one(_sql.doc_of_source, source=source)
        if row is not None:
            self.remove([int(row[0])])

    def passing(self, session_id: int) -> dict[int, int]:
        """The messages of a session that a transcript may take the place of, with their texts."""
        return {message: doc for doc, message in self.index.all(_sql.passing_docs, session_id=session_id)}

    # Commands.

    def add_command(self, doc_id: int, doc: NewDoc, command: NewCommand) -> None:
        """A command line, beside its text."""
        self.index.run(
            _sql.insert_command,
            id=doc_id,
            session_id=doc.session_id,
            effort_id=doc.effort_id,
            project_id=doc.project_id,
            message_id=doc.message_id,
            call_id=command.call_id,
            tool=command.tool,
            command=command.command,
            cwd=command.cwd,
            time_ms=doc.time_ms,
        )

    def end_command(self, session_id: int, call_id: str | None, outcome: ToolOutcome, message_id: int) -> None:
        """How the command of a call ended; a success explains the failures of the same command before it."""
        row = self.index.one(_sql.running_command, session_id=session_id, call_id=call_id)
        if row is None:
            return
        command_id, command = row
        self.index.run(
            _sql.end_command,
            id=command_id,
            exit_status=outcome.exit_status,
            is_error=outcome.is_error,
            error_line=outcome.error_line,
            signature=outcome.signature,
            message_id=message_id,
        )
        if not outcome.is_error:
            self.index.run(_sql.fix_commands, id=command_id, session_id=session_id, command=command)
            start = command_start(command)
            if start is not None:
                self.index.run(_sql.fix_similar_commands, id=command_id, session_id=session_id, start=start)

    def flush(self) -> None:
        """Write what was gathered: the units that have grown, and how many texts each scope has."""
        for unit_id in sorted(self._grown):
            row = self.index.one(_sql.unit, id=unit_id)
            if row is not None:
                self._write_unit(unit_id, row[1], is_deleting=False)
                self.index.run(_sql.mark_unit, id=unit_id, is_written=True)
        self._grown.clear()
        for token, docs in self._counts.items():
            self.index.run(_sql.count_scope, token=token, docs=docs)
        self._counts.clear()

    def _insert(self, query: Query, **params: object) -> int:
        """Insert a row; its id. With RETURNING, SQLite begins a savepoint for the statement, at which every FTS5 table
        writes what it has gathered: each text would be a segment of its own.
        """
        self.index.run(query, **params)
        return self.index.database.last_insert_rowid()

    # Words.

    def _write_words(self, doc_id: int, doc: NewDoc | Doc, *, is_deleting: bool) -> None:
        tokens = scope_tokens(doc)
        if doc.kind in TOOL_KINDS:
            query = _sql.delete_tool_words if is_deleting else _sql.insert_tool_words
            self.index.run(query, id=doc_id, text=doc.text, parts=find_parts(doc.text), scope=" ".join(tokens))
            return
        self._counts.update(dict.fromkeys(tokens, -1 if is_deleting else 1))
        query = _sql.delete_words if is_deleting else _sql.insert_words
        self._run_words(query, doc_id, {_COLUMN_OF.get(doc.kind, "answer"): doc.text}, " ".join(tokens))

    def _run_words(self, query: Query, row_id: int, texts: dict[str, str], scope: str) -> None:
        columns = {column: texts.get(column, "") for column in _COLUMNS}
        self.index.run(query, id=row_id, parts=find_parts("\n".join(texts.values())), scope=scope, **columns)

    # Units.

    def _unit_of(self, doc: NewDoc) -> int | None:
        """The unit that a text belongs to, which grows by it."""
        if doc.kind not in _UNIT_KINDS or doc.session_id is None or doc.message_id is None:
            return None
        row = self.index.one(_sql.open_unit, session_id=doc.session_id)
        is_full = row is not None and (row[2] + len(doc.text) > _UNIT_CHARACTERS or row[3] >= _UNIT_MESSAGES)
        if row is None or row[1] != doc.kind or is_full:
            self.close_unit(doc.session_id)
            unit_id = self._insert(_sql.insert_unit, session_id=doc.session_id, kind=doc.kind)
        else:
            unit_id = int(row[0])
            self._unwrite_unit(unit_id, doc.session_id)
        self._grown.add(unit_id)
        self.index.run(_sql.grow_unit, id=unit_id, size=len(doc.text), messages=1)
        return unit_id

    def leave_unit_open(self, session_id: int) -> None:
        """More of a session is about to be read: the words of its last unit wait for that. To remove them again is the
        most expensive part of a build.
        """
        row = self.index.one(_sql.open_unit, session_id=session_id)
        if row is not None:
            self._grown.discard(int(row[0]))

    def close_unit(self, session_id: int) -> None:
        """The last unit of a session has its words, if they have waited."""
        row = self.index.one(_sql.open_unit, session_id=session_id)
        if row is not None and not row[4]:
            self._grown.add(int(row[0]))

    def _unwrite_unit(self, unit_id: int, session_id: int) -> None:
        """Remove the words of a unit, if it has them, before its texts change."""
        row = self.index.one(_sql.unit, id=unit_id)
        if row is not None and row[3]:
            self._write_unit(unit_id, session_id, is_deleting=True)
            self.index.run(_sql.mark_unit, id=unit_id, is_written=False)

    def _shrink_unit(self, doc: Doc) -> None:
        assert doc.unit_id is not None and doc.session_id is not None  # noqa: S101, PT018
        self._unwrite_unit(doc.unit_id, doc.session_id)
        self._grown.add(doc.unit_id)
        self.index.run(_sql.grow_unit, id=doc.unit_id, size=-len(doc.text), messages=-1)

    def _write_unit(self, unit_id: int, session_id: int, *, is_deleting: bool) -> None:
        """The words of a unit, from the texts that it has now."""
        rows = self.index.all(_sql.docs_of_unit, session_id=session_id, unit_id=unit_id)
        docs = self.read([row[0] for row in rows])
        if not docs:
            return
        text = "\n".join(doc.text for doc in docs)
        query = _sql.delete_unit_words if is_deleting else _sql.insert_unit_words
        self._run_words(query, unit_id, {_COLUMN_OF.get(docs[0].kind, "answer"): text}, " ".join(scope_tokens(docs[0])))

    # Names.

    def _link(self, doc_id: int, session_id: int | None, kind: str, text: str) -> None:
        row = self.index.one(_sql.find_name, kind=kind, text=text)
        name_id = self._insert(_sql.insert_name, kind=kind, text=text) if row is None else int(row[0])
        if row is None:
            self.index.run(_sql.insert_grams, id=name_id, text=text)
        self.index.run(_sql.link_name, name_id=name_id, doc_id=doc_id, session_id=session_id)

    def _unlink(self, doc_id: int) -> None:
        names = self.index.all(_sql.names_of_doc, doc_id=doc_id)
        self.index.run(_sql.unlink_doc, doc_id=doc_id)
        for name_id, text in names:
            if self.index.one(_sql.is_linked, name_id=name_id) is None:
                self.index.run(_sql.delete_grams, id=name_id, text=text)
                self.index.run(_sql.delete_name, id=name_id)


def read_docs(index: SqliteConnection, codec: Codec, doc_ids: list[int]) -> list[Doc]:
    """Some texts of the index, in the order of their ids."""
    rows = index.all(_sql.docs, ids=to_json(doc_ids))
    return [_doc(codec, *row) for row in rows]


def _doc(codec: Codec, *row: object) -> Doc:
    *values, is_below, kind, size, data = row
    names = Doc.__struct_fields__[: len(values)]
    text = codec.unpack(kind, size, data).decode()  # type: ignore[arg-type]
    return Doc(**dict(zip(names, values, strict=True)), is_below=bool(is_below), text=text)  # type: ignore[arg-type]
