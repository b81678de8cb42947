"""Requests and replies of `search.*`: texts that programs give to be searched, and the state of the index."""

from typing import Annotated, Literal

from msgspec import Meta, Struct

from ramet.errors import InvalidParams, ProjectNotFound
from ramet.protocol.fields import Content, Id, Name, Path, ProjectRef
from ramet.protocol.operation import Change, Operation, Request

SourceType = Literal["session", "doc", "directive"]


class Chunk(Struct, frozen=True, kw_only=True):
    """A text that a program gave to be searched."""

    id: int
    project_id: int | None
    source_type: SourceType
    source_path: str
    chunk_text: str
    updated_at: str


class UpsertChunk(Change[Chunk], frozen=True, kw_only=True):
    """Add a text to be searched, or renew it if it is there. It needs no model."""

    op = Operation("search.upsert", errors=(ProjectNotFound, InvalidParams), audience="compatibility")

    source_type: SourceType
    source_path: Path
    chunk_text: Content
    project_id: Id | None = None


class ChunkVector(Struct, frozen=True):
    """The vector of a text."""

    chunk_id: Id
    values: Annotated[list[float], Meta(min_length=1, max_length=16384)]


class KeptVectors(Struct, frozen=True, kw_only=True):
    """How many vectors were given."""

    vectors: int


class PutVectors(Change[KeptVectors], frozen=True, kw_only=True):
    """Keep the vectors that a model computed for texts of programs. Texts that were deleted meanwhile are skipped."""

    op = Operation("search.put_vectors", audience="internal")

    model: Name
    vectors: Annotated[list[ChunkVector], Meta(max_length=200)]


class ChunkHit(Struct, frozen=True, kw_only=True):
    """A text that answers a query. Of a message, `source_path` names its place, such as `s7:120`."""

    source_type: SourceType
    source_path: str
    chunk_text: str
    score: float
    project_id: int | None
    rung: str


class ChunkHits(Struct, frozen=True, kw_only=True):
    """The texts that answer a query, best first."""

    items: list[ChunkHit]


Limit = Annotated[int, Meta(ge=1, le=200)]


class QueryChunks(Request[ChunkHits], frozen=True, kw_only=True):
    """Search the texts that programs gave and what was said in sessions; of one source type or project if given."""

    op = Operation(
        "search.query",
        errors=(ProjectNotFound, InvalidParams),
        audience="compatibility",
        ring="project",
        is_long=True,
    )

    query: Content
    source_type: SourceType | None = None
    project_id: Id | None = None
    limit: Limit = 10


class SearchSessions(Request[ChunkHits], frozen=True, kw_only=True):
    """Search what was said in the sessions of a project; of every project only if that is asked for."""

    op = Operation(
        "search.sessions",
        errors=(ProjectNotFound, InvalidParams),
        audience="compatibility",
        ring="project",
        is_long=True,
    )

    query: Content
    project: ProjectRef | None = None
    all_projects: bool = False
    limit: Limit = 10


class SearchDocs(Request[ChunkHits], frozen=True, kw_only=True):
    """Search the documents of a project; of every project only if that is asked for."""

    op = Operation(
        "search.docs", errors=(ProjectNotFound, InvalidParams), audience="compatibility", ring="project", is_long=True
    )

    query: Content
    project: ProjectRef | None = None
    all_projects: bool = False
    limit: Limit = 10


class SearchDirectives(Request[ChunkHits], frozen=True, kw_only=True):
    """Search the directives of a project; of every project only if that is asked for."""

    op = Operation(
        "search.directives",
        errors=(ProjectNotFound, InvalidParams),
        audience="compatibility",
        ring="project",
        is_long=True,
    )

    query: Content
    project: ProjectRef | None = None
    all_projects: bool = False
    limit: Limit = 10


class DeletedChunks(Struct, frozen=True, kw_only=True):
    """How many texts were deleted."""

    deleted: int


class DeleteChunks(Change[DeletedChunks], frozen=True, kw_only=True):
    """Delete the texts of a source path."""

    op = Operation("search.delete", errors=(ProjectNotFound,), audience="compatibility")

    source_path: Path
    project_id: Id | None = None


class SearchState(Struct, frozen=True, kw_only=True):
    """How much the index has, and how far it is behind the database."""

    texts: int
    units: int
    sessions: int
    commands: int
    chunks: dict[str, int]
    """The texts that programs gave, by source type."""
    vectors: int
    """How many of those have a vector."""
    lag: int
    """How many changes of the database the index has not read yet."""
    is_building: bool
    """Whether it is still reading what was there before it."""
    rules: Name
    """By which rules it was written; an index of other rules is built again."""


class SearchStatus(Request[SearchState], frozen=True, kw_only=True):
    """Show how much the search index has, and how far it is behind the database."""

    op = Operation("search.status", errors=(ProjectNotFound,), is_long=True)

    project_id: Id | None = None


class Reindexing(Struct, frozen=True, kw_only=True):
    """An index that is built again in the background."""

    lag: int


class Reindex(Change[Reindexing], frozen=True, kw_only=True):
    """Build the search index again from the database. The old one answers until then.

    The index has one state for all: a source type or a project is accepted, and everything is read again.
    """

    op = Operation("search.reindex", errors=(ProjectNotFound,))

    source_type: SourceType | None = None
    project_id: Id | None = None
