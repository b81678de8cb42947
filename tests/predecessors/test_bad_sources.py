"""Sources that cannot be imported: a typed error names the field, the value and the fix, and nothing was sent."""

import json
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

import pytest
from tests.predecessors import sources
from tests.predecessors.sources import event, workrail_events

from ramet.errors import ImportSourceInvalid
from ramet.predecessors import registry, transfer

Make = Callable[[Path], Path]


def altered(make: Make, *statements: str) -> Make:
    """A database in which something was changed by hand."""

    def build(folder: Path) -> Path:
        path = make(folder)
        with sqlite3.connect(path) as database:
            for statement in statements:
                database.execute(statement)
        database.close()
        return path

    return build


def written(name: str, data: bytes) -> Make:
    """A file with these bytes."""

    def build(folder: Path) -> Path:
        (folder / name).write_bytes(data)
        return folder / name

    return build


def engine(folder: Path) -> Path:
    return sources.make_engine(folder / "e.db")


def gza(folder: Path) -> Path:
    return sources.make_gza(folder / "g.db")


def tract(folder: Path) -> Path:
    return sources.make_tract(folder / "t.db")


def checkpoint(**changes: Any) -> Make:
    return lambda folder: sources.make_aurora(folder / "c.json", **changes)


def log(events: list[dict[str, Any]]) -> Make:
    return lambda folder: sources.make_workrail_file(folder / "s.jsonl", events)


def torn_segment(folder: Path) -> Path:
    path = sources.make_workrail(folder / "sess_a", workrail_events())
    segment = next((path / "events").iterdir())
    segment.write_bytes(segment.read_bytes()[:-20])
    return path


def outside(folder: Path) -> Path:
    path = sources.make_workrail(folder / "sess_a", workrail_events())
    manifest = path / "manifest.jsonl"
    manifest.write_text(manifest.read_text().replace("events/", "../../events/"))
    return path


def families(folder: Path) -> Path:
    for name, parent in (("a", "b"), ("b", "a")):
        sources.make_workrail(folder / name, workrail_events(name, parent=parent))
    return folder


def cut(make: Make) -> Make:
    def build(folder: Path) -> Path:
        path = make(folder)
        path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
        return path

    return build


CASES: dict[str, tuple[Make, Any, Any]] = {
    "a newer tract": (
        lambda folder: sources.make_tract(folder / "t.db", said="13"),
        "_trace_meta.schema_version",
        "13",
    ),
    "an older tract": (lambda folder: sources.make_tract(folder / "t.db", said="1"), "_trace_meta.schema_version", "1"),
    "a tract without a version": (altered(tract, "DELETE FROM _trace_meta"), "_trace_meta.schema_version", None),
    "a tract without annotations": (altered(tract, "DROP TABLE annotations"), "path", ...),
    "a tract whose commits go in a circle": (
        altered(tract, f"UPDATE commits SET parent_hash = '{sources.named('join')}' WHERE parent_hash IS NULL"),
        "commits.parent_hash",
        ...,
    ),
    "a newer gza": (lambda folder: sources.make_gza(folder / "g.db", 5, said=65), "schema_version.version", 65),
    "a gza without a version": (altered(gza, "DELETE FROM schema_version"), "schema_version.version", None),
    "a gza without prompts": (altered(gza, "ALTER TABLE tasks DROP COLUMN prompt"), "path", ...),
    "a gza whose tasks wait for each other": (
        altered(gza, "UPDATE tasks SET depends_on = 2 WHERE id = 1"),
        "tasks.depends_on",
        ...,
    ),
    "a newer engine": (lambda folder: sources.make_engine(folder / "e.db", version=9), "user_version", 9),
    "an engine without messages": (altered(engine, "DROP TABLE messages"), "path", ...),
    "an engine whose sessions continue each other": (
        altered(engine, "UPDATE sessions SET prev_session_id = 2 WHERE id = 1"),
        "sessions.prev_session_id",
        ...,
    ),
    "an engine with a relative project": (
        altered(engine, "UPDATE projects SET path = 'shop'"),
        "projects.path",
        "shop",
    ),
    "half of a database": (cut(engine), "path", ...),
    "another program's database": (altered(written("x.db", b""), "CREATE TABLE notes (id)"), "path", ...),
    "noise in the place of a database": (written("x.db", bytes(range(256)) * 20), "path", ...),
    "noise in the place of a document": (written("x.json", b"\xff\xfe{" * 9), "path", ...),
    "an empty file": (written("x.jsonl", b""), "path", ...),
    "half of a checkpoint": (cut(checkpoint()), "path", ...),
    "a checkpoint without a start": (
        written("c.json", json.dumps({"execution_id": "x", "tasks": []}).encode()),
        "started_at",
        None,
    ),
    "a checkpoint whose id is a number": (checkpoint(execution_id=7), "execution_id", 7),
    "a checkpoint with an unknown status": (
        checkpoint(tasks=[{"id": "1", "status": "paused"}]),
        "tasks[0].status",
        "paused",
    ),
    "a checkpoint whose task has no id": (checkpoint(tasks=[{"status": "pending"}]), "tasks[0].id", None),
    "a checkpoint whose tasks are no list": (checkpoint(tasks="all"), "tasks", "all"),
    "a conversation with an unknown role": (
        checkpoint(conversation=[{"role": "oracle", "content": "x"}]),
        "conversation[0].role",
        "oracle",
    ),
    "a conversation without a text": (checkpoint(conversation=[{"role": "user"}]), "conversation[0].content", None),
    "a log with a cut line": (cut(log(workrail_events())), ..., ...),
    "a log of a newer version": (log([{**workrail_events()[0], "v": 2}]), "v", 2),
    "a log with a gap": (log([workrail_events()[0], event(5, "run_started", {})]), "eventIndex", 5),
    "a log of two sessions": (log([workrail_events()[0], event(1, "x", {}, "sess_b")]), "eventIndex", 1),
    "a log without its beginning": (log([event(0, "run_started", {})]), "kind", "run_started"),
    "a segment that was cut": (torn_segment, "sha256", ...),
    "a segment outside of its session": (outside, "segmentRelPath", ...),
    "sessions that spawned each other": (families, "parentSessionId", ...),
}


def refuse(_request: object) -> NoReturn:
    raise AssertionError("a request was sent")


def import_all(path: Path) -> None:
    for source in registry.require_sources(path, "/shop"):
        transfer.transfer(source, refuse)


@pytest.mark.requirement("R384")
@pytest.mark.parametrize("what", CASES)
def test_a_bad_source_is_refused_before_anything_is_sent(tmp_path: Path, what: str) -> None:
    make, field, value = CASES[what]
    path = make(tmp_path)
    with pytest.raises(ImportSourceInvalid) as refusal:
        import_all(path)
    error = refusal.value
    assert str(tmp_path) in error.message
    assert field is ... or error.field == field
    assert value is ... or error.value == value
    assert error.fix
    assert error.exit_status == 2


@pytest.mark.requirement("R384")
def test_what_is_of_no_earlier_system_is_not_found(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text('{"a": 1}')
    (tmp_path / "b.jsonl").write_text('{"a": 1}\n')
    assert registry.find_sources(tmp_path / "a.json", "/shop") == []
    assert registry.find_sources(tmp_path / "b.jsonl", "/shop") == []
    assert registry.find_sources(tmp_path, "/shop") == []
    with pytest.raises(ImportSourceInvalid, match="of no system that Ramet knows"):
        registry.require_sources(tmp_path / "a.json", "/shop")


@pytest.mark.requirement("R384")
def test_a_row_that_no_request_can_carry_is_refused_before_anything_is_sent(tmp_path: Path) -> None:
    said = [(1, 1, "user", "x" * 5000, None, None)]
    (source,) = registry.require_sources(sources.make_engine(tmp_path / "e.db", messages=said), "/shop")
    with pytest.raises(ImportSourceInvalid, match="row 1 of messages is larger than"):
        transfer.transfer(source, refuse, max_request_bytes=8192)


@pytest.mark.requirement("R384")
def test_a_database_in_wal_mode_is_read_without_writing_beside_it(tmp_path: Path) -> None:
    path = altered(engine, "PRAGMA journal_mode = WAL")(tmp_path)
    writer = sqlite3.connect(path)
    writer.execute("INSERT INTO messages VALUES (50, 1, 'user', 'still in the log', NULL, NULL)")
    writer.commit()
    before = {each.name: each.read_bytes() for each in tmp_path.iterdir() if not each.name.endswith("-shm")}
    (source,) = registry.require_sources(path, "/shop")
    assert "still in the log" in [
        row.values["content"] for row in source.rows() if row.table == "messages" and row.values
    ]
    after = {each.name: each.read_bytes() for each in tmp_path.iterdir() if not each.name.endswith("-shm")}
    writer.close()
    assert after == before
