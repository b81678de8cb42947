"""The vectors in the index: of which model, for which texts, and in pages, so that memory does not grow with them."""

from collections.abc import Iterator, Mapping

from ramet.store.database.connection import to_json
from ramet.store.database.queries import QueryFile
from ramet.store.database.sqlite.connection import SqliteConnection
from ramet.store.memory.index.index_reader import Ranked

_sql = QueryFile("memory/vectors")
_facts = QueryFile("memory/index")

_MODEL, _LAST = "vectors", "vectors_last"
_PAGE = 4096


class IndexVectors:
    """The vectors of one index. A writer has an open transaction."""

    def __init__(self, index: SqliteConnection) -> None:
        self._db = index

    def model(self) -> str | None:
        """The fingerprint of the model that the vectors are of."""
        row = self._db.one(_facts.get_meta, name=_MODEL)
        return None if row is None else row[0]

    def begin(self, fingerprint: str) -> None:
        """Forget all vectors: those to come are of this model."""
        self._db.run(_sql.forget_all)
        self._db.run(_facts.put_meta, name=_MODEL, value=fingerprint)
        self._db.run(_facts.put_meta, name=_LAST, value=0)

    def next_texts(self, limit: int) -> list[int]:
        """The next texts that need a vector."""
        row = self._db.one(_facts.get_meta, name=_LAST)
        return [each[0] for each in self._db.all(_sql.next_texts, after=row[0] if row else 0, limit=limit)]

    def put(self, vectors: Mapping[int, bytes]) -> None:
        """The vectors of the next texts; one that was removed meanwhile needs none."""
        for doc_id, data in vectors.items():
            self._db.run(_sql.put, doc_id=doc_id, data=data)
        self._db.run(_facts.put_meta, name=_LAST, value=max(vectors))

    def rows(self, filters: Mapping[str, object]) -> Iterator[tuple[int, bytes]]:
        """The vectors of the texts that pass the filters."""
        after = 0
        while page := self._db.all(_sql.page, after=after, limit=_PAGE, **filters):
            yield from page
            after = page[-1][0]

    def ranked(self, doc_ids: list[int]) -> list[Ranked]:
        """Some texts in this order, as a ranking shows them."""
        return [Ranked(*row) for row in self._db.all(_sql.ranked, ids=to_json(doc_ids))]
