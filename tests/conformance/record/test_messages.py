"""Messages: the transcript of record, each turn a commit on the session's branch."""

from typing import Any

import pytest
from tests.world import World, open_world

from ramet.config.settings import LimitSettings
from ramet.errors import InvalidParams, ParseError


def append(world: World, session_id: Any, content: str, role: str = "user", **params: Any) -> Any:
    return world.call("db.messages.append", session_id=session_id, role=role, content=content, **params)


def contents(world: World, session_id: Any, **params: Any) -> list[str]:
    return [message.content for message in world.call("db.messages.list", session_id=session_id, **params).items]


@pytest.mark.requirement("R195", "R236")
def test_a_message_is_appended_and_read_back_with_all_that_it_says(world: World) -> None:
    session = world.session()
    sent = append(world, session.id, "ls -l", "tool", tool_name="Bash")
    assert (sent.session_id, sent.role, sent.content, sent.tool_name) == (session.id, "tool", "ls -l", "Bash")
    assert len(bytes.fromhex(sent.commit)) == 32
    assert world.call("db.messages.list", session_id=session.id).items == [sent]


@pytest.mark.requirement("R195", "R236")
def test_a_transcript_is_in_the_order_of_its_appends(world: World) -> None:
    session, other = world.session(), world.session("plan")
    said = [("system", "be brief"), ("user", "hi"), ("assistant", "hello"), ("tool", "ok"), ("user", "hi")]
    for role, content in said:
        append(world, session.id, content, role)
        append(world, other.id, "noise")
    listed = world.call("db.messages.list", session_id=session.id).items
    assert [(message.role, message.content) for message in listed] == said
    assert len({message.commit for message in listed}) == 5


@pytest.mark.requirement("R236")
@pytest.mark.parametrize(
    ("limit", "offset", "expected", "next_offset"),
    [(2, 0, [0, 1], 2), (2, 2, [2, 3], 4), (2, 4, [4], None), (5, 0, [0, 1, 2, 3, 4], None), (3, 9, [], None)],
)
def test_a_transcript_is_read_in_pages(
    world: World, limit: int, offset: int, expected: list[int], next_offset: int | None
) -> None:
    session = world.session()
    for number in range(5):
        append(world, session.id, str(number))
    page = world.call("db.messages.list", session_id=session.id, limit=limit, offset=offset)
    assert [int(message.content) for message in page.items] == expected
    assert page.next == next_offset


@pytest.mark.requirement("R236")
@pytest.mark.parametrize(
    ("limit", "expected", "earlier"), [(2, [3, 4], 3), (5, [0, 1, 2, 3, 4], 0), (9, [0, 1, 2, 3, 4], 0)]
)
def test_a_transcript_is_read_from_its_end(world: World, limit: int, expected: list[int], earlier: int) -> None:
    session, other = world.session(), world.session("plan")
    for number in range(5):
        append(world, session.id, str(number))
        append(world, other.id, "noise")
    page = world.call("db.messages.list", session_id=session.id, limit=limit, newest=True)
    assert [int(message.content) for message in page.items] == expected
    assert (page.earlier, page.next) == (earlier, None)
    assert world.call("db.messages.list", session_id=session.id, offset=2).earlier == 2


@pytest.mark.requirement("R236")
def test_a_limit_above_the_maximum_is_cut_and_not_refused(tmp_path: Any, database_url: str | None) -> None:
    with open_world(tmp_path, database_url, LimitSettings(page_max=3)) as world:
        session = world.session()
        for number in range(4):
            append(world, session.id, str(number))
        page = world.call("db.messages.list", session_id=session.id, limit=2**31 - 1)
        assert ([message.content for message in page.items], page.next) == (["0", "1", "2"], 3)
        events = world.call("events.list", limit=1000)
        assert (len(events.items), events.next) == (3, events.items[-1].id)


@pytest.mark.requirement("R236", "R253")
@pytest.mark.parametrize(("field", "value"), [("limit", 0), ("limit", -1), ("offset", -1), ("limit", "ten")])
def test_a_page_that_cannot_be_is_refused(world: World, field: str, value: Any) -> None:
    session = world.session()
    with pytest.raises(InvalidParams) as refusal:
        world.call("db.messages.list", session_id=session.id, **{field: value})
    assert (refusal.value.field, refusal.value.value) == (field, value)


@pytest.mark.requirement("R195", "R236")
@pytest.mark.parametrize(
    "content",
    [
        "",
        " \n\t",
        "Grüße, 世界 \U0001f680 \u202e",
        "a\u0000b\u0000",
        "\r\n\x1b[31m",
        "'; DROP TABLE messages; --",
        "é vs e\u0301",
        "%s %(x)s :name ?",
        "\ufeffbom",
    ],
)
def test_any_text_comes_back_as_it_was_said(world: World, content: str) -> None:
    session = world.session()
    assert append(world, session.id, content).content == content
    assert contents(world, session.id) == [content]


@pytest.mark.requirement("R195", "R236")
@pytest.mark.parametrize("unit", ["0123456789abcdef", "\U0001f680\u0000é\n"])
def test_a_megabyte_comes_back_whole(world: World, unit: str) -> None:
    session = world.session()
    content = unit * (1_048_576 // len(unit))
    append(world, session.id, content)
    assert contents(world, session.id) == [content]


@pytest.mark.requirement("R253")
@pytest.mark.parametrize(
    ("name", "params", "field"),
    [
        ("db.messages.append", {"session_id": 1, "role": "tool", "content": "x", "tool_name": "a\0b"}, "tool_name"),
        ("db.project.upsert", {"path": "/a\0b"}, "path"),
        ("db.project.upsert", {"path": "/a", "name": "\0"}, "name"),
        ("db.task.upsert", {"dir_path": "/shop/\0"}, "dir_path"),
        ("db.task.find", {"query": "\0"}, "query"),
        ("db.agents.register", {"id": "a\0"}, "id"),
        ("db.agents.register", {"id": "a", "claims": ["\0"]}, "claims[0]"),
        ("db.session.updateLoadedFiles", {"session_id": 1, "files": ["/a\0"]}, "files[0]"),
        ("db.session.heartbeat", {"session_id": "claude:\0"}, "session_id"),
        ("db.effort.start", {"task_id": "/shop", "skill": "do", "idempotency_key": "\0"}, "idempotency_key"),
    ],
)
def test_nul_is_allowed_in_what_is_said_and_nowhere_else(
    world: World, name: str, params: dict[str, Any], field: str
) -> None:
    with pytest.raises(InvalidParams) as refusal:
        world.call(name, **params)
    assert refusal.value.field == field
    assert "NUL" in refusal.value.fix


@pytest.mark.requirement("R253")
@pytest.mark.parametrize("text", ["\ud800", "a\udfff", "\ude80\ud83d"])
def test_half_of_a_surrogate_pair_is_no_text(world: World, text: str) -> None:
    session = world.session()
    before = world.dump()
    for name, params in (
        ("db.messages.append", {"session_id": session.id, "role": "user", "content": text}),
        ("db.task.upsert", {"dir_path": f"/shop/{text}"}),
        ("db.task.upsert", {"dir_path": "/shop", "title": text}),
        ("db.session.finish", {"session_id": session.id, "dehydration_payload": {"a": text}}),
    ):
        with pytest.raises(ParseError):
            world.call(name, **params)
    assert world.dump() == before


@pytest.mark.requirement("R236")
def test_a_session_that_has_ended_still_takes_what_comes_late(world: World) -> None:
    session = world.session()
    world.call("db.session.finish", session_id=session.id)
    append(world, session.id, "late")
    assert contents(world, session.id) == ["late"]


@pytest.mark.requirement("R195", "R253")
@pytest.mark.parametrize("role", ["User", "oracle", "", None, 1])
def test_a_role_outside_the_four_is_refused_and_the_four_are_named(world: World, role: Any) -> None:
    session = world.session()
    with pytest.raises(InvalidParams) as refusal:
        world.call("db.messages.append", session_id=session.id, role=role, content="x")
    assert (refusal.value.field, refusal.value.value) == ("role", role)
    assert all(known in refusal.value.fix for known in ("user", "assistant", "system", "tool"))


@pytest.mark.requirement("R236")
def test_equal_contents_are_stored_once(world: World) -> None:
    session = world.session()
    for _ in range(3):
        append(world, session.id, "the same " * 100)
    assert world.sql("SELECT count(*) FROM messages") == [(3,)]
    assert world.sql("SELECT count(*) FROM blobs") == [(1,)]


@pytest.mark.requirement("R236")
def test_the_same_turns_of_two_sessions_share_their_commits(world: World) -> None:
    first, second = world.session(), world.session("plan")
    for session in (first, second):
        append(world, session.id, "a")
        append(world, session.id, "b")
    append(world, second.id, "c")
    append(world, first.id, "d")
    assert contents(world, first.id) == ["a", "b", "d"]
    assert contents(world, second.id) == ["a", "b", "c"]
    assert world.sql("SELECT count(*) FROM commits") == [(4,)]
    report = world.call("db.check")
    assert (report.findings, report.passed, report.counts["messages"]) == ([], True, 6)
