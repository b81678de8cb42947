"""`db.check` finds what is damaged, and nothing where nothing is."""

from pathlib import Path

import msgspec
import pytest
from tests.world import World, open_world

from ramet.cli.commands.system.health import database_findings
from ramet.errors import InvalidParams
from ramet.protocol.system.database import LogState
from ramet.store.database import check
from ramet.store.database.blobs import Codec


@pytest.fixture
def furnished(world: World) -> World:
    session = world.session(agent_id="ada")
    for number in range(3):
        world.call("db.messages.append", session_id=session.id, role="user", content=f"turn {number} " * 40)
    return world


def test_a_whole_database_passes_and_is_counted(furnished: World) -> None:
    report = furnished.call("db.check")
    assert (report.passed, report.findings) == (True, [])
    assert (report.counts["messages"], report.counts["sessions"], report.counts["blobs"]) == (3, 1, 3)


@pytest.mark.parametrize(
    ("damage", "check"),
    [
        ("UPDATE blobs SET data = hash WHERE id = 1", "blobs"),
        ("UPDATE blobs SET size = size + 1 WHERE id = 1", "blobs"),
        ("UPDATE blobs SET codec = 9 WHERE id = 1", "blobs"),
        ("UPDATE blobs SET codec = 0 WHERE id = 1", "blobs"),
        ("UPDATE commits SET author = 'eve' WHERE id = 2", "commits"),
        ("UPDATE commits SET role = 'system' WHERE id = 2", "commits"),
        ("UPDATE commits SET parent_id = NULL WHERE id = 3", "commits"),
        ("UPDATE commits SET token_sum = token_sum + 1 WHERE id = 2", "commits"),
        ("UPDATE commits SET metadata = '{}' WHERE id = 2", None),
        ("UPDATE messages SET role = 'system' WHERE id = 2", "messages"),
        ("UPDATE efforts SET ordinal = 5", "efforts"),
        ("INSERT INTO budgets VALUES (1, 1, NULL, NULL, 5, 0.0, NULL)", "budgets"),
        ("UPDATE efforts SET lifecycle = 'finished', finished_at = 'x', outcome = 'error'", "agents"),
    ],
)
def test_damage_is_found_and_named(furnished: World, damage: str, check: str | None) -> None:
    furnished.sql(damage)
    report = furnished.call("db.check")
    assert report.passed is (check is None)
    assert {finding.check for finding in report.findings} >= ({check} if check else set())


def test_a_session_that_serves_an_effort_of_another_task_is_found(furnished: World) -> None:
    other = furnished.effort("do", "/shop/tasks/till")
    furnished.sql("UPDATE sessions SET effort_id = :id", id=other.id)
    assert [finding.check for finding in furnished.call("db.check").findings] == ["sessions"]


def test_a_row_that_points_nowhere_is_found_in_a_sqlite_file(tmp_path: Path) -> None:
    """A server lets no row point nowhere; a file can be written to past its checks."""
    with open_world(tmp_path, None) as world:
        session = world.session()
        world.call("db.messages.append", session_id=session.id, role="user", content="hi")
        world.sql("PRAGMA foreign_keys = OFF")
        world.sql("DELETE FROM efforts")
        world.sql("PRAGMA foreign_keys = ON")
        assert "missing row of efforts" in world.call("db.check").findings[0].detail


def add_damaged(world: World, count: int) -> None:
    for number in range(count):
        world.sql(
            "INSERT INTO blobs (hash, codec, size, data) VALUES (:hash, 0, 1, :data)",
            hash=number.to_bytes(32),
            data=b"xy",
        )


@pytest.mark.requirement("R459")
def test_a_check_in_parts_finds_what_a_whole_one_finds_and_says_how_far_it_is(furnished: World) -> None:
    add_damaged(furnished, 30)
    whole = furnished.call("db.check")
    parts = [furnished.call("db.check", limit=20)]
    while parts[-1].next is not None:
        parts.append(furnished.call("db.check", limit=20, cursor=parts[-1].next))
    assert [each for part in parts for each in part.findings] == whole.findings
    assert (len(whole.findings), parts[-1].counts) == (30, whole.counts)
    checked = [part.checked for part in parts]
    assert checked == sorted(checked)
    assert len(set(checked)) > 2
    assert checked[-1] == parts[-1].rows == whole.rows


@pytest.mark.requirement("R459")
def test_at_most_a_hundred_findings_are_listed_and_the_others_are_counted(furnished: World) -> None:
    add_damaged(furnished, 130)
    report = furnished.call("db.check")
    assert (report.passed, len(report.findings), report.more) == (False, 100, 30)


@pytest.mark.parametrize("cursor", ["blobs", "blobs:-1", "blobs:x", "events:5", "²:²", "blobs:²"])
def test_a_cursor_that_no_check_gave_is_refused(furnished: World, cursor: str) -> None:
    with pytest.raises(InvalidParams) as refused:
        furnished.call("db.check", limit=20, cursor=cursor)
    assert (refused.value.field, refused.value.value) == ("cursor", cursor)


@pytest.mark.requirement("R459")
def test_a_sample_has_the_newest_rows_and_ends_when_its_time_is_over(
    furnished: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(check, "_SMALL_ROWS", 0)
    report = furnished.call("db.sample", milliseconds=1)
    assert (report.passed, report.is_whole, set(report.sampled)) == (True, False, {"blobs", "commits", "pointers"})
    assert all(report.sampled.values())
    add_damaged(furnished, 1)
    assert [finding.check for finding in furnished.call("db.sample", milliseconds=1).findings][:1] == ["blobs"]


def test_a_small_database_is_checked_whole_by_a_sample(furnished: World) -> None:
    assert furnished.call("db.sample").is_whole
    furnished.sql("UPDATE efforts SET ordinal = 5")
    assert [finding.check for finding in furnished.call("db.sample").findings] == ["efforts"]


@pytest.mark.requirement("R459")
def test_doctor_names_the_whole_check_after_a_sample(furnished: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(check, "_SMALL_ROWS", 0)
    (found,) = database_findings.find(furnished.call("db.sample", milliseconds=1))
    assert found.result == "ok"
    assert "`ramet db check` checks everything" in found.text


@pytest.mark.requirement("R459")
def test_doctor_warns_of_a_large_log_and_names_who_reads_it(furnished: World) -> None:
    log = LogState(bytes=262 << 20, limit_bytes=64 << 20, readers=["sqlite3 (pid 7)"])
    report = msgspec.structs.replace(furnished.call("db.sample"), log=log)
    assert [(each.result, "sqlite3 (pid 7)" in each.text) for each in database_findings.find(report)][-1] == (
        "warn",
        True,
    )


@pytest.mark.requirement("R464")
@pytest.mark.parametrize(("failures", "found"), [(1, []), (1000, ["memory"])])
def test_too_little_memory_is_no_sign_of_damage(
    furnished: World, monkeypatch: pytest.MonkeyPatch, failures: int, found: list[str]
) -> None:
    left, unpack = iter(range(failures)), Codec.unpack

    def unpack_with_little_memory(codec: Codec, kind: int, size: int, data: bytes) -> bytes:
        if next(left, None) is not None:
            raise MemoryError
        return unpack(codec, kind, size, data)

    monkeypatch.setattr(Codec, "unpack", unpack_with_little_memory)
    furnished.store.signs.first = None  # a server's store is shared by the tests
    report = furnished.call("db.check")
    assert sorted({finding.check for finding in report.findings}) == found
    assert furnished.store.signs.first is None
