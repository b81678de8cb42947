"""What the engine remembers of contexts is bounded in bytes."""

import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.conformance.history.bulk import Reading, write_long_branch
from tests.conformance.history.story import compiled, say
from tests.world import DATABASE_NAME, World, open_world

from ramet.engine import context_cache
from ramet.engine.context_cache import Bounded, ContextCache


@pytest.fixture
def world(tmp_path: Path, migrated_file: Path) -> Iterator[World]:
    shutil.copyfile(migrated_file, tmp_path / DATABASE_NAME)
    with open_world(tmp_path, None) as opened:
        yield opened


def cache_of(world: World) -> ContextCache:
    return world.engine._contexts


def test_values_that_were_used_longest_ago_make_room() -> None:
    kept: Bounded[str, int] = Bounded(10)
    for key in "abc":
        kept.keep(key, 1, 4)
    assert (kept.find("a"), kept.find("b"), kept.bytes) == (None, 1, 8)
    kept.keep("d", 1, 4)
    assert (kept.find("b"), kept.find("c"), len(kept)) == (1, None, 2)


def test_a_value_larger_than_the_bound_is_not_kept_and_drops_no_other() -> None:
    kept: Bounded[str, int] = Bounded(10)
    kept.keep("a", 1, 6)
    kept.keep("b", 1, 11)
    assert (kept.values(), kept.bytes) == ([1], 6)
    kept.keep("a", 2, 11)
    assert (kept.find("a"), kept.bytes) == (None, 0)


@pytest.mark.requirement("R460")
def test_a_context_larger_than_the_bound_is_not_kept(world: World) -> None:
    say(world, *(f"{number} " + "word " * 500_000 for number in range(18)))
    assert len(compiled(world).messages) == 18
    assert cache_of(world).bytes == 0
    say(world, "small", branch="side")
    compiled(world, "side")
    assert 0 < cache_of(world).bytes < 10_000


@pytest.mark.requirement("R460")
def test_many_contexts_stay_within_the_bound_in_every_format(world: World) -> None:
    for branch in range(8):
        say(world, *(f"{branch} " + "word " * 200_000 for _ in range(5)), branch=f"b{branch}")
        for form in ("openai", "anthropic", "text"):
            compiled(world, f"b{branch}", format=form)
            assert cache_of(world).bytes <= context_cache._MOST_BYTES
    assert cache_of(world).bytes > context_cache._MOST_BYTES / 2


def test_ten_thousand_commits_of_two_kilobytes_are_kept_and_an_append_reads_only_itself(world: World) -> None:
    write_long_branch(world, 10_000, size=2000)
    compiled(world)
    say(world, "more")
    world.db = reading = Reading(world)
    assert len(compiled(world).messages) == 10_001
    assert reading.texts == 1
    world.db = reading.inner


_PAGES = """
import sys
from pathlib import Path
import ramet
with ramet.open(sys.argv[1]) as r:
    cursor, count, pages = None, 0, 0
    while pages == 0 or cursor is not None:
        page = r.history.compile("main", limit=1000, cursor=cursor)
        cursor, count, pages = page.next, count + len(page.messages), pages + 1
    # Not ru_maxrss, which keeps what the process that started this one had before.
    status = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
    print(count, pages, page.tokens, status["VmHWM"].split()[0])
"""


@pytest.mark.slow
@pytest.mark.requirement("R447")
def test_a_branch_of_160_000_commits_is_compiled_page_by_page_in_200_mb(tmp_path: Path, migrated_file: Path) -> None:
    shutil.copyfile(migrated_file, tmp_path / DATABASE_NAME)
    with open_world(tmp_path, None) as world:
        write_long_branch(world, 160_000, size=1000)
    done = subprocess.run(
        [sys.executable, "-c", _PAGES, str(tmp_path / DATABASE_NAME)],
        capture_output=True,
        text=True,
        check=True,
        timeout=300,
    )
    count, pages, tokens, peak_kilobytes = map(int, done.stdout.split())
    assert (count, pages) == (160_000, 160)
    assert tokens > 39_000_000
    assert peak_kilobytes < 200_000
