"""How often the right session is found first: by plain BM25 over sessions, texts and units, and by the ladder.

The same words are asked in every way, with the same tokenizer; stop words are left out everywhere.
"""

import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple, NoReturn

import apsw

from benchmarks.search_corpus import Corpus, code, conversations
from ramet.ai.static_model import StaticModel
from ramet.engine.memory.search.ladder import Ladder
from ramet.engine.memory.search.vectors import VectorFeed, by_meaning
from ramet.model.memory.search.fusion import Signals, fuse, place_key, rank_sessions
from ramet.model.memory.search.search_query import parse
from ramet.model.memory.search.vector_source import VectorSource
from ramet.store.database.blobs import Codec
from ramet.store.memory.index.index_reader import Filters, IndexReader, Ranked
from ramet.store.memory.index.index_writer import IndexWriter, NewDoc
from ramet.store.memory.index.search_index import SearchIndex

NOW_MS = 1_800_000_000_000
_DEPTH = 200

Method = Callable[[str], list[int]]


class Quality(NamedTuple):
    """How well a method does on a corpus."""

    corpus: str
    method: str
    first: float
    """Share of questions whose session comes first."""
    fifth: float
    reciprocal: float


def build(index: SearchIndex, corpus: Corpus) -> IndexReader:
    """The corpus as the feeder would write it."""
    writer = index.writer()
    writer.begin()
    verbs = IndexWriter(writer, Codec())
    message_id = 0
    for number, session in enumerate(corpus.sessions):
        for role, text in session.messages:
            message_id += 1
            verbs.add(
                NewDoc(
                    kind="prompt" if role == "user" else "answer",
                    text=text,
                    time_ms=NOW_MS,
                    role=role,
                    session_id=number,
                    project_id=1,
                    message_id=message_id,
                )
            )
        verbs.read_until(number, message_id)
        verbs.flush()
    writer.commit()
    return IndexReader(writer, Codec())


def whole_sessions(corpus: Corpus) -> Method:
    """BM25 of FTS5 with one document for each session: what the ladder is measured against."""
    plain = apsw.Connection(":memory:")
    plain.execute("CREATE VIRTUAL TABLE plain USING fts5(text, tokenize='porter unicode61 remove_diacritics 2')")
    for number, session in enumerate(corpus.sessions):
        plain.execute(
            "INSERT INTO plain (rowid, text) VALUES (?, ?)", (number, "\n".join(t for _, t in session.messages))
        )

    def ask(text: str) -> list[int]:
        match = " OR ".join(term.match for term in parse(text).terms)
        rows = plain.execute("SELECT rowid FROM plain WHERE plain MATCH ? ORDER BY rank LIMIT 50", (match,))
        return [row[0] for row in rows]

    return ask


def _sessions(ranked: Iterator[Ranked] | list[Ranked]) -> list[int]:
    return list(dict.fromkeys(each.session_id for each in ranked if each.session_id is not None))


def methods(corpus: Corpus, reader: IndexReader) -> dict[str, Method]:
    """Every way to ask."""

    def match(text: str) -> str:
        return " OR ".join(term.match for term in parse(text).terms)

    def fused(text: str) -> list[int]:
        texts = reader.rank("texts", match(text), Filters(), _DEPTH)
        units = reader.rank("units", match(text), Filters(), _DEPTH)
        having = [reader.having(term.match, _DEPTH * 100) for term in parse(text).terms]
        scores = fuse(texts, units, rank_sessions(having, len(corpus.sessions)), Signals(NOW_MS))
        of = {place_key(each): each for each in [*units, *texts]}
        return _sessions([of[key] for key, _ in sorted(scores.items(), key=lambda each: (-each[1], each[0]))])

    def ladder(text: str) -> list[int]:
        climb = Ladder(reader, parse(text), Filters(), Signals(NOW_MS)).climb(20)
        return _sessions([found.ranked for found in climb.found])

    return {
        "FTS5 BM25, whole sessions": whole_sessions(corpus),
        "BM25, messages": lambda text: _sessions(reader.rank("texts", match(text), Filters(), _DEPTH)),
        "BM25, units": lambda text: _sessions(reader.rank("units", match(text), Filters(), _DEPTH)),
        "messages, units and sessions fused": fused,
        "the ladder": ladder,
    }


def with_vectors(index: SearchIndex, reader: IndexReader, source: VectorSource) -> Method:
    """The ladder with its last rung."""
    feed = VectorFeed(index, Codec(), source, _refuse)
    while feed.step():
        pass
    semantic = by_meaning(index, Codec(), source)

    def ladder(text: str) -> list[int]:
        climb = Ladder(reader, parse(text), Filters(), Signals(NOW_MS), semantic).climb(20)
        return _sessions([found.ranked for found in climb.found])

    return ladder


def _refuse(request: object) -> NoReturn:
    raise AssertionError(request)  # a corpus has no texts of programs, whose vectors a daemon would keep


def measure(name: str, corpus: Corpus, source: VectorSource | None = None) -> Iterator[Quality]:
    """All methods on one corpus."""
    with tempfile.TemporaryDirectory() as folder:
        index = SearchIndex(Path(folder) / "search.db")
        reader = build(index, corpus)
        asked = methods(corpus, reader)
        if source is not None:
            asked["the ladder, with vectors"] = with_vectors(index, reader, source)
        for method, ask in asked.items():
            places = []
            for question in corpus.questions:
                found = ask(question.text)
                places.append(found.index(question.session) + 1 if question.session in found else 0)
            number = len(places)
            yield Quality(
                name,
                method,
                100 * sum(place == 1 for place in places) / number,
                100 * sum(0 < place <= 5 for place in places) / number,
                sum(1 / place for place in places if place) / number,
            )
        index.close()


def main() -> None:
    """Print the table. A directory with a static model can be given, to measure vectors as well."""
    source = StaticModel(Path(sys.argv[1])) if len(sys.argv) > 1 else None
    print("| corpus | method | hit@1 | hit@5 | MRR |\n|---|---|---:|---:|---:|")
    for name, corpus in (("conversations", conversations()), ("code", code())):
        for row in measure(name, corpus, source):
            print(f"| {row.corpus} | {row.method} | {row.first:.1f} | {row.fifth:.1f} | {row.reciprocal:.3f} |")


if __name__ == "__main__":
    main()
