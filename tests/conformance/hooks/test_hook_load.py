"""Hooks under load: what one costs depends neither on how many sessions there were nor on how long its own is.

These are the plans of both databases and the numbers of statements; `test_hook_work` counts what is done in all.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.conformance.hook_calls import (
    entry,
    event,
    hook,
    start,
)
from tests.conformance.query_plans import plan, statements
from tests.world import World, open_world

OTHERS, TURNS, SUBAGENTS, MARKS = 2_000, 10_000, 500, 1_000
_NUMBERS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {})"
_NOW = "2026-01-05T08:00:00.000Z"
_TOKENS = "input_tokens, output_tokens, cache_read_tokens, cache_write_tokens"
RUN = {"segment_id": 1, "first": 1, "last": TURNS}
READ: dict[str, Any] = {"tool": "Read", "tool_input": {"file_path": "/shop/src/cart.py"}}


def fill(world: World) -> None:
    """A long session with many sub-agents, and many that were; past the engine, because only their number matters."""
    one = start(world)
    hook(world, "post_tool_use", **READ)
    session = world.call("db.session.get", session_id=one)
    columns = "task_id, effort_id, root_session_id, branch, created_at, driver, native_id"
    values = f"'{session.task_id}', {session.effort_id}, {one}, '{session.branch}', '{_NOW}', 'claude'"
    inserts = {
        f"sessions ({columns}, ended_at, outcome)": (OTHERS, f"{values}, 'other/' || i, '{_NOW}', 'success'"),
        f"sessions ({columns}, parent_session_id)": (SUBAGENTS, f"{values}, 'sub/' || i, {one}"),
        "ingests (path, session_id, read_bytes, at)": (OTHERS, f"'/t/' || i, i + {one}, 1, '{_NOW}'"),
        "messages (session_id, role, commit_id, timestamp)": (TURNS, f"{one}, 'tool', 1, i"),
        f"usage (session_id, key, {_TOKENS})": (TURNS, f"{one}, 'usage/' || i, 1, 1, 1, 1"),
    }
    digest = "unhex(printf('%064d', i))" if world.is_sqlite else "decode(lpad(i::text, 64, '0'), 'hex')"
    columns = "hash, segment_id, seq, blob_id, content_type, role, author, created_ms, tokens, token_sum"
    inserts[f"commits ({columns})"] = (TURNS, f"{digest}, 1, i + 1, 1, 'tool_io', 'tool', 'ada', 0, 0, 0")
    inserts["tags (commit_id, tag)"] = (MARKS, "i, 'compaction/' || i")
    for target, (number, values) in inserts.items():
        world.sql(f"INSERT INTO {target} {_NUMBERS.format(number)} SELECT {values} FROM n")
    world.analyse()


@pytest.fixture(scope="module", params=["sqlite", "postgres"])
def long_session(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    url = None if request.param == "sqlite" else str(request.getfixturevalue("loaded_schema"))
    folder: Path = tmp_path_factory.mktemp("hooks")
    with open_world(folder, url) as world:
        fill(world)
        yield world


@pytest.mark.requirement("R316")
@pytest.mark.parametrize(
    ("index", "noun", "query", "params"),
    [
        ("idx_messages_prompts", "hooks/hooks", "newest_prompt", {"session_id": 1}),
        ("idx_messages_prompts", "hooks/resume_contracts", "prompts", {"session_id": 1}),
        ("idx_messages_provisional", "hooks/hooks", "provisional", {"session_id": 1}),
        ("idx_usage_cost", "record/usage", "has_cost", {"session_id": 1, "prefix": "cost/"}),
        ("idx_sessions_parent", "hooks/hooks", "open_within", {"session_id": 1, "effort_id": 1}),
        ("idx_ingests_session", "hooks/transcripts", "of_session", {"session_id": 1}),
        ("ingests_", "hooks/transcripts", "of_path", {"path": "/t/1"}),
        ("idx_messages_prompts", "hooks/resume_contracts", "first_prompts", {"ids": "[1, 2]"}),
        ("idx_messages_session_ts", "hooks/hooks", "answered", {"ids": "[1, 2]"}),
        ("idx_messages_session_ts", "hooks/transcripts", "tool_of_call", {"session_id": 1, "mark": "t1"}),
        ("idx_messages_lists", "hooks/resume_contracts", "calls", {"session_id": 1, "limit": 500}),
        ("idx_commits_boundaries", "hooks/resume_contracts", "boundaries", {**RUN, "limit": 10}),
        ("idx_commits_boundaries", "hooks/compactions", "done", RUN),
        ("idx_tags_tag", "hooks/compactions", "marked", {**RUN, "tag": "pre-compact/1"}),
    ],
)
def test_what_a_hook_looks_for_is_found_by_an_index(
    long_session: World, index: str, noun: str, query: str, params: Any
) -> None:
    found = plan(long_session, noun, query, **params)
    assert index in found
    assert re.search(r"(SCAN|Seq Scan on) (c|i|m|s|commits|messages|usage|sessions|ingests)\b", found) is None


@pytest.mark.requirement("R316")
@pytest.mark.parametrize(
    ("moment", "said", "most"),
    [
        ("pre_tool_use", {"tool": "Bash"}, 3),
        ("post_tool_use", {"tool": "Bash"}, 3),
        ("post_tool_use", READ, 4),
        ("stop", {}, 3),
        ("status_line", {"usage": {"cost_usd": 1.0, "context_percent": 20}}, 9),
    ],
)
def test_a_hook_takes_a_fixed_number_of_statements(long_session: World, moment: str, said: Any, most: int) -> None:
    facts = {"project": "/shop"}
    assert statements(long_session, "hooks.record", event=event(moment, **said), facts=facts)[0] <= most


@pytest.mark.requirement("R316")
def test_a_tree_takes_a_fixed_number_of_statements(long_session: World) -> None:
    count, tree = statements(long_session, "spawn.tree", session_id=1)
    assert len(tree.items) > SUBAGENTS
    assert count <= 6


def test_a_line_of_a_transcript_takes_a_fixed_number_of_statements(long_session: World) -> None:
    lines = [entry(f"u{number}", f"line {number}") for number in range(3)]
    counts = [
        statements(long_session, "ingest.add", session_id=1, path="/t/long", offset=1, entries=lines[:number])[0]
        for number in (1, 2, 3)
    ]
    assert counts[2] - counts[1] == counts[1] - counts[0] <= 6
