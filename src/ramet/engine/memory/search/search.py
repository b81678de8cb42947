"""Searching what is remembered. What an agent can find is decided here alone: its own project."""

import hashlib
from typing import get_args

import msgspec
from msgspec import Struct

from ramet.engine import scopes
from ramet.engine.answers import answers
from ramet.engine.memory.search import index_feed
from ramet.engine.memory.search.ladder import Climb, Found, Ladder
from ramet.engine.record import lookup
from ramet.engine.transaction import Transaction
from ramet.errors import IndexDamaged, InvalidParams, ProjectNotFound
from ramet.model.instant import to_iso
from ramet.model.memory.search import snippet
from ramet.model.memory.search.fusion import Signals
from ramet.model.memory.search.hit import KINDS, Hit, Kind
from ramet.model.memory.search.search_query import SearchQuery, parse, parse_since
from ramet.model.record.message import Role
from ramet.protocol.memory.search import SearchMemory, SearchPage
from ramet.store.memory import sources
from ramet.store.memory.index.index_reader import Filters, IndexReader
from ramet.store.memory.index.index_writer import Doc
from ramet.store.memory.sources import NamedSession
from ramet.store.record import projects

_LONGEST_READ = 50_000
"""Characters of a text in which its snippet is looked for."""
_DEEPEST = 1000
"""How far pages go."""


class _Reading(Struct, frozen=True):
    """What a page is made with."""

    reader: IndexReader
    stems: frozenset[str]


@answers(SearchMemory)
def search(tx: Transaction, request: SearchMemory) -> SearchPage:
    """The hits of a query, best first."""
    query = parse(request.query)
    filters = _filters(tx, request, query)
    if not query.terms and msgspec.structs.replace(filters, project_id=None).is_empty:
        raise InvalidParams(
            "the query has no words to search for", field="query", value=request.query, fix="give a word, or a filter"
        )
    near = lookup.project_id(tx, request.near)
    return find(tx, query, filters, request.limit, request.cursor, near=near)


def find(
    tx: Transaction,
    query: SearchQuery,
    filters: Filters,
    limit: int,
    cursor: str | None = None,
    *,
    freshens: bool = True,
    near: int | None = None,
) -> SearchPage:
    """The same for a query that was read. An agent finds nothing outside its own project, whatever the filters say.
    `freshens`: whether to wait a moment for what was written just before; a hook does not. `near`: the project that the
    question comes from.
    """
    filters = _within_scope(tx, filters)
    if freshens and tx.index.freshen is not None:
        tx.index.freshen(tx.db)
    connection = tx.index.reader()
    lag = index_feed.lag(tx.db, tx.index, tx.codec)
    if connection is None:
        return SearchPage(items=[], lag=lag)
    try:
        ladder = Ladder(IndexReader(connection, tx.codec), query, filters, Signals(tx.now_ms, near), tx.semantic)
        return _find(tx, ladder, limit, cursor, lag)
    except IndexDamaged:
        tx.index.is_damaged = True  # its writer makes a new one
        return SearchPage(items=[], lag=max(lag, 1))


def _find(tx: Transaction, ladder: Ladder, limit: int, cursor: str | None, lag: int) -> SearchPage:
    reader, query, filters = ladder.reader, ladder.query, ladder.filters
    offset = _read_cursor(cursor, query, filters)
    climb = ladder.climb(min(offset + limit + 1, _DEEPEST))
    page = climb.found[offset : offset + limit]
    has_more = len(climb.found) > offset + limit
    items = _describe(tx, _Reading(reader, _stems(reader, query, climb)), page)
    return SearchPage(
        items=items,
        next=_write_cursor(offset + limit, query, filters) if has_more else None,
        suggestion=_suggest(query, climb),
        dropped=climb.dropped,
        lag=lag,
    )


# What may be found.


def _within_scope(tx: Transaction, filters: Filters) -> Filters:
    own = scopes.own_project(tx)
    if own is None:
        return filters
    if filters.project_id is not None:
        scopes.require_project(tx, filters.project_id, "project")
    return msgspec.structs.replace(filters, project_id=own)


def _filters(tx: Transaction, request: SearchMemory, query: SearchQuery) -> Filters:
    typed = query.filters
    since = request.since or typed.get("since")
    kind = request.kind or _choice(typed.get("kind"), "kind", KINDS)
    role = request.role or _choice(typed.get("role"), "role", get_args(Role))
    project: int | str | None = request.project if request.project is not None else typed.get("project")
    session: int | str | None = request.session if request.session is not None else typed.get("session")
    return Filters(
        project_id=_find_project(tx, project),
        session_id=_find_session(tx, session),
        kind=kind,  # type: ignore[arg-type]
        role=role,
        agent=request.agent or typed.get("agent"),
        since_ms=None if since is None else parse_since(since, tx.now_ms),
        path=request.path or typed.get("path"),
    )


def _choice(value: str | None, field: str, known: tuple[str, ...]) -> Kind | str | None:
    if value is not None and value not in known:
        raise InvalidParams(
            f"there is no {field} {value!r}", field=field, value=value, fix=f"use one of: {', '.join(known)}"
        )
    return value


def _find_project(tx: Transaction, ref: int | str | None) -> int | None:
    """A project by its id, its path, or in a query by its name."""
    if ref is None or isinstance(ref, int) or ref.startswith("/"):
        return lookup.project_id(tx, ref)
    if ref.isdecimal():
        return lookup.project_id(tx, int(ref))
    named = [row for row in projects.list_all(tx.db) if ref in (row.name, row.path.rstrip("/").rpartition("/")[2])]
    if not named:
        raise ProjectNotFound(f"there is no project {ref!r}", field="project", value=ref)
    return lookup.project_id(tx, named[0].id)


def _find_session(tx: Transaction, ref: int | str | None) -> int | None:
    """A session by its id, `s7`, or `driver:native_id`."""
    if ref is None:
        return None
    if isinstance(ref, str) and ref.lstrip("s").isdecimal():
        ref = int(ref.lstrip("s"))
    session = sources.find_session(tx.db, ref) if isinstance(ref, int) else None
    if session is None:
        return lookup.session(tx, ref, "session").id
    scopes.require_project(tx, session.project_id, "session")
    return session.id


# Pages.


def _mark(query: SearchQuery, filters: Filters) -> str:
    asked = msgspec.json.encode([[term.match for term in query.terms], filters])
    return hashlib.sha256(asked).hexdigest()[:8]


def _write_cursor(offset: int, query: SearchQuery, filters: Filters) -> str:
    return f"{offset}.{_mark(query, filters)}"


def _read_cursor(cursor: str | None, query: SearchQuery, filters: Filters) -> int:
    if cursor is None:
        return 0
    offset, _, mark = cursor.partition(".")
    if not offset.isdecimal() or int(offset) > _DEEPEST or mark != _mark(query, filters):
        raise InvalidParams(
            "the cursor belongs to another query",
            field="cursor",
            value=cursor,
            fix="give the `next` of the page before",
        )
    return int(offset)


# What is said about a hit.


def _stems(reader: IndexReader, query: SearchQuery, climb: Climb) -> frozenset[str]:
    """The words to highlight, as the index sees them."""
    texts = [term.text for term in query.terms] + list(climb.corrected.values())
    stems = {token.stem for text in texts for token in reader.tokenize(text)}
    return frozenset(stems | {f"{prefix.lower()}*" for prefix in climb.prefixes})


def _suggest(query: SearchQuery, climb: Climb) -> str | None:
    text = query.text
    for wrong, right in climb.corrected.items():
        text = text.replace(wrong, right)
    return text if climb.corrected else None


def _describe(tx: Transaction, reading: _Reading, found: list[Found]) -> list[Hit]:
    docs = {doc.id: doc for doc in reading.reader.read([each.ranked.id for each in found])}
    chosen = [_choose(reading, each, docs[each.ranked.id]) for each in found]
    sessions = sources.name_sessions(tx.db, sorted({doc.session_id for doc in chosen if doc.session_id is not None}))
    commits = sources.find_commits(tx.db, sorted({doc.message_id for doc in chosen if doc.message_id is not None}))
    statuses = reading.reader.exit_statuses([doc.id for doc in chosen if doc.kind == "command"])
    hits = []
    for each, doc in zip(found, chosen, strict=True):
        session = None if doc.session_id is None else sessions.get(doc.session_id)
        commit = None if doc.message_id is None else commits.get(doc.message_id)
        text = doc.text[:_LONGEST_READ]
        cut = snippet.cut(text, reading.reader.tokenize(text), reading.stems)
        hits.append(
            Hit(
                session_id=doc.session_id,
                effort_id=doc.effort_id,
                project_id=doc.project_id,
                kind=doc.kind,
                place=_place(doc),
                time=to_iso(doc.time_ms),
                snippet=cut.text,
                highlights=[list(span) for span in cut.highlights],
                rung=each.rung,
                score=round(each.score, 6),
                open_with=_open_with(doc, commit),
                resume_with=None if session is None else _resume_with(tx, session),
                role=doc.role,
                agent=doc.driver or doc.agent_id,
                title=None if session is None else session.title,
                message_id=doc.message_id,
                commit=commit,
                exit_status=statuses.get(doc.id),
            )
        )
    return hits


def _choose(reading: _Reading, found: Found, doc: Doc) -> Doc:
    """Of a unit, the text that has the most words of the query."""
    if not found.is_unit or doc.unit_id is None or doc.session_id is None:
        return doc
    docs = reading.reader.unit_docs(doc.session_id, doc.unit_id)
    return max(docs, key=lambda each: snippet.count_matches(reading.reader.tokenize(each.text), reading.stems))


def _place(doc: Doc) -> str:
    if doc.session_id is not None:
        return f"s{doc.session_id}" + ("" if doc.message_id is None else f":{doc.message_id}")
    return f"e{doc.effort_id}" if doc.effort_id is not None else doc.source or ""


def _open_with(doc: Doc, commit: str | None) -> str:
    """The command that shows the place."""
    if commit is not None:
        return f"ramet history show {commit[:12]}"
    if doc.kind == "report" and doc.effort_id is not None:
        return f"ramet report e{doc.effort_id}"
    if doc.session_id is not None:
        return f"ramet show s{doc.session_id}"
    return f"ramet show e{doc.effort_id}" if doc.effort_id is not None else "ramet search kind:chunk"


def _resume_with(tx: Transaction, session: NamedSession) -> str | None:
    """The command with which the agent's own program resumes the session, if it can."""
    arguments = tx.resume_commands.get(session.driver or "")
    if arguments is None or session.native_id is None or "/" in session.native_id:
        return None  # a sub-agent's is inside its parent's
    return " ".join([*arguments, session.native_id])
