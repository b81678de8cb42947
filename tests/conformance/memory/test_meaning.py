"""Search by meaning only adds to what the words find, and compares no vectors of two models."""

import struct
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from tests.ai.model_directory import WORDS, write_model
from tests.world import World

from ramet.ai.static_model import StaticModel
from ramet.engine.memory.search.vectors import VectorFeed
from ramet.errors import ModelFailed
from ramet.protocol.operation import Request
from ramet.store.database.blobs import Codec
from ramet.store.memory.index.index_vectors import IndexVectors


class Meaning:
    """A world that is searched by meaning, with the model of a directory."""

    def __init__(self, world: World, model: StaticModel) -> None:
        self.world = world
        self.model = model
        self.feed = VectorFeed(world.engine.index, Codec(), model, self._ask)
        world.engine.search_by_meaning(model)

    def _ask(self, request: Request[Any]) -> Any:
        return self.world.perform("runner", request.op, request)

    def catch_up(self) -> None:
        """Read all words, then give all texts their vectors."""
        self.world.call("memory.search", query="anything")
        while self.feed.step():
            pass

    def hits(self, query: str, **filters: Any) -> list[tuple[str, str]]:
        page = self.world.call("memory.search", query=query, **filters)
        return [(hit.rung, hit.snippet) for hit in page.items]


def say(world: World, *texts: str, task: str = "/shop/tasks/cart") -> int:
    session = world.session(task=task)
    for text in texts:
        world.call("db.messages.append", session_id=session.id, role="user", content=text)
    return int(session.id)


@pytest.fixture
def meaning(world: World, tmp_path: Path) -> Meaning:
    return Meaning(world, StaticModel(write_model(tmp_path / "model")))


@pytest.mark.requirement("R393")
def test_a_text_without_the_words_is_found_by_its_meaning_and_says_so(world: World, meaning: Meaning) -> None:
    for text in ("a coupon for every customer", "the database is slow", "a voucher for the till"):
        say(world, text)
    meaning.catch_up()
    assert meaning.hits("voucher") == [
        ("all", "a voucher for the till"),
        ("semantic", "a coupon for every customer"),
    ]
    assert meaning.hits("voucher", session=1, role="assistant") == []


@pytest.mark.requirement("R393")
def test_what_the_words_find_keeps_its_order(world: World, meaning: Meaning) -> None:
    """The model calls the second text likelier, the words the first; the words decide."""
    for text in ("voucher voucher, and a database", "coupon", "voucher", "sqlite"):
        say(world, text)
    meaning.catch_up()
    world.engine._semantic, semantic = None, world.engine._semantic
    plain = meaning.hits("voucher database")
    world.engine._semantic = semantic
    assert meaning.hits("voucher database")[: len(plain)] == plain


@pytest.mark.requirement("R393")
def test_vectors_of_another_model_are_not_compared_but_computed_again(
    world: World, meaning: Meaning, tmp_path: Path
) -> None:
    say(world, "a coupon for every customer")
    meaning.catch_up()
    other = Meaning(world, StaticModel(write_model(tmp_path / "other", {**WORDS, "coupon": (0.0, 0.0, 1.0)})))
    assert other.hits("voucher") == []
    other.catch_up()
    assert other.hits("voucher") == []
    assert other.hits("button") == [("semantic", "a coupon for every customer")]


@pytest.mark.requirement("R197")
def test_the_vectors_of_programs_texts_are_kept_beside_them(world: World, meaning: Meaning) -> None:
    world.task()
    chunk = world.call("search.upsert", source_type="doc", source_path="docs/pay.md", chunk_text="coupon", project_id=1)
    meaning.catch_up()
    ((model, dimension, embedding),) = world.sql("SELECT model, dimension, embedding FROM embeddings")
    assert (model, dimension) == (meaning.model.fingerprint, 3)
    assert struct.unpack("<3f", embedding) == pytest.approx((0.99, 0.11, 0.0), abs=0.01)
    assert world.call("search.status").vectors == 1
    again = world.call("search.upsert", source_type="doc", source_path="docs/pay.md", chunk_text="coupon", project_id=1)
    assert again.id == chunk.id
    assert [hit.source_path for hit in world.call("search.query", query="voucher", source_type="doc").items] == [
        "docs/pay.md"
    ]


class Broken:
    """A model that cannot be reached."""

    fingerprint = "broken"
    batch = 4

    def embed(self, texts: Sequence[str]) -> list[bytes]:
        raise ModelFailed(f"no answer for {len(texts)} texts")

    def nearest(self, *_: object) -> list[tuple[int, float]]:
        raise AssertionError


@pytest.mark.requirement("R393")
def test_a_model_that_fails_costs_nothing_but_its_own_hits(world: World, meaning: Meaning) -> None:
    say(world, "a voucher for the till")
    meaning.catch_up()
    index = world.engine.index.writer()
    index.begin()
    IndexVectors(index).begin(Broken.fingerprint)
    index.commit()
    world.engine.search_by_meaning(Broken())
    assert meaning.hits("voucher") == [("all", "a voucher for the till")]
    feed = VectorFeed(world.engine.index, Codec(), Broken(), lambda _: None)  # type: ignore[arg-type]
    with pytest.raises(ModelFailed):
        feed.step()


def test_a_removed_text_has_no_vector(world: World, meaning: Meaning) -> None:
    world.task()
    world.call("search.upsert", source_type="doc", source_path="docs/pay.md", chunk_text="coupon", project_id=1)
    meaning.catch_up()
    world.call("search.delete", source_path="docs/pay.md")
    assert meaning.hits("voucher") == []
    index = world.engine.index.writer().database
    assert index.execute("SELECT count(*) FROM vectors").fetchone() == (0,)
