"""The index behind the database: fed in steps, resumed, rebuilt, and without what was removed."""

from pathlib import Path
from typing import Any

import pytest
from tests.conformance import queue_worker
from tests.conformance.memory.purging import PURGE, ended, finish_purges
from tests.model.redaction.planted import Maker
from tests.world import World

from ramet.engine.memory.search.index_feed import IndexFeed
from ramet.store.database.blobs import Codec
from ramet.store.memory.index.search_index import SearchIndex, fingerprint

SECRET = Maker(341).expand("glpat-{b20}")


def fill(world: World, messages: int = 60) -> int:
    session = world.session()
    for number in range(messages):
        role = "user" if number % 5 == 0 else "assistant"
        text = f"walrus number {number} in getHarbourName"
        world.call("db.messages.append", session_id=session.id, role=role, content=text)
    return int(session.id)


def use(world: World, index: SearchIndex) -> SearchIndex:
    """Let the world's engine search this index, and feed it when it is asked."""
    world.engine.index = index
    world.engine.feed_on_demand()
    return index


def step(world: World, feed: IndexFeed) -> bool:
    world.db.begin_reading()
    try:
        return feed.step(world.db)
    finally:
        world.db.rollback()


def places(world: World, query: str = "walrus") -> list[str]:
    return [hit.place for hit in world.call("memory.search", query=query, limit=100).items]


def contents(index: SearchIndex) -> dict[str, Any]:
    """Everything that the index has, by what a query can see of it."""
    database = index.writer().database
    tables = ("words", "unit_words", "tool_words")
    terms = {}
    for table in tables:
        database.execute(f"CREATE VIRTUAL TABLE IF NOT EXISTS temp.of_{table} USING fts5vocab(main, {table}, row)")
        terms[table] = database.execute(f"SELECT term, doc, cnt FROM temp.of_{table}").fetchall()
    texts = database.execute("SELECT kind, session_id, message_id, source FROM docs ORDER BY 1, 2, 3, 4").fetchall()
    return {**terms, "texts": texts}


def bytes_of(folder: Path) -> bytes:
    return b"".join(path.read_bytes() for path in sorted(folder.glob("search.db*")))


@pytest.mark.requirement("R388")
def test_an_index_that_was_fed_in_parts_equals_one_that_was_built_at_once(world: World, tmp_path: Path) -> None:
    grown = use(world, SearchIndex(tmp_path / "grown.db"))
    session_id = fill(world, 7)
    places(world)
    for number in range(40):
        world.call("db.messages.append", session_id=session_id, role="assistant", content=f"walrus again {number}")
        if number % 9 == 0:
            places(world)
    places(world)
    built = use(world, SearchIndex(tmp_path / "built.db"))
    places(world)
    assert contents(grown) == contents(built)
    grown.close()
    built.close()


@pytest.mark.requirement("R388")
def test_a_feed_that_was_cut_off_continues_where_it_was(world: World, tmp_path: Path) -> None:
    fill(world)
    first = IndexFeed(SearchIndex(tmp_path / "search.db"), Codec())
    assert all(step(world, first) for _ in range(3))
    first.index.close()
    index = use(world, SearchIndex(tmp_path / "search.db"))
    status = world.call("search.status")
    assert 0 < status.texts < 60
    assert status.lag > 0
    assert status.is_building
    assert len(places(world)) == 24  # units: 12 prompts, and 12 runs of answers
    status = world.call("search.status")
    assert (status.texts, status.lag, status.is_building) == (60, 0, False)
    index.close()


@pytest.mark.requirement("R388")
def test_deleting_the_index_loses_nothing(world: World, tmp_path: Path) -> None:
    index = use(world, SearchIndex(tmp_path / "search.db"))
    fill(world)
    world.call("search.upsert", source_type="doc", source_path="a.md", chunk_text="a walrus in a document")
    before = places(world)
    for path in tmp_path.glob("search.db*"):
        path.unlink()
    assert places(world) == before
    index.close()


@pytest.mark.requirement("R388")
@pytest.mark.parametrize("damage", ["text", "pages"])
def test_a_damaged_index_is_replaced(world: World, tmp_path: Path, damage: str) -> None:
    path = tmp_path / "search.db"
    index = use(world, SearchIndex(path))
    fill(world)
    before = places(world)
    index.close()
    size = path.stat().st_size
    if damage == "text":
        path.write_bytes(b"this is no database " * 500)
    else:
        with path.open("r+b") as file:
            file.seek(4096)
            file.write(b"\xff" * (size - 4096))
    index = use(world, SearchIndex(path))
    found: list[str] = []
    for _ in range(3):  # whoever meets the damage first may find nothing
        found = places(world)
        if found:
            break
    assert found == before
    index.close()


@pytest.mark.requirement("R388")
def test_another_version_is_built_beside_the_old_one_which_answers_until_then(world: World, tmp_path: Path) -> None:
    path = tmp_path / "search.db"
    old = use(world, SearchIndex(path))
    fill(world)
    before = places(world)
    old.close()
    newer = SearchIndex(path, rules=f"{fingerprint().partition('/')[0]}/99")
    world.engine.index = newer
    feed = IndexFeed(newer, Codec())
    assert step(world, feed)
    assert newer.is_building_next
    assert places(world) == before
    assert world.call("search.status").is_building
    while step(world, feed):
        pass
    assert not SearchIndex(path, rules=newer.rules).is_building_next
    assert not path.with_name("search.db.next").exists()
    assert places(world) == before
    newer.close()
    assert SearchIndex(path, rules=newer.rules).reader() is not None


def test_reindexing_builds_it_again(world: World, tmp_path: Path) -> None:
    index = use(world, SearchIndex(tmp_path / "search.db"))
    fill(world)
    before = places(world)
    inode = (tmp_path / "search.db").stat().st_ino
    world.call("search.reindex")
    assert places(world) == before
    assert (tmp_path / "search.db").stat().st_ino != inode
    index.close()


def test_an_index_of_another_database_is_built_again(world: World, tmp_path: Path) -> None:
    index = use(world, SearchIndex(tmp_path / "search.db"))
    fill(world, 10)
    places(world)
    index.writer().database.execute("UPDATE meta SET value = value + 1000 WHERE name IN ('cursor', 'mark')")
    index.writer().database.execute("DELETE FROM docs")
    index.close()
    use(world, SearchIndex(tmp_path / "search.db"))
    assert len(places(world)) == 4
    world.engine.index.close()


def test_a_home_that_was_deleted_is_not_made_again(world: World, tmp_path: Path) -> None:
    index = SearchIndex(tmp_path / "gone" / "search.db")
    fill(world, 2)
    with pytest.raises(FileNotFoundError):
        step(world, IndexFeed(index, Codec()))
    assert not (tmp_path / "gone").exists()


@pytest.mark.requirement("R342")
def test_the_words_of_a_purged_session_are_in_no_file(world: World, tmp_path: Path) -> None:
    index = use(world, SearchIndex(tmp_path / "search.db"))
    session = world.session()
    kept = fill(world, 4)
    for number in range(30):  # the unit grows in several steps, so its words are written more than once
        world.call(
            "db.messages.append", session_id=session.id, role="assistant", content=f"xylophonist {number} zymurgy"
        )
        if number % 10 == 0:
            places(world)
    given = '{"file_path": "/shop/xylophonist.py"}'
    world.call("db.messages.append", session_id=session.id, role="assistant", content=given, tool_name="Read")
    assert places(world, "xylophonist")
    assert b"xylophonist" in bytes_of(tmp_path)
    world.sql(
        "UPDATE blobs SET codec = 3, data = :none WHERE id IN (SELECT c.blob_id FROM commits c "
        "JOIN messages m ON m.commit_id = c.id WHERE m.session_id = :session)",
        none=b"",
        session=session.id,
    )
    world.sql("INSERT INTO events (kind, at_ms, session_id) VALUES ('session.purged', 0, :session)", session=session.id)
    assert places(world, "xylophonist") == []
    assert b"xylophon" not in bytes_of(tmp_path)
    assert b"zymurgi" not in bytes_of(tmp_path)
    assert [place.split(":")[0] for place in places(world)] == [f"s{kept}"] * 2
    index.close()


@pytest.mark.requirement("R399")
def test_a_purge_by_its_own_steps_leaves_no_word_in_the_index(world: World, tmp_path: Path) -> None:
    index = use(world, SearchIndex(tmp_path / "search.db"))
    kept = fill(world, 4)
    attempt = ended(world, "xylophonist one", "getXylophonistName two", prompt="the xylophonist", result="xylophonist")
    assert places(world, "xylophonist")
    world.call("session.purge", session_id=attempt.session.id, **PURGE)
    finish_purges(world)
    assert places(world, "xylophonist") == places(world, "ylophonistn") == []
    assert b"ylophon" not in bytes_of(tmp_path).lower()
    assert [place.split(":")[0] for place in places(world)] == [f"s{kept}"] * 2
    index.close()


def test_edits_and_garbage_collection_keep_what_was_said_findable(world: World, tmp_path: Path) -> None:
    index = use(world, SearchIndex(tmp_path / "search.db"))
    session_id = fill(world, 3)
    (hit, *_) = world.call("memory.search", query="walrus number 0").items
    branch = world.call("db.session.get", session_id=session_id).branch
    world.call("history.edit", branch=branch, target=hit.commit, text="a seal")
    world.clock.advance(90 * 86_400)
    world.call("history.gc", retention_days=1)
    (again, *_) = world.call("memory.search", query="walrus number 0").items
    assert again.place == hit.place
    assert world.call("history.show", hash=again.commit).text == "walrus number 0 in getHarbourName"
    index.close()


@pytest.mark.requirement("R341")
def test_a_secret_is_in_no_file_of_the_index(world: World, tmp_path: Path) -> None:
    index = use(world, SearchIndex(tmp_path / "search.db"))
    session = world.session()
    world.call("db.messages.append", session_id=session.id, role="user", content=f"walrus {SECRET}")
    world.call("db.messages.append", session_id=session.id, role="tool", content=f"walrus {SECRET}", tool_name="Bash")
    world.call("search.upsert", source_type="doc", source_path=f"/{SECRET}", chunk_text=f"walrus {SECRET}")
    assert places(world)
    index.close()
    assert SECRET.encode() not in bytes_of(tmp_path)
    assert SECRET.removeprefix("glpat-").lower().encode() not in bytes_of(tmp_path)


def test_commands_are_kept_with_how_they_ended_and_what_fixed_them(world: World) -> None:
    attempt = queue_worker.start(world)
    events: list[dict[str, Any]] = []
    runs = [
        ("pytest -q", "Exit code 2\nE   KeyError: 'name' in /a/b.py:12", True),
        ("ls", "exit code: 0", False),
        ("pytest -q", "5 passed", False),
    ]
    for number, (command, output, is_error) in enumerate(runs):
        call_id = f"c{number}"
        events.append({"kind": "tool_call", "name": "Bash", "call_id": call_id, "input": {"command": command}})
        events.append(
            {"kind": "tool_result", "name": "Bash", "call_id": call_id, "output": output, "is_error": is_error}
        )
    queue_worker.report(world, attempt, *events)
    world.call("memory.search", query="pytest", kind="command")
    database = world.engine.index.writer().database
    rows = database.execute(
        "SELECT command, exit_status, is_error, signature, fixed_by FROM commands ORDER BY id"
    ).fetchall()
    ((last,),) = database.execute("SELECT max(id) FROM commands").fetchall()
    assert rows == [
        ("pytest -q", 2, 1, "keyerror: 'name' in p:n", last),
        ("ls", 0, 0, None, None),
        ("pytest -q", None, 0, None, None),
    ]
    (hit,) = world.call("memory.search", query="KeyError: 'name' in /other/file.py:99", kind="command").items
    assert (hit.rung, hit.exit_status, hit.snippet) == ("error", 2, "pytest -q")
