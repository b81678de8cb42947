"""An archive imports again to the same histories, once, into any database; and a bad one leaves nothing behind."""

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import zstandard
from tests.conformance import queue_worker
from tests.conformance.history import story
from tests.conformance.memory import archive_steps as steps
from tests.conformance.stored_text import everything
from tests.model.redaction.planted import Maker
from tests.world import World, open_world

from ramet.cli.commands.memory.archives import file as archive_file
from ramet.engine import Engine
from ramet.engine.transaction import Rules
from ramet.errors import ArchiveInvalid, ArchiveVersion, InvalidParams
from ramet.model.memory.exports.archive import LONGEST_LINE_BYTES
from ramet.model.memory.exports.archive_tables import LEFT_OUT_COLUMNS, LEFT_OUT_TABLES, TABLES
from ramet.model.redaction import Redactor
from ramet.protocol.memory.archives import AddArchiveRows
from ramet.store.database.blobs import Codec

TOKEN = Maker(398).expand("glpat-{b20}")

COLUMNS_BY_OTHER_NAMES: dict[str, set[str]] = {
    "blobs": {"codec", "data"},
    "branches": {"commit_id"},
    "collapses": {"commit_id", "child_head_id"},
    "commits": {"segment_id", "seq", "parent_id", "second_parent_id", "blob_id", "target_id", "token_sum"},
    "messages": {"commit_id"},
    "moves": {"branch_name", "old_commit_id", "new_commit_id"},
    "projects": set(),
    "runs": {"project_id"},
    "skills": {"project_id"},
    "spawn_pointers": {"parent_commit_id"},
    "tasks": {"project_id"},
}
"""What an archive says in another way: it names rows by hashes, paths and branches, and has texts unpacked."""


@pytest.mark.requirement("R398")
def test_an_archive_imports_to_identical_hashes_and_a_second_import_writes_no_row(
    world: World, tmp_path: Path, migrated_file: Path
) -> None:
    steps.fill(world)
    path = steps.export(world, tmp_path)
    with steps.another(tmp_path, migrated_file) as other:
        report = steps.import_into(other, path)
        assert steps.hashes(other) == steps.hashes(world)
        assert steps.counts(other) == steps.counts(world)
        assert steps.findings(other) == []
        assert report.renamed == {}
        before = other.dump()
        again = steps.import_into(other, path)
        assert again.added == {}
        assert other.dump() == before


@pytest.mark.requirement("R398")
def test_an_archive_goes_from_database_to_database_and_comes_home_without_a_copy(
    world: World, tmp_path: Path, migrated_file: Path
) -> None:
    """SQLite to this database and back: the one that it came from knows its own sessions."""
    with steps.another(tmp_path, migrated_file) as first:
        steps.fill(first)
        steps.import_into(world, steps.export(first, tmp_path))
        story.say(world, "said here", branch="new")
        back = steps.export(world, tmp_path)
        rows = steps.counts(first)
        steps.import_into(first, back)
        assert steps.hashes(first) == steps.hashes(world)
        after = steps.counts(first)
        grown = {table: after[table] - rows[table] for table in rows if after[table] != rows[table]}
        assert set(grown) <= {"blobs", "commits", "branches"}
        assert steps.findings(first) == steps.findings(world) == []


@pytest.mark.requirement("R398")
def test_taken_names_and_numbers_make_way_and_queued_work_does_not_run_again(
    world: World, tmp_path: Path, migrated_file: Path
) -> None:
    with steps.another(tmp_path, migrated_file) as other:
        steps.fill(other)
        queue_worker.start(world, "host/1")
        story.say(world, "another main")
        mine = story.texts(world)
        report = steps.import_into(world, steps.export(other, tmp_path))
        assert story.texts(world) == mine
        assert report.renamed["main"].startswith("imported/bbbbbbbb/")
        assert story.texts(world, report.renamed["main"]) == story.texts(other)
        assert world.sql("SELECT count(*) FROM efforts WHERE lifecycle = 'queued'") == [(0,)]
        assert steps.findings(world) == []
        assert steps.import_into(world, steps.export(other, tmp_path)).added == {}


@pytest.mark.requirement("R398")
def test_a_session_an_effort_a_run_and_a_project_can_be_exported_alone(
    world: World, tmp_path: Path, migrated_file: Path
) -> None:
    above = steps.fill(world)
    run = world.call("run.list").items[0]
    for scope in (
        {"session_id": above.session.id},
        {"effort_id": above.effort.id},
        {"run_id": run.id},
        {"project": "/shop"},
    ):
        with steps.another(tmp_path, migrated_file) as other:
            report = steps.import_into(other, steps.export(world, tmp_path, **scope))
            assert report.added["sessions"] >= 2
            assert steps.findings(other) == []
            assert set(steps.hashes(other)["commits"]) < set(steps.hashes(world)["commits"])
    with pytest.raises(InvalidParams):
        world.call("memory.export", path=str(tmp_path / "none"))


@pytest.mark.requirement("R398")
def test_an_interrupted_import_is_completed_by_the_next(world: World, tmp_path: Path, migrated_file: Path) -> None:
    with steps.another(tmp_path, migrated_file) as source:
        steps.fill(source)
        path = steps.export(source, tmp_path)
        rows = [row for part in archive_file.verify(path).parts() for row in part.rows]
        for stop in range(0, len(rows), 25):  # as if the command had been killed there
            part = rows[stop : stop + 25][:20]
            if stop == 0:
                world.perform("user", AddArchiveRows.op, AddArchiveRows(origin="b" * 32, exported_at="x", rows=part))
        steps.import_into(world, path)
        assert steps.hashes(world) == steps.hashes(source)
        assert steps.counts(world) == steps.counts(source)
        assert steps.findings(world) == []


def rewrite(path: Path, change: Callable[[list[dict[str, Any]]], Any]) -> Path:
    """The same archive with other lines, and with the hash and the counts that these have."""
    lines = [
        json.loads(line) for line in zstandard.ZstdDecompressor().stream_reader(path.read_bytes()).read().splitlines()
    ]
    lines = change(lines) or lines
    body = b"".join(json.dumps(line).encode() + b"\n" for line in lines[:-1])
    counts: dict[str, int] = {}
    for line in lines[1:-1]:
        counts[line["table"]] = counts.get(line["table"], 0) + 1
    end = {"end": True, "counts": counts, "sha256": hashlib.sha256(body).hexdigest()}
    bad = path.with_suffix(".bad")
    bad.write_bytes(zstandard.ZstdCompressor().compress(body + json.dumps(end).encode() + b"\n"))
    return bad


def first(lines: list[dict[str, Any]], table: str) -> dict[str, Any]:
    return next(line for line in lines[1:-1] if line["table"] == table)


def set_value(table: str, column: str, value: Any) -> Callable[[list[dict[str, Any]]], None]:
    return lambda lines: first(lines, table)["values"].update({column: value})


HOSTILE: dict[str, Callable[[list[dict[str, Any]]], Any]] = {
    "another text": set_value("blobs", "text", "something else"),
    "no text and no tombstone": set_value("blobs", "text", None),
    "another author": set_value("commits", "author", "mallory"),
    "a parent that is not there": set_value("commits", "parent", "0" * 64),
    "its own parent": lambda lines: first(lines, "sessions")["values"].update(
        parent_session_id=first(lines, "sessions")["values"]["id"]
    ),
    "an effort that is not there": set_value("sessions", "effort_id", 10**9),
    "a number as a text": set_value("efforts", "prompt", 7),
    "a number that is too large": set_value("efforts", "priority", 2**70),
    "a column too many": set_value("projects", "evil", 1),
    "an unknown table": lambda lines: first(lines, "projects").update(table="sqlite_master"),
    "rows twice": lambda lines: [*lines[:2], lines[1], *lines[2:]],
    "rows in another order": lambda lines: [lines[0], *reversed(lines[1:-1]), lines[-1]],
}


@pytest.mark.requirement("R398")
@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_archive_is_refused_with_its_line_before_anything_is_written(
    name: str, tmp_path: Path, migrated_file: Path
) -> None:
    with steps.another(tmp_path, migrated_file) as source:
        steps.fill(source)
        bad = rewrite(steps.export(source, tmp_path), HOSTILE[name])
        before = source.dump()
        with pytest.raises(ArchiveInvalid, match=r"line \d+: "):
            steps.import_into(source, bad)
        assert source.dump() == before


@pytest.mark.requirement("R398")
def test_another_version_a_torn_file_and_a_bomb_have_their_own_errors(tmp_path: Path, migrated_file: Path) -> None:
    with steps.another(tmp_path, migrated_file) as source:
        steps.fill(source)
        good = steps.export(source, tmp_path)
    with pytest.raises(ArchiveVersion, match="version 99"):
        archive_file.verify(rewrite(good, lambda lines: lines[0].update(version=99)))
    torn = tmp_path / "torn.ramet"
    torn.write_bytes(good.read_bytes()[:-40])
    with pytest.raises(ArchiveInvalid):
        archive_file.verify(torn)
    bomb = tmp_path / "bomb.ramet"
    with bomb.open("wb") as file, zstandard.ZstdCompressor().stream_writer(file) as stream:
        for _ in range(LONGEST_LINE_BYTES // (1 << 20) + 2):
            stream.write(b" " * (1 << 20))
    assert bomb.stat().st_size < 100_000
    with pytest.raises(ArchiveInvalid, match="more than"):
        archive_file.verify(bomb)
    text = tmp_path / "text.ramet"
    text.write_bytes(zstandard.ZstdCompressor().compress(b"hello\n"))
    with pytest.raises(ArchiveInvalid, match="no archive"):
        archive_file.verify(text)


@pytest.mark.requirement("R398")
def test_the_daemon_itself_refuses_rows_that_do_not_fit(world: World, tmp_path: Path, migrated_file: Path) -> None:
    with steps.another(tmp_path, migrated_file) as source:
        steps.fill(source)
        path = steps.export(source, tmp_path)
    bad = rewrite(path, set_value("blobs", "text", "something else"))
    digest = hashlib.sha256(zstandard.ZstdDecompressor().stream_reader(bad.read_bytes()).read()).digest()
    archive = archive_file.Archive(bad, archive_file.verify(path).header, {}, digest)
    before = world.dump()
    (part, *_) = archive.parts()
    with pytest.raises(ArchiveInvalid, match="hash"):
        world.perform("user", AddArchiveRows.op, part)
    assert world.dump() == before


def test_every_table_and_column_is_in_an_archive_or_left_out_for_a_reason(tmp_path: Path, migrated_file: Path) -> None:
    with steps.another(tmp_path, migrated_file) as other:
        tables = [
            name
            for (name,) in other.sql("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'")
        ]
        assert set(tables) - set(TABLES) == set(LEFT_OUT_TABLES)
        for table, spec in TABLES.items():
            if table == "effort_links":
                continue
            columns = {row[1] for row in other.sql(f"PRAGMA table_info({table})")}
            known = {column.name for column in spec.columns} | set(LEFT_OUT_COLUMNS.get(table, ()))
            missing = columns - known - {"id"} - COLUMNS_BY_OTHER_NAMES.get(table, set())
            assert missing == set(), f"{table}: put the new columns into archives, or say why they are left out"


@pytest.mark.requirement("R398")
def test_the_archive_of_this_release_can_still_be_read(tmp_path: Path, migrated_file: Path) -> None:
    golden = Path("tests/golden/archives/1.ramet")
    expected = json.loads(golden.with_suffix(".json").read_text())
    with steps.another(tmp_path, migrated_file, origin="c" * 32) as other:
        steps.import_into(other, golden)
        assert steps.hashes(other) == expected["hashes"]
        assert steps.findings(other) == []


def test_a_secret_in_an_archive_is_not_stored(world: World, tmp_path: Path) -> None:
    (tmp_path / "leaky").mkdir()
    with open_world(tmp_path / "leaky", None) as leaky:
        leaky.engine = Engine(Rules(), codec=Codec(), redactor=Redactor(is_enabled=False))
        leaky.call("history.commit", branch="main", text=f"use {TOKEN} now", metadata={"note": TOKEN})
        path = steps.export(leaky, tmp_path)
        steps.import_into(world, path)
        assert TOKEN not in everything(world)
        assert steps.hashes(world) == steps.hashes(leaky)
        assert steps.findings(world) == []
