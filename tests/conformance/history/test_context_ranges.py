"""compile reads the part of a branch that it needs, and not more of a longer branch."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.conformance.history.bulk import Reading, write_long_branch
from tests.conformance.history.story import compiled, compress, forget, fork, head, put, say, texts
from tests.conformance.query_plans import plan
from tests.world import DATABASE_NAME, World, open_world


@contextmanager
def long_branch(folder: Path, migrated_file: Path, count: int, size: int = 400) -> Iterator[World]:
    folder.mkdir()
    shutil.copyfile(migrated_file, folder / DATABASE_NAME)
    with open_world(folder, None) as world:
        write_long_branch(world, count, size)
        yield world


def read_of(world: World, **part: Any) -> Reading:
    """What an engine that has compiled nothing yet reads for a part."""
    forget(world)
    before, world.db = world.db, Reading(world)
    reading = world.db
    compiled(world, **part)
    world.db = before
    return reading


@pytest.mark.requirement("R460")
@pytest.mark.parametrize(
    "part", [{"max_tokens": 2000}, {"window": {"first": 5, "last": 5}}, {"limit": 20}, {"max_tokens": 2000, "limit": 5}]
)
def test_a_part_of_a_branch_ten_times_as_long_reads_no_more(
    tmp_path: Path, migrated_file: Path, part: dict[str, Any]
) -> None:
    read = []
    for count in (1000, 10_000):
        with long_branch(tmp_path / str(count), migrated_file, count) as world:
            put(world, "instruction", text="be brief")
            said = read_of(world, **part)
            read.append((said.texts, said.commits))
    assert read[0] == read[1]
    assert read[1][1] < 1000


def test_a_page_in_the_middle_reads_its_own_texts(tmp_path: Path, migrated_file: Path) -> None:
    with long_branch(tmp_path / "long", migrated_file, 3000) as world:
        page = compiled(world, limit=1000)
        assert page.messages[-1]["content"].startswith("1000 ")
        read = read_of(world, limit=10, cursor=page.next)
        assert read.texts <= 256
        assert read.commits <= 600


@pytest.mark.requirement("R460")
@pytest.mark.parametrize(("query", "index"), [("special", "idx_commits_special"), ("merges", "idx_commits_merges")])
def test_special_commits_are_found_without_reading_the_others(world: World, query: str, index: str) -> None:
    say(world, *"abc")
    segment = world.sql("SELECT max(segment_id) FROM commits")[0][0]
    if not world.is_sqlite:
        world.sql("SET enable_seqscan = off")
    shown = plan(world, "history/commits", query, segment_id=segment, first=1, last=9)
    if not world.is_sqlite:
        world.sql("RESET enable_seqscan")
    assert index in shown


def test_an_edit_of_a_hidden_commit_does_not_change_the_summary_in_its_place(world: World) -> None:
    said = say(world, *"abcd")
    compress(world, said[1], said[2], text="b and c")
    for target in said[1:3]:
        world.call("history.edit", branch="main", target=target, text="edited")
    for budget in (None, 100):
        forget(world)
        assert texts(world, max_tokens=budget) == ["a", "b and c", "d"]


def test_a_summary_with_a_given_text_reads_no_text_of_its_range(tmp_path: Path, migrated_file: Path) -> None:
    with long_branch(tmp_path / "long", migrated_file, 2000) as world:
        fork(world, "side")
        log = world.call("history.log", branch="main", limit=1000).items
        before, world.db = world.db, Reading(world)
        reading = world.db
        compress(world, log[-1].hash, log[1].hash, text="in short")
        world.db = before
        assert reading.commits < 20
        assert len(compiled(world).messages) == 1002


def test_a_fast_forward_reads_no_commits(tmp_path: Path, migrated_file: Path) -> None:
    with long_branch(tmp_path / "long", migrated_file, 2000) as world:
        fork(world, "behind", world.call("history.log", branch="main", limit=1000).items[-1].hash)
        before, world.db = world.db, Reading(world)
        reading = world.db
        merged = world.call("history.merge", into="behind", **{"from": "main"})
        world.db = before
        assert (merged.hash, merged.merged) == (head(world), 999)
        assert reading.commits == 0
