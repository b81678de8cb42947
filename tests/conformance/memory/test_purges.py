"""Purging a session removes what it said and nothing else: hashes, sizes and numbers stay, and others keep theirs."""

from typing import Any

import pytest
from tests.conformance import family, queue_worker, run_steps
from tests.conformance.memory import archive_steps as steps
from tests.conformance.memory.purging import PURGE, ended, finish_purges
from tests.conformance.stored_text import everything
from tests.world import World

from ramet.errors import SessionOpen


@pytest.mark.requirement("R399")
def test_a_purged_session_keeps_hashes_sizes_and_numbers_and_loses_its_text(world: World) -> None:
    attempt = ended(world, "zebra one " * 30, "shared words", prompt="the zebra prompt")
    other = ended(world, "shared words", "giraffe", worker="host/2", result="giraffe")
    before, sizes = steps.hashes(world), world.sql("SELECT hash, size FROM blobs ORDER BY id")
    usage = world.sql("SELECT * FROM usage")
    assert "zebra" in everything(world)
    purged = world.call("session.purge", session_id=attempt.session.id, **PURGE)
    assert purged.session_ids == [attempt.session.id]
    finish_purges(world)
    assert "zebra" not in everything(world)
    assert steps.hashes(world) == before
    assert world.sql("SELECT hash, size FROM blobs ORDER BY id") == sizes
    assert world.sql("SELECT * FROM usage") == usage
    assert steps.findings(world) == []
    said = [text for _, text in queue_worker.said_by(world, attempt.session.id)]
    assert set(said) == {"[purged]", "shared words"}
    assert "giraffe" in [text for _, text in queue_worker.said_by(world, other.session.id)]
    graves = {tuple(row) for row in world.sql("SELECT purged_by, reason FROM tombstones")}
    assert graves == {("ada", "no longer needed")}
    assert "session.purged" in world.events()
    assert world.call("session.purge", session_id=attempt.session.id, **PURGE).already


@pytest.mark.requirement("R399")
def test_the_last_session_that_shows_a_text_takes_it_along(world: World) -> None:
    first = ended(world, "shared words", worker="host/1")
    second = ended(world, "shared words", worker="host/2")
    for attempt, is_there in ((first, True), (second, False)):
        world.call("session.purge", session_id=attempt.session.id, **PURGE)
        finish_purges(world)
        assert ("shared words" in everything(world)) is is_there
    assert steps.findings(world) == []


@pytest.mark.requirement("R399")
def test_children_go_with_their_parent_and_an_open_session_is_refused(world: World) -> None:
    above = family.parent(world)
    child = family.spawn(world, above, "look for the zebra")
    with pytest.raises(SessionOpen):
        world.call("session.purge", session_id=above.session.id, **PURGE)
    family.run(world, child, output_content="a zebra was found")
    queue_worker.complete(world, above, output_content="zebra")
    purged = world.call("session.purge", session_id=above.session.id, **PURGE)
    assert len(purged.session_ids) == 2
    finish_purges(world)
    assert "zebra" not in everything(world)
    assert steps.findings(world) == []


@pytest.mark.requirement("R399")
def test_an_interrupted_purge_continues_where_it_was(world: World) -> None:
    attempt = ended(world, *(f"zebra {number}" for number in range(120)))
    world.call("session.purge", session_id=attempt.session.id, **PURGE)
    finish_purges(world, most=2)
    assert "zebra" in everything(world)
    finish_purges(world)
    assert "zebra" not in everything(world)
    assert steps.findings(world) == []
    assert world.sql("SELECT * FROM purges") == []


@pytest.mark.requirement("R399")
def test_a_purged_run_loses_its_conversation_and_its_sessions(world: World) -> None:
    run = run_steps.start(world, run_steps.line("1", text="hunt the zebra"))
    run_steps.do_all(world, run, output_content="zebra hunted")
    run_steps.leave(world, run)
    assert world.call("run.purge", run_id=run.id, **PURGE).run_ids == [run.id]
    finish_purges(world)
    assert "zebra" not in everything(world)
    assert run_steps.get(world, run).name == "[purged]"
    assert steps.findings(world) == []


@pytest.mark.requirement("R399")
@pytest.mark.requirement("R342")
def test_export_and_import_keep_tombstones(world: World, tmp_path: Any, migrated_file: Any) -> None:
    attempt = ended(world, "zebra one", "zebra two")
    world.call("session.purge", session_id=attempt.session.id, **PURGE)
    finish_purges(world)
    with steps.another(tmp_path, migrated_file) as other:
        steps.import_into(other, steps.export(world, tmp_path))
        graves = "SELECT subject, hash, size, purged_by, purged_at, reason FROM tombstones ORDER BY subject, hash"
        assert [tuple(map(str, row)) for row in other.sql(graves)] == [
            tuple(map(str, row)) for row in world.sql(graves)
        ]
        assert steps.hashes(other) == steps.hashes(world)
        assert steps.findings(other) == []
        assert {text for _, text in queue_worker.said_by(other, 1)} == {"[purged]"}


@pytest.mark.requirement("R399")
def test_archived_sessions_are_listed_only_on_request(world: World) -> None:
    attempt = ended(world, "hello")
    assert not world.call("session.archive", session_id=attempt.session.id).already
    assert world.call("db.session.find").items == []
    assert len(world.call("db.session.find", archived=True).items) == 1
    assert world.call("session.archive", session_id=attempt.session.id).already
    world.call("session.archive", session_id=attempt.session.id, archived=False)
    assert len(world.call("db.session.find").items) == 1
