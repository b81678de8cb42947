"""The table of spawns, and the store's verbs on it."""

from typing import Any

import pytest
from tests.conformance.history.story import (
    collect,
    fork,
    say,
    spawn,
)
from tests.world import World, open_world

from ramet.errors import CycleFound, SpawnCycle, SpawnError, TaskFileInvalid
from ramet.model.instant import to_iso
from ramet.model.runs.task_file import parse
from ramet.protocol.history.child_branches import SpawnRow
from ramet.store.history import child_branches
from ramet.store.history.child_branches import NewSpawn, SpawnPointers, StoredSpawnPointers

COLUMNS = {
    "id": ("INTEGER", "bigint", True),
    "parent_branch": ("TEXT", "text", True),
    "parent_commit_id": ("INTEGER", "bigint", False),
    "child_branch": ("TEXT", "text", True),
    "purpose": ("TEXT", "text", True),
    "inheritance_mode": ("TEXT", "text", True),
    "display_name": ("TEXT", "text", False),
    "created_at": ("TEXT", "text", True),
}


def save(world: World, parent: str, child: str, *, at_ms: int = 0, **fields: Any) -> SpawnRow:
    new = NewSpawn(
        parent_branch=parent,
        child_branch=child,
        **{
            "parent_commit_id": None,
            "purpose": "why",
            "inheritance_mode": "full_clone",
            "display_name": None,
            **fields,
        },
    )
    world.db.begin()
    row = StoredSpawnPointers(world.db).save(new, to_iso(world.clock.now + at_ms))
    world.db.commit()
    return row


@pytest.mark.requirement("R1", "R2", "R3", "R5", "R6", "R8", "R9", "R12")
def test_the_table_has_the_columns_of_a_spawn(world: World) -> None:
    if world.is_sqlite:
        rows = world.sql("SELECT name, type, \"notnull\" OR pk FROM pragma_table_info('spawn_pointers')")
    else:
        rows = world.sql(
            "SELECT column_name, data_type, is_nullable = 'NO' FROM information_schema.columns "
            "WHERE table_name = 'spawn_pointers' AND table_schema = current_schema()"
        )
    found = {name: (kind, bool(is_needed)) for name, kind, is_needed in rows}
    for name, (sqlite, postgres, is_needed) in COLUMNS.items():
        assert found[name] == (sqlite if world.is_sqlite else postgres, is_needed), name


@pytest.mark.requirement("R10", "R11", "R25")
def test_spawns_are_found_through_indexes_by_parent_and_by_child(world: World) -> None:
    if world.is_sqlite:
        rows = world.sql("SELECT name, \"unique\" FROM pragma_index_list('spawn_pointers')")
    else:
        rows = world.sql(
            "SELECT indexrelid::regclass::text, CASE WHEN indisunique THEN 1 ELSE 0 END FROM pg_index "
            "WHERE indrelid = 'spawn_pointers'::regclass"
        )
    found = {name.rpartition(".")[2]: is_unique for name, is_unique in rows}
    assert (found["ix_spawn_parent_tract"], found["ix_spawn_child_tract"]) == (0, 1)
    if world.is_sqlite:
        assert "ix_spawn_parent_tract" in world.explain(child_branches._sql.by_parent, branch="main", after=0, limit=9)
        assert "ix_spawn_child_tract" in world.explain(child_branches._sql.by_child, branch="main")


@pytest.mark.requirement("R7")
def test_a_mode_that_does_not_exist_is_refused_by_the_database(world: World) -> None:
    for mode in ("none", "full_clone", "head_snapshot", "selective"):
        assert save(world, "main", mode, inheritance_mode=mode).inheritance_mode == mode
    with pytest.raises(Exception, match=r"(?i)check"):
        save(world, "main", "kid", inheritance_mode="partial")
    world.db.rollback()
    assert len(StoredSpawnPointers(world.db).get_children("main")) == 4


@pytest.mark.requirement("R4")
def test_a_pointer_outlives_the_commit_it_names(world: World) -> None:
    (commit,) = say(world, "a")
    spawn(world, "kid")
    assert StoredSpawnPointers(world.db).get_parent("kid").parent_commit == commit  # type: ignore[union-attr]
    world.sql("DELETE FROM commits WHERE seq = 1 AND parent_id IS NULL AND content_type = 'dialogue'")
    pointer = StoredSpawnPointers(world.db).get_parent("kid")
    assert pointer is not None
    assert (pointer.parent, pointer.parent_commit) == ("main", None)


VERBS = {"save", "get", "get_parent", "get_children", "get_all", "has_ancestor"}


@pytest.mark.requirement("R20", "R21", "R353")
def test_the_interface_of_spawns_has_exactly_six_verbs_and_no_instance() -> None:
    assert SpawnPointers.__abstractmethods__ == VERBS
    assert {name for name in vars(SpawnPointers) if not name.startswith("_")} == VERBS
    with pytest.raises(TypeError, match="abstract"):
        SpawnPointers()  # type: ignore[abstract]


@pytest.mark.requirement("R20", "R32")
@pytest.mark.parametrize("verb", sorted(VERBS))
def test_an_implementation_that_lacks_a_verb_cannot_be_made(verb: str) -> None:
    others = {name: getattr(StoredSpawnPointers, name) for name in VERBS - {verb}}
    partial = type("Partial", (SpawnPointers,), others)
    with pytest.raises(TypeError, match=verb):
        partial()


@pytest.mark.requirement("R32", "R353")
def test_the_stored_spawns_of_each_database_implement_the_interface(world: World) -> None:
    pointers: SpawnPointers = StoredSpawnPointers(world.db)
    saved = save(world, "main", "kid")
    assert isinstance(pointers, SpawnPointers)
    assert (pointers.get(saved.spawn_id), pointers.get_parent("kid"), pointers.get_all("main")) == (saved,) * 2 + (
        [saved],
    )
    assert (pointers.get_children("main"), pointers.has_ancestor("kid", "main")) == ([saved], True)


@pytest.mark.requirement("R22", "R23")
def test_what_was_saved_is_got_by_its_id(world: World) -> None:
    (commit,) = say(world, "a")
    commit_id = world.sql("SELECT id FROM commits")[0][0]
    saved = save(
        world,
        "main",
        "kid",
        parent_commit_id=commit_id,
        purpose="dig",
        display_name="Digger",
        inheritance_mode="selective",
    )
    assert saved.spawn_id >= 1
    assert StoredSpawnPointers(world.db).get(saved.spawn_id) == saved
    assert (saved.parent, saved.parent_commit, saved.child) == ("main", commit, "kid")
    assert (saved.purpose, saved.display_name, saved.inheritance_mode) == ("dig", "Digger", "selective")
    assert to_iso(world.clock.now) == saved.created_at.isoformat(timespec="milliseconds").replace("+00:00", "Z")
    assert StoredSpawnPointers(world.db).get(saved.spawn_id + 99) is None


@pytest.mark.requirement("R24", "R28")
def test_a_childs_parent_and_all_of_a_historys_spawns_are_found(world: World) -> None:
    first, second, _ = save(world, "a", "b"), save(world, "b", "c", at_ms=1), save(world, "x", "y")
    assert StoredSpawnPointers(world.db).get_parent("b") == first
    assert StoredSpawnPointers(world.db).get_parent("a") is None
    assert StoredSpawnPointers(world.db).get_all("b") == [first, second]
    assert StoredSpawnPointers(world.db).get_all("a") == [first]
    assert StoredSpawnPointers(world.db).get_all("nobody") == []


@pytest.mark.requirement("R26", "R27")
def test_children_come_in_the_order_of_their_making(world: World) -> None:
    late = save(world, "main", "late", at_ms=5)
    early = save(world, "main", "early", at_ms=1)
    same = [save(world, "main", f"same {number}", at_ms=3) for number in range(3)]
    assert StoredSpawnPointers(world.db).get_children("main") == [early, *same, late]
    assert StoredSpawnPointers(world.db).get_children("early") == []


@pytest.mark.requirement("R25")
def test_a_child_has_one_parent_by_constraint_and_by_a_clear_error(world: World) -> None:
    say(world, "a")
    say(world, "b", branch="other")
    spawn(world, "kid")
    with pytest.raises(Exception, match=r"(?i)unique"):
        save(world, "other", "kid")
    world.db.rollback()
    before = world.dump()
    with pytest.raises(SpawnError) as refusal:
        spawn(world, "kid", parent="other")
    assert (refusal.value.field, refusal.value.value) == ("child", "kid")
    assert refusal.value.fix
    assert world.dump() == before


@pytest.mark.requirement("R29", "R31")
def test_an_ancestor_is_found_through_the_chain(world: World) -> None:
    save(world, "a", "b")
    save(world, "b", "c")
    save(world, "x", "y")
    assert StoredSpawnPointers(world.db).has_ancestor("c", "a")
    assert StoredSpawnPointers(world.db).has_ancestor("c", "b")
    for branch, other in (("a", "c"), ("c", "x"), ("a", "x"), ("c", "c"), ("a", "a"), ("nobody", "a")):
        assert not StoredSpawnPointers(world.db).has_ancestor(branch, other)


@pytest.mark.requirement("R30")
def test_a_chain_of_ten_thousand_is_walked(tmp_path: Any) -> None:
    with open_world(tmp_path, None) as world:
        world.db.begin()
        for number in range(10_000):
            new = NewSpawn(
                parent_branch=str(number),
                parent_commit_id=None,
                child_branch=str(number + 1),
                purpose="",
                inheritance_mode="full_clone",
                display_name=None,
            )
            StoredSpawnPointers(world.db).save(new, "2026-01-01T00:00:00.000Z")
        world.db.commit()
        assert StoredSpawnPointers(world.db).has_ancestor("10000", "0")
        assert len(list(child_branches.ancestors(world.db, "10000"))) == 10_000
        assert not StoredSpawnPointers(world.db).has_ancestor("10000", "nobody")


@pytest.mark.requirement("R30")
def test_a_damaged_chain_that_comes_back_to_itself_ends(world: World) -> None:
    save(world, "a", "b")
    save(world, "b", "c")
    save(world, "c", "a")
    assert list(child_branches.ancestors(world.db, "c")) == ["b", "a"]
    assert not StoredSpawnPointers(world.db).has_ancestor("c", "nobody")
    assert not StoredSpawnPointers(world.db).has_ancestor("c", "c")


@pytest.mark.requirement("R31")
def test_a_spawn_that_would_make_a_cycle_is_refused(world: World) -> None:
    say(world, "a")
    spawn(world, "kid")
    spawn(world, "grandkid", parent="kid")
    before = world.dump()
    for parent, child in (("main", "main"), ("kid", "main"), ("grandkid", "main"), ("grandkid", "kid")):
        with pytest.raises(SpawnCycle, match="descend from itself") as refusal:
            spawn(world, child, parent=parent)
        assert (refusal.value.field, refusal.value.value) == ("child", child)
    assert world.dump() == before


@pytest.mark.requirement("R287")
def test_histories_and_tasks_that_would_come_before_themselves_are_one_kind_of_error(world: World) -> None:
    say(world, "a")
    spawn(world, "kid")
    with pytest.raises(CycleFound) as of_spawns:
        spawn(world, "main", parent="kid")
    with pytest.raises(CycleFound) as of_tasks:
        parse("- [ ] 1. one\n  - Depends: 2\n- [ ] 2. two\n  - Depends: 1\n")
    lines = [{"key": key, "text": key, "depends_on": [other]} for key, other in (("1", "2"), ("2", "1"))]
    with pytest.raises(CycleFound) as of_lines:
        world.call("run.start", task=world.task(), lines=lines, mode="parallel")
    assert isinstance(of_spawns.value, SpawnError)
    assert all(isinstance(each.value, TaskFileInvalid) for each in (of_tasks, of_lines))


def test_a_pointer_keeps_its_commit_from_being_collected(world: World) -> None:
    said = say(world, "a", "b")
    fork(world, "old", said[0])
    spawn(world, "kid", inherit="head_snapshot")
    world.call("history.reset", branch="main", to=said[0])
    world.clock.advance(30 * 86_400)
    collect(world)
    assert StoredSpawnPointers(world.db).get_parent("kid").parent_commit == said[1]  # type: ignore[union-attr]
