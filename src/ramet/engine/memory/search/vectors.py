"""Search by meaning: texts get vectors behind the index, with which a query is compared if its words fill no page.

It only adds to what the words find, as the last rung of the ladder, so it can make no result worse. Vectors of another
model than the one that is configured are never compared: they are computed again first.
"""

import struct
from collections.abc import Mapping

from ramet.engine.memory.search.ladder import Semantic
from ramet.errors import ModelFailed, ModelMissing
from ramet.model.memory.search.vector_source import VectorSource
from ramet.protocol.memory.chunks import ChunkVector, PutVectors
from ramet.protocol.operation import Ask
from ramet.store.database.blobs import Codec
from ramet.store.memory.index.index_reader import Filters, IndexReader, Ranked
from ramet.store.memory.index.index_vectors import IndexVectors
from ramet.store.memory.index.index_writer import Doc, IndexWriter
from ramet.store.memory.index.search_index import SearchIndex

_MOST = 10
"""How many texts a query finds by their meaning: what follows is seldom what was meant."""
_LEAST_LIKENESS = 0.3


def by_meaning(index: SearchIndex, codec: Codec, source: VectorSource) -> Semantic:
    """What the ladder asks last."""

    def find(text: str, filters: Filters, limit: int) -> list[Ranked]:
        connection = index.reader()
        if connection is None:
            return []
        vectors, reader = IndexVectors(connection), IndexReader(connection, codec)
        if vectors.model() != source.fingerprint:
            return []
        try:
            (asked,) = source.embed([text])
        except (ModelFailed, ModelMissing):
            return []  # the words have answered; whoever feeds the vectors reports what is wrong with the model
        rows = vectors.rows(reader.params(filters))
        best = source.nearest(asked, rows, min(limit, _MOST)) if asked else []
        return vectors.ranked([doc_id for doc_id, likeness in best if likeness >= _LEAST_LIKENESS])

    return find


class VectorFeed:
    """Gives the texts of an index their vectors. The thread that feeds the index uses it."""

    def __init__(self, index: SearchIndex, codec: Codec, source: VectorSource, ask: Ask) -> None:
        self._index = index
        self._codec = codec
        self._source = source
        self._ask = ask

    def step(self) -> bool:
        """Give a few more texts their vectors; False if all have theirs. Nothing is locked while the model computes."""
        writer = self._index.writer()
        vectors = IndexVectors(writer)
        if vectors.model() != self._source.fingerprint:
            writer.begin()
            vectors.begin(self._source.fingerprint)
            writer.commit()
        docs = IndexWriter(writer, self._codec).read(vectors.next_texts(self._source.batch))
        if not docs:
            return False
        embedded = dict(zip(docs, self._source.embed([doc.text for doc in docs]), strict=True))
        self._keep_chunks(embedded)
        writer.begin()
        vectors.put({doc.id: data for doc, data in embedded.items()})
        writer.commit()
        return True

    def _keep_chunks(self, embedded: Mapping[Doc, bytes]) -> None:
        """The vectors of programs' texts are beside these in the database, where programs look for them."""
        found = [
            ChunkVector(int(doc.source[1:]), list(struct.unpack(f"<{len(data) // 2}e", data)))
            for doc, data in embedded.items()
            if doc.kind == "chunk" and doc.source is not None and data
        ]
        if found:
            self._ask(PutVectors(model=self._source.fingerprint, vectors=found))
