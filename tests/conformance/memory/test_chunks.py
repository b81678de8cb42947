"""Texts that programs give to be searched, and the state of the index: the seed's `search.*` operations."""

from typing import Any

import pytest
from tests.world import World

from ramet.errors import InvalidParams, ProjectNotFound


def upsert(world: World, text: str, kind: str = "doc", path: str = "docs/a.md", **params: Any) -> Any:
    return world.call("search.upsert", source_type=kind, source_path=path, chunk_text=text, **params)


def found(world: World, name: str, **params: Any) -> list[tuple[str, str]]:
    return [(hit.source_type, hit.source_path) for hit in world.call(name, **params).items]


@pytest.mark.requirement("R385", "R238")
def test_a_text_is_added_once_found_without_a_model_and_deleted(world: World) -> None:
    first = upsert(world, "the walrus waits", path="docs/a.md")
    world.clock.advance(60)
    again = upsert(world, "the walrus waits", path="docs/a.md")
    assert (again.id, again.chunk_text) == (first.id, "the walrus waits")
    assert again.updated_at > first.updated_at
    upsert(world, "a second walrus", path="docs/a.md")
    upsert(world, "another walrus", "directive", "AGENTS.md")
    assert found(world, "search.query", query="walrus waits")[0] == ("doc", "docs/a.md")
    assert found(world, "search.query", query="walrus", source_type="directive") == [("directive", "AGENTS.md")]
    assert world.call("search.delete", source_path="docs/a.md").deleted == 2
    assert world.call("search.delete", source_path="docs/a.md").deleted == 0
    assert found(world, "search.query", query="walrus") == [("directive", "AGENTS.md")]
    assert world.events()[-1] == "chunk.deleted"


@pytest.mark.requirement("R385", "R238")
def test_sessions_docs_and_directives_are_searched_within_a_project_unless_all_are_asked_for(world: World) -> None:
    session = world.session()
    world.call("db.messages.append", session_id=session.id, role="user", content="a walrus was said")
    shop = world.call("db.project.upsert", path="/shop").id
    bank = world.call("db.project.upsert", path="/bank").id
    for project, path in ((shop, "shop.md"), (bank, "bank.md")):
        upsert(world, "a walrus is written", "doc", path, project_id=project)
        upsert(world, "obey the walrus", "directive", f"rules/{path}", project_id=project)
    assert found(world, "search.docs", query="walrus", project=shop) == [("doc", "shop.md")]
    assert found(world, "search.directives", query="walrus", project="/bank") == [("directive", "rules/bank.md")]
    (said,) = world.call("search.sessions", query="walrus", project="/shop").items
    assert (said.source_type, said.source_path.split(":")[0]) == ("session", f"s{session.id}")
    everywhere = found(world, "search.docs", query="walrus", all_projects=True)
    assert sorted(everywhere) == [("doc", "bank.md"), ("doc", "shop.md")]
    with pytest.raises(InvalidParams, match="no project"):
        world.call("search.docs", query="walrus")
    with pytest.raises(ProjectNotFound):
        world.call("search.query", query="walrus", project_id=99)
    with pytest.raises(InvalidParams, match="empty"):
        upsert(world, "  ")
    with pytest.raises(InvalidParams, match="no words"):
        world.call("search.query", query="...")


@pytest.mark.requirement("R385", "R238")
def test_the_status_counts_what_the_index_has_and_how_far_it_is_behind(world: World) -> None:
    session = world.session()
    world.call("db.messages.append", session_id=session.id, role="user", content="a walrus")
    upsert(world, "a walrus in a document")
    before = world.call("search.status")
    assert before.lag > 0
    world.call("memory.search", query="walrus")
    after = world.call("search.status")
    assert (after.texts, after.sessions, after.lag, after.is_building) == (2, 1, 0, False)
    assert (after.chunks, after.vectors) == ({"doc": 1}, 0)
    assert world.call("search.reindex", source_type="doc").lag >= 0
    assert world.call("memory.search", query="walrus").items
