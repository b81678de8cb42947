"""Recall: whether it answers rightly, whether it is silent if nothing is on record, how large and how fast it is.

    python -m benchmarks.recall_load 100000

Half of a corpus is on record. Questions about that half should be answered with the right session; questions about the
other half, whose topics are the same, should get nothing.
"""

import random
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from benchmarks.daemons import places_in
from benchmarks.harness import percentile
from benchmarks.search_corpus import Corpus, Session, code, conversations, many_messages
from benchmarks.search_quality import NOW_MS, build
from ramet.clock import SystemClock
from ramet.config.settings import Settings
from ramet.engine import Engine
from ramet.engine.transaction import Rules
from ramet.faults import Faults
from ramet.model.redaction import Redactor
from ramet.protocol.memory.recall import Recall, Recalled
from ramet.store import open_store
from ramet.store.database.blobs import Codec
from ramet.store.memory.index.search_index import SearchIndex

_QUESTIONS = 400
_PER_SESSION = 50

Ask = Callable[[str, bool], Recalled]
"""Asks a question; the second argument is whether nobody asked for the answer."""


class Abstention(NamedTuple):
    """How recall does on a corpus, in per cent."""

    corpus: str
    mode: str
    right: float
    """Questions about what is on record whose session is in the answer."""
    wrong: float
    """The same, with an answer that has only other sessions."""
    silent: float
    """Questions about sessions that are not on record, on topics that are, that get nothing."""
    strange: float
    """Questions on other topics, in other words, that get nothing."""
    most_bytes: int


@contextmanager
def recalling(corpus: Corpus) -> Iterator[Ask]:
    """An engine on an index of these sessions."""
    with tempfile.TemporaryDirectory(prefix="rb") as folder:
        store = open_store(Settings().database, places_in(Path(folder)), clock=SystemClock(), faults=Faults())
        index = SearchIndex(Path(folder) / "search.db")
        build(index, corpus)
        engine = Engine(Rules(), codec=Codec(), redactor=Redactor(), index=index)
        db = store.connect()

        def ask(text: str, is_hint: bool) -> Recalled:
            request = Recall(query=text, is_hint=is_hint)
            db.begin_reading()
            try:
                reply: Recalled = engine.perform(db, engine.prepare(Recall.op, request, "user"), NOW_MS)
                return reply
            finally:
                db.rollback()

        try:
            yield ask
        finally:
            index.close()
            store.close()


def measure_abstention(name: str, corpus: Corpus, strange: Corpus) -> Iterator[Abstention]:
    """Both ways to ask, on half of a corpus, and with the questions about another one."""
    recorded = [session if number % 2 == 0 else Session([]) for number, session in enumerate(corpus.sessions)]
    with recalling(Corpus(recorded, [])) as ask:
        for mode, is_hint in (("asked", False), ("hint", True)):
            right = wrong = silent = known = unknown = most = 0
            for question in corpus.questions:
                answer = ask(question.text, is_hint)
                sessions = {int(item.place[1:].partition(":")[0]) for item in answer.items}
                most = max(most, len(answer.text.encode()))
                if question.session % 2 == 0:
                    known += 1
                    right += question.session in sessions
                    wrong += bool(sessions) and question.session not in sessions
                else:
                    unknown += 1
                    silent += not answer.text
            others = [not ask(question.text, is_hint).text for question in strange.questions]
            yield Abstention(
                corpus=name,
                mode=mode,
                right=100 * right / known,
                wrong=100 * wrong / known,
                silent=100 * silent / unknown,
                strange=100 * sum(others) / len(others),
                most_bytes=most,
            )


def measure_latency(messages: int) -> dict[str, float]:
    """How long an answer takes, in milliseconds, with so many messages on record."""
    rng, sessions, said = random.Random(5), [], []
    rows = many_messages(3, messages)
    for _ in range(0, messages, _PER_SESSION):
        turns = [row for _, row in zip(range(_PER_SESSION), rows, strict=False)]
        said.append(rng.choice(turns)[1].split())
        sessions.append(Session(turns))
    taken: list[float] = []
    used: list[float] = []
    sizes: list[int] = []
    with recalling(Corpus(sessions, [])) as ask:
        for number in range(_QUESTIONS):
            words = rng.choice(said)
            text = " ".join(rng.sample(words, min(len(words), rng.randint(2, 12))))
            start, worked = time.perf_counter(), time.process_time()
            answer = ask(text, number % 2 == 1)
            taken.append(1000 * (time.perf_counter() - start))
            used.append(1000 * (time.process_time() - worked))
            sizes.append(len(answer.text.encode()))
    return {
        "p50_ms": percentile(taken, 0.5),
        "p95_ms": percentile(taken, 0.95),
        "p50_processor_ms": percentile(used, 0.5),
        "p95_processor_ms": percentile(used, 0.95),
        "most_bytes": max(sizes),
        "silent": 100 * sum(size == 0 for size in sizes) / len(sizes),
    }


def main() -> None:
    """Print the tables."""
    messages = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
    print("| corpus | mode | right % | wrong % | silent % | silent, other topics % | most bytes |")
    print("|---|---|---:|---:|---:|---:|---:|")
    for name, corpus, strange in (
        ("conversations", conversations(), conversations(seed=77, questions=500)),
        ("code", code(), code(seed=78, questions=500)),
    ):
        for row in measure_abstention(name, corpus, strange):
            shares = " | ".join(f"{share:.1f}" for share in (row.right, row.wrong, row.silent, row.strange))
            print(f"| {row.corpus} | {row.mode} | {shares} | {row.most_bytes} |")
    if messages:
        print(
            f"{messages} messages: "
            + ", ".join(f"{key} {value:.1f}" for key, value in measure_latency(messages).items())
        )


if __name__ == "__main__":
    main()
