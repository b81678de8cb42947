"""Secrets that were stored before a rule existed are found and removed, and nothing else changes."""

from typing import Any

import pytest
from tests.conformance import queue_worker
from tests.conformance.stored_text import everything
from tests.model.redaction.planted import Maker
from tests.world import World

from ramet.config.settings import QuerySettings
from ramet.engine import Engine
from ramet.engine.transaction import Rules
from ramet.model.redaction import Redactor
from ramet.protocol.system.database import CheckDatabase
from ramet.store.database import purge
from ramet.store.database.blobs import Codec
from ramet.store.database.operations import answer
from ramet.store.database.purge import Burial

TOKEN = Maker(342).expand("glpat-{b20}")
BURIAL = Burial("ada", "2026-01-05T09:00:00.000Z", "it leaked")


def engine(*, is_enabled: bool) -> Engine:
    return Engine(Rules(), codec=Codec(), redactor=Redactor(is_enabled=is_enabled))


def store_secrets(world: World) -> Any:
    """What was stored while no rule knew the token: in contents, names, keys, events, outputs and metadata."""
    world.engine = engine(is_enabled=False)
    world.call("history.commit", branch="main", text="innocent")
    bad = world.call("history.commit", branch="main", text=f"use {TOKEN} " + "and more " * 40, idempotency_key=TOKEN)
    world.call("history.commit", branch="main", text="noted", author=TOKEN, metadata={"note": TOKEN})
    world.call("history.commit", branch=f"fix-{TOKEN}", text="on a branch")
    attempt = queue_worker.start(world, f"host/{TOKEN}", native_id=TOKEN)
    queue_worker.report(world, attempt, queue_worker.text(f"I use {TOKEN}"), queue_worker.end(reason=TOKEN))
    queue_worker.complete(world, attempt, output_content=TOKEN, reason=TOKEN)
    world.engine = engine(is_enabled=True)
    return bad


def run_purge(world: World) -> purge.Found:
    rows = world.store.text_rows(world.db)
    return purge.purge(world.db, rows, Redactor(), BURIAL)


def hashes(world: World) -> list[Any]:
    return [tuple(map(bytes, row)) for row in world.sql("SELECT hash FROM commits ORDER BY id")]


@pytest.mark.requirement("R342")
def test_what_no_rule_knew_is_found_without_changing_anything(world: World) -> None:
    store_secrets(world)
    before = world.dump()
    found = purge.search(world.db, world.store.text_rows(world.db), Redactor())
    world.db.rollback()
    assert found.blobs == 2
    assert found.commits >= 1
    assert found.texts >= 6
    assert found.kinds["gitlab"] >= 10
    assert world.dump() == before


@pytest.mark.requirement("R342")
def test_a_purge_leaves_no_secret_and_every_hash(world: World) -> None:
    bad = store_secrets(world)
    assert TOKEN in everything(world)
    before = hashes(world)
    sizes = world.sql("SELECT hash, size FROM blobs ORDER BY id")
    found = run_purge(world)
    assert TOKEN not in everything(world)
    assert hashes(world) == before
    assert world.sql("SELECT hash, size FROM blobs ORDER BY id") == sizes
    graves = world.sql("SELECT subject, size, purged_by, purged_at, reason FROM tombstones ORDER BY id")
    assert [row[0] for row in graves].count("blob") == found.blobs == 2
    assert {tuple(row[2:]) for row in graves} == {("ada", "2026-01-05T09:00:00.000Z", "it leaked")}
    assert all(row[1] > 0 for row in graves)
    assert world.call("history.show", hash=bad.hash).text == "[purged]"
    compiled = world.call("history.compile", branch="main")
    assert [message["content"] for message in compiled.messages] == ["innocent", "[purged]", "noted"]
    assert run_purge(world).is_empty


@pytest.mark.requirement("R342")
def test_a_check_verifies_everything_else_and_counts_what_was_purged(world: World) -> None:
    store_secrets(world)
    run_purge(world)
    report = answer(world.store, CheckDatabase(), QuerySettings())
    assert report.findings == []
    assert report.counts["purged"] == len(world.sql("SELECT id FROM tombstones"))
    world.sql("UPDATE blobs SET hash = :hash WHERE id = 1", hash=b"x" * 32)
    assert "blobs" in {finding.check for finding in answer(world.store, CheckDatabase(), QuerySettings()).findings}


@pytest.mark.requirement("R342")
def test_work_goes_on_after_a_purge_and_equal_texts_stay_purged(world: World) -> None:
    store_secrets(world)
    run_purge(world)
    world.call("history.commit", branch="main", text="after")
    kept = world.call("history.log", branch=f"fix-{TOKEN}").items
    assert [item.preview for item in kept] == ["on a branch"]
    texts = [each["content"] for each in world.call("history.compile", branch="main").messages]
    assert texts == ["innocent", "[purged]", "noted", "after"]


@pytest.mark.requirement("R342")
def test_a_backup_keeps_tombstones(world: World, tmp_path: Any) -> None:
    from ramet.store.database.sqlite.copies import open_copy

    store_secrets(world)
    run_purge(world)
    world.store.back_up(tmp_path / "copy.db")
    assert TOKEN.encode() not in (tmp_path / "copy.db").read_bytes()
    with open_copy(tmp_path / "copy.db") as (db, _, has_tombstones):
        assert has_tombstones
        graves = db.database.execute("SELECT count(*) FROM tombstones").fetchall()
    assert graves == [tuple(world.sql("SELECT count(*) FROM tombstones")[0])]


@pytest.mark.requirement("R342")
def test_a_backup_from_before_there_were_tombstones_is_purged_as_well(world: World, tmp_path: Any) -> None:
    from ramet.store.database.sqlite.copies import open_copy

    store_secrets(world)
    copy = tmp_path / "copy.db"
    world.store.back_up(copy)
    assert TOKEN.encode() in copy.read_bytes()
    with open_copy(copy) as (db, rows, _):
        db.database.execute("DROP TABLE tombstones")
        assert purge.purge(db, rows, Redactor(), BURIAL, has_tombstones=False).blobs == 2
    assert TOKEN.encode() not in copy.read_bytes()
    with open_copy(copy) as (db, rows, has_tombstones):
        assert not has_tombstones
        assert purge.search(db, rows, Redactor()).is_empty
