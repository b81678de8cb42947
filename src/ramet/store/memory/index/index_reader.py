"""Asking the index: what matches, best first, and how common a word is. What is asked next is for the ladder to say."""

from typing import Any, Literal

import apsw
from msgspec import Struct

from ramet.model.memory.search.hit import Kind
from ramet.store.database.blobs import Codec
from ramet.store.database.connection import to_json
from ramet.store.database.queries import QueryFile
from ramet.store.database.sqlite.connection import SqliteConnection
from ramet.store.memory.index.index_writer import Doc, agent_token, read_docs
from ramet.store.memory.index.search_index import TOKENIZER

_sql = QueryFile("memory/ladder")
_index_sql = QueryFile("memory/index")

Table = Literal["texts", "units", "tools"]

_SMALL_SCOPE = 20_000
"""Of a scope with no more texts, the words are looked for inside it; of a larger one, the best are filtered. Either way
few rows are read."""
_TOP = 400
_FILTERED_TOP = 4000
_MOST_SESSIONS = 5000
_LONGEST_SHORT_NAME = 2


class Filters(Struct, frozen=True, kw_only=True):
    """Which texts may be found."""

    project_id: int | None = None
    session_id: int | None = None
    kind: Kind | None = None
    role: str | None = None
    agent: str | None = None
    since_ms: int | None = None
    path: str | None = None

    @property
    def is_empty(self) -> bool:
        """Whether everything may be found."""
        return self == Filters()


class Ranked(Struct, frozen=True):
    """A text or a unit that matches. Of a unit, `id` is its first text."""

    id: int
    unit_id: int | None
    session_id: int | None
    effort_id: int | None
    project_id: int | None
    kind: Kind
    time_ms: int
    is_below: bool
    rank: float
    """The index's own score: the lower, the better."""


class Token(Struct, frozen=True):
    """A word of a text as the index sees it, and where it stands, in bytes."""

    start: int
    end: int
    stem: str


class IndexReader:
    """One thread's questions about one state of the index."""

    def __init__(self, index: SqliteConnection, codec: Codec) -> None:
        self._index = index
        self._codec = codec

    def rank(self, table: Table, match: str, filters: Filters, limit: int, required: str | None = None) -> list[Ranked]:
        """What matches, best first. To rank by a word, all texts that have it are read; `required` is for words that
        only have to be there.
        """
        query = {"texts": _sql.rank_texts, "units": _sql.rank_units, "tools": _sql.rank_tools}[table]
        if required is None:
            match = self._in_scope(table, match, filters)
        else:
            required = self._in_scope(table, required, filters)
        top = _TOP if filters.is_empty else _FILTERED_TOP
        params = {"top": max(top, limit), "limit": limit, **self.params(filters)}
        return [Ranked(*row) for row in self._index.all(query, match=match, required=required, **params)]

    def scan(self, table: Table, match: str, filters: Filters, limit: int) -> list[Ranked]:
        """Some of what matches, of words that too many texts have to rank them: short ones first."""
        query = {"texts": _sql.scan_texts, "units": _sql.scan_units, "tools": _sql.scan_tools}[table]
        top = _TOP if filters.is_empty else _FILTERED_TOP
        params = {"top": max(top, limit), "limit": limit, **self.params(filters)}
        return [Ranked(*row) for row in self._index.all(query, match=self._in_scope(table, match, filters), **params)]

    def _in_scope(self, table: Table, match: str, filters: Filters) -> str:
        scopes = [] if table == "tools" else self._small_scopes(filters)
        return " AND ".join([*(f"scope : {token}" for token in scopes), f"({match})"])

    def newest(self, filters: Filters, limit: int) -> list[Ranked]:
        """The newest texts that pass the filters."""
        return [Ranked(*row) for row in self._index.all(_sql.newest_texts, limit=limit, **self.params(filters))]

    def failed_with(self, signature: str, filters: Filters, limit: int) -> list[Ranked]:
        """The commands that failed with an error of this signature, the newest first."""
        rows = self._index.all(_sql.docs_of_signature, signature=signature, limit=limit, **self.params(filters))
        return [Ranked(*row) for row in rows]

    def named(self, part: str, filters: Filters, limit: int) -> list[Ranked]:
        """The texts that have a path, an error line or an identifier, by any part of it that is not very short."""
        if len(part) <= _LONGEST_SHORT_NAME:
            return []
        rows = self._index.all(_sql.docs_of_names, match=_quoted(part), limit=limit, **self.params(filters))
        return [Ranked(*row) for row in rows]

    def count(self, match: str, most: int, *, in_tools: bool = False) -> int:
        """In how many texts a word is; no more than `most` are counted."""
        query = _sql.count_tools if in_tools else _sql.count_texts
        return int(self._index.must(query, match=match, most=most)[0])

    def having(self, match: str, most: int) -> dict[int, int]:
        """The sessions that have a word, and in how many units."""
        return dict(self._index.all(_sql.sessions_having, match=match, most=most))

    def count_sessions(self) -> int:
        """How many sessions there are."""
        return int(self._index.must(_sql.count_sessions)[0])

    def similar(self, first: str, last: str) -> list[tuple[str, int]]:
        """The words between two, as the index has them, with the number of texts."""
        return [(str(term), int(docs)) for term, docs in self._index.all(_sql.similar_words, first=first, last=last)]

    def spell(self, stem: str) -> str:
        """A word as a text writes it, from the form that the index has."""
        row = self._index.one(_sql.first_text, match=_quoted(stem))
        for doc in [] if row is None else self.read([row[0]]):
            data = doc.text.encode()
            for token in self.tokenize(doc.text):
                if token.stem == stem:
                    return data[token.start : token.end].decode(errors="replace").lower()
        return stem

    def read(self, doc_ids: list[int]) -> list[Doc]:
        """Some texts."""
        return read_docs(self._index, self._codec, doc_ids)

    def unit_docs(self, session_id: int, unit_id: int) -> list[Doc]:
        """The texts of a unit."""
        rows = self._index.all(_index_sql.docs_of_unit, session_id=session_id, unit_id=unit_id)
        return self.read([row[0] for row in rows])

    def exit_statuses(self, doc_ids: list[int]) -> dict[int, int]:
        """How some commands ended, if that is known."""
        rows = self._index.all(_sql.exit_statuses, ids=to_json(doc_ids))
        return {
            doc_id: status if status is not None else is_error
            for doc_id, status, is_error in rows
            if is_error is not None
        }

    def tokenize(self, text: str) -> list[Token]:
        """The words of a text as the index sees them."""
        tokenizer = self._index.database.fts5_tokenizer(*TOKENIZER)
        found: Any = tokenizer(text.encode(), apsw.FTS5_TOKENIZE_DOCUMENT, None, include_colocated=False)
        return [Token(*each) for each in found]

    def totals(self) -> tuple[int, int, int, int]:
        """How many texts, units, sessions and commands the index has."""
        texts, units, sessions, commands = self._index.must(_index_sql.totals)
        return texts, units, sessions, commands

    def _small_scopes(self, filters: Filters) -> list[str]:
        tokens = [
            *([f"zp{filters.project_id}"] if filters.project_id is not None else []),
            *([f"zs{filters.session_id}"] if filters.session_id is not None else []),
            *([f"zk{filters.kind}"] if filters.kind is not None else []),
            *([f"zr{filters.role}"] if filters.role is not None else []),
            *([agent_token(filters.agent)] if filters.agent is not None else []),
        ]
        return [token for token in tokens if self._scope_size(token) <= _SMALL_SCOPE]

    def _scope_size(self, token: str) -> int:
        row = self._index.one(_index_sql.scope_size, token=token)
        return 0 if row is None else int(row[0])

    def params(self, filters: Filters) -> dict[str, object]:
        """The filters as the queries take them."""
        return {
            "project_id": filters.project_id,
            "session_id": filters.session_id,
            "kind": filters.kind,
            "role": filters.role,
            "agent": filters.agent,
            "since_ms": filters.since_ms,
            "sessions": None if filters.path is None else to_json(self._sessions_at(filters.path)),
        }

    def _sessions_at(self, path: str) -> list[int]:
        """The sessions that touched or named a file, by a part of its path."""
        if len(path) <= _LONGEST_SHORT_NAME:
            rows = self._index.all(_sql.sessions_of_short_names, part=path, kind="path", most=_MOST_SESSIONS)
        else:
            rows = self._index.all(_sql.sessions_of_names, match=_quoted(path), kind="path", most=_MOST_SESSIONS)
        return [row[0] for row in rows]


def _quoted(text: str) -> str:
    return '"' + text.replace('"', '""') + '"'
