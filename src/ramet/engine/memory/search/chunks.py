"""Texts that programs give to be searched, and the state of the index. A query needs no model: it asks for words."""

import struct

from ramet.engine.answers import answers
from ramet.engine.memory.search import index_feed, search
from ramet.engine.record import lookup
from ramet.engine.transaction import Transaction
from ramet.errors import InvalidParams
from ramet.model.memory.search.hit import Hit
from ramet.model.memory.search.search_query import SearchQuery, parse_plain
from ramet.protocol.memory.chunks import (
    Chunk,
    ChunkHit,
    ChunkHits,
    DeleteChunks,
    DeletedChunks,
    KeptVectors,
    PutVectors,
    QueryChunks,
    Reindex,
    Reindexing,
    SearchDirectives,
    SearchDocs,
    SearchSessions,
    SearchState,
    SearchStatus,
    SourceType,
    UpsertChunk,
)
from ramet.store.memory import chunks
from ramet.store.memory.index.index_reader import Filters, IndexReader
from ramet.store.memory.index.index_writer import IndexWriter
from ramet.store.record import projects


@answers(UpsertChunk)
def upsert(tx: Transaction, request: UpsertChunk) -> Chunk:
    """Add a text, or renew the same one."""
    project_id = lookup.project_id(tx, request.project_id)
    if not request.chunk_text.strip():
        raise InvalidParams("the text is empty", field="chunk_text", value="", fix="give the text to be searched")
    chunk = chunks.put(
        tx.db,
        project_id=project_id,
        source_type=request.source_type,
        source_path=request.source_path,
        text=request.chunk_text.replace("\0", ""),
        now=tx.now,
    )
    tx.record("chunk.put", project_id=project_id, data={"chunks": [chunk.id]})
    return chunk


@answers(PutVectors)
def put_vectors(tx: Transaction, request: PutVectors) -> KeptVectors:
    """Keep vectors beside their texts."""
    for each in request.vectors:
        embedding = struct.pack(f"<{len(each.values)}f", *each.values)
        chunks.put_vector(tx.db, each.chunk_id, request.model, len(each.values), embedding)
    tx.record("chunk.embedded", data={"chunks": [each.chunk_id for each in request.vectors]})
    return KeptVectors(vectors=len(request.vectors))


@answers(DeleteChunks)
def delete(tx: Transaction, request: DeleteChunks) -> DeletedChunks:
    """Delete the texts of a source path."""
    project_id = lookup.project_id(tx, request.project_id)
    deleted = chunks.delete(tx.db, request.source_path, project_id)
    if deleted:
        tx.record("chunk.deleted", project_id=project_id, data={"chunks": deleted})
    return DeletedChunks(deleted=len(deleted))


@answers(QueryChunks)
def query(tx: Transaction, request: QueryChunks) -> ChunkHits:
    """Search everything of a source type, or of every one."""
    project_id = lookup.project_id(tx, request.project_id)
    return _query(tx, request.query, request.source_type, project_id, request.limit)


@answers(SearchSessions)
def search_sessions(tx: Transaction, request: SearchSessions) -> ChunkHits:
    """What was said in sessions."""
    return _query(tx, request.query, "session", _scope(tx, request), request.limit)


@answers(SearchDocs)
def search_docs(tx: Transaction, request: SearchDocs) -> ChunkHits:
    """Documents."""
    return _query(tx, request.query, "doc", _scope(tx, request), request.limit)


@answers(SearchDirectives)
def search_directives(tx: Transaction, request: SearchDirectives) -> ChunkHits:
    """Directives."""
    return _query(tx, request.query, "directive", _scope(tx, request), request.limit)


def _scope(tx: Transaction, request: SearchSessions | SearchDocs | SearchDirectives) -> int | None:
    """The project that is searched. An agent's own is the default; for others, all projects have to be asked for."""
    project_id = lookup.project_id(tx, request.project)
    if project_id is None and not request.all_projects and tx.asker is None:
        known = projects.list_all(tx.db)
        if len(known) == 1:
            return known[0].id
        raise InvalidParams(
            "the search names no project", field="project", fix="give project, or all_projects to search every one"
        )
    return project_id


def _query(tx: Transaction, text: str, source_type: SourceType | None, project_id: int | None, limit: int) -> ChunkHits:
    parsed = parse_plain(text)
    if not parsed.terms:
        raise InvalidParams("the query has no words to search for", field="query", value=text, fix="give a word")
    hits: list[ChunkHit] = []
    if source_type in (None, "session"):
        hits += _said(tx, parsed, project_id, limit)
    hits += _given(tx, parsed, source_type, project_id, limit)
    return ChunkHits(items=sorted(hits, key=lambda hit: -hit.score)[:limit])


def _said(tx: Transaction, parsed: SearchQuery, project_id: int | None, limit: int) -> list[ChunkHit]:
    page = search.find(tx, parsed, Filters(project_id=project_id), limit)
    return [_hit(each, "session", each.place) for each in page.items if each.kind != "chunk"]


def _given(
    tx: Transaction, parsed: SearchQuery, source_type: SourceType | None, project_id: int | None, limit: int
) -> list[ChunkHit]:
    page = search.find(tx, parsed, Filters(kind="chunk", role=source_type, project_id=project_id), limit)
    found = []
    for each in page.items:
        chunk = chunks.find(tx.db, int(each.place[1:]))
        if chunk is not None:
            found.append(_hit(each, chunk.source_type, chunk.source_path, chunk.chunk_text))
    return found


def _hit(hit: Hit, source_type: SourceType, path: str, text: str | None = None) -> ChunkHit:
    return ChunkHit(
        source_type=source_type,
        source_path=path,
        chunk_text=hit.snippet if text is None else text,
        score=hit.score,
        project_id=hit.project_id,
        rung=hit.rung,
    )


@answers(SearchStatus)
def status(tx: Transaction, request: SearchStatus) -> SearchState:
    """How much the index has, and how far it is behind."""
    project_id = lookup.project_id(tx, request.project_id)
    counted = chunks.count(tx.db, project_id)
    connection = tx.index.reader()
    texts, units, sessions, commands = (0, 0, 0, 0)
    is_building = True
    if connection is not None:
        texts, units, sessions, commands = IndexReader(connection, tx.codec).totals()
        is_building = bool(IndexWriter(connection, tx.codec).get("is_sweeping")) or tx.index.is_building_next
    return SearchState(
        texts=texts,
        units=units,
        sessions=sessions,
        commands=commands,
        chunks={name: texts for name, (texts, _) in counted.items()},
        vectors=sum(vectors for _, vectors in counted.values()),
        lag=index_feed.lag(tx.db, tx.index, tx.codec),
        is_building=is_building,
        rules=tx.index.rules,
    )


@answers(Reindex)
def reindex(tx: Transaction, request: Reindex) -> Reindexing:
    """Ask for a new index. The event is what the feeder follows."""
    project_id = lookup.project_id(tx, request.project_id)
    tx.record("index.reset", project_id=project_id)
    return Reindexing(lag=index_feed.lag(tx.db, tx.index, tx.codec))
