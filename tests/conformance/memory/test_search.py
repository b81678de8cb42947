"""Searching what is remembered: what is found, by which rung, within which filters and scopes."""

from typing import Any

import pytest
from tests.conformance import hook_calls, queue_worker
from tests.world import World

from ramet.errors import Forbidden, InvalidParams, UnknownFilter
from ramet.model.principal import of_session


def say(world: World, session_id: int, content: str, role: str = "assistant", **params: Any) -> int:
    sent = world.call("db.messages.append", session_id=session_id, role=role, content=content, **params)
    return int(sent.id)


def search(world: World, query: str, **params: Any) -> Any:
    return world.call("memory.search", query=query, **params)


def found(world: World, query: str, **params: Any) -> list[tuple[str, str]]:
    return [(hit.place, hit.rung) for hit in search(world, query, **params).items]


@pytest.mark.requirement("R386")
def test_a_hit_names_its_session_place_time_rung_and_the_commands_that_open_and_resume_it(world: World) -> None:
    world.engine._rules = world.engine._rules.__class__(resume_commands={"claude": ("claude", "--resume")})
    session = world.session(driver="claude", native_id="abc")
    message = say(world, session.id, "The lantern protocol needs two keys.")
    (hit,) = search(world, "lantern keys").items
    assert (hit.session_id, hit.place, hit.kind, hit.rung) == (session.id, f"s{session.id}:{message}", "answer", "all")
    assert hit.time == "2026-01-05T08:00:00.123Z"
    assert [hit.snippet[first:last] for first, last in hit.highlights] == ["lantern", "keys"]
    assert hit.open_with == f"ramet history show {hit.commit[:12]}"
    assert hit.resume_with == "claude --resume abc"


@pytest.mark.requirement("R386")
def test_every_kind_of_text_is_found(world: World) -> None:
    attempt = queue_worker.start(world, prompt="the goblin goal")
    session_id = attempt.session.id
    call = {"kind": "tool_call", "name": "Bash", "call_id": "c1", "input": {"command": "make heron"}}
    result = {"kind": "tool_result", "name": "Bash", "call_id": "c1", "output": "ibis: No such file", "is_error": True}
    edit = {
        "kind": "tool_call",
        "name": "Edit",
        "call_id": "c2",
        "input": {"file_path": "/shop/jackdaw.py", "new_string": "kestrel = 1"},
    }
    queue_worker.report(world, attempt, {"kind": "text", "text": "an answer about egrets"}, call, result, edit)
    world.call("hooks.logged", session_id=session_id, text="a note on lapwings")
    say(world, session_id, "be like a magpie", "system")
    world.call("db.session.handoff", session_id=session_id, summary="nightjars sleep", decisions=["we keep the oriole"])
    world.call("search.upsert", source_type="doc", source_path="a.md", chunk_text="a plover in a document")
    kinds = {
        "egrets": "answer",
        "goblin": "prompt",
        "lapwings": "note",
        "magpie": "instruction",
        "nightjars": "handoff",
        "oriole": "decision",
        "plover": "chunk",
        "heron": "command",
        "ibis": "error",
        "kestrel": "edit",
        "jackdaw": "edit",
    }
    for word, kind in kinds.items():
        hits = search(world, word, kind=kind).items
        assert [hit.kind for hit in hits] == [kind], word
    assert found(world, "heron") == []


@pytest.mark.requirement("R387")
@pytest.mark.parametrize(
    ("said", "query", "rung"),
    [
        ("call getUserName first", "user name", "all"),
        ("call getUserName first", "getUserName", "all"),
        ("parse_http_header fails", "http header", "all"),
        ("see src/billing/tax_rules.py", "billing tax", "all"),
        ("see src/billing/tax_rules.py", "src/billing/tax_rules.py", "all"),
        ("the HTTPServer starts", "http server", "all"),
        ("naïve résumé", "naive resume", "all"),
        ("数据库连接失败了", "连接失败", "all"),
        ("エラーが発生しました", "発生", "all"),
        ("retrying the connections", "retry connection", "all"),
        ("it ends with connection refused here", '"connection refused"', "phrase"),
        ("the authentication broke", "authenti", "forms"),
        ("the dictionary broke", "dictionnary", "forms"),
        ("the dictionary broke", "bictionary", "forms"),
        ("the dictionary broke", "ictionary", "forms"),
        ("it calls getUserName twice", "user", "all"),
        ("it calls getUserName twice", "UserName", "all"),
        ("it calls getUserName twice", "username", "part"),
        ("it calls getUserName twice", "*serna*", "part"),
        ("Müller said so", "muller", "all"),
    ],
)
def test_parts_forms_scripts_and_phrases_are_found(world: World, said: str, query: str, rung: str) -> None:
    session = world.session()
    say(world, session.id, "something else entirely")
    message = say(world, session.id, said)
    assert found(world, query) == [(f"s{session.id}:{message}", rung)]


@pytest.mark.requirement("R387")
def test_a_typo_gets_a_suggestion_and_a_phrase_is_not_found_apart(world: World) -> None:
    session = world.session()
    say(world, session.id, "the retry policy waits")
    page = search(world, "retry polcy")
    assert page.suggestion == "retry policy"
    assert [hit.session_id for hit in page.items] == [session.id]
    assert found(world, '"policy retry"') == []


def test_common_words_are_left_out_and_named_if_not_all_are_together(world: World) -> None:
    session = world.session()
    for _ in range(5):
        say(world, session.id, "server notes", "user")
    message = say(world, session.id, "the walrus and the carpenter")
    page = search(world, "server walrus carpenter")
    assert (page.items[0].place, page.items[0].rung) == (f"s{session.id}:{message}", "most")
    assert page.dropped == ["server"]


@pytest.mark.requirement("R389")
def test_filters_combine_in_the_query_and_as_fields(world: World) -> None:
    claude, codex = world.session(driver="claude", native_id="a"), world.session("plan", driver="codex", native_id="b")
    asked = say(world, claude.id, "walrus one", "user")
    said = say(world, claude.id, "walrus two")
    other = say(world, codex.id, "walrus three")
    world.clock.advance(3 * 86_400)
    say(world, codex.id, "go on", "user")
    young = say(world, codex.id, "walrus four")
    everywhere = {f"s{claude.id}:{asked}", f"s{claude.id}:{said}", f"s{codex.id}:{other}", f"s{codex.id}:{young}"}

    def places(query: str, **params: Any) -> set[str]:
        return {place for place, _ in found(world, query, **params)}

    assert places("walrus") == everywhere
    assert (
        places("walrus agent:claude")
        == places("walrus", agent="claude")
        == {f"s{claude.id}:{asked}", f"s{claude.id}:{said}"}
    )
    assert places("walrus role:user") == places("walrus kind:prompt") == {f"s{claude.id}:{asked}"}
    assert places("walrus since:1d") == places("walrus", since="2026-01-07") == {f"s{codex.id}:{young}"}
    assert places(f"walrus session:s{codex.id} since:9d") == {f"s{codex.id}:{other}", f"s{codex.id}:{young}"}
    assert places("walrus agent:codex role:user") == set()
    assert places("project:/shop walrus") == everywhere
    assert places("agent:claude") == {f"s{claude.id}:{asked}", f"s{claude.id}:{said}"}


@pytest.mark.requirement("R389")
def test_a_path_filter_finds_sessions_that_touched_such_a_file(world: World) -> None:
    one, two = world.session(), world.session("plan")
    say(world, one.id, "walrus one")
    say(world, two.id, "walrus two")
    say(world, two.id, '{"file_path": "/shop/src/cart.py"}', "assistant", tool_name="Read")
    assert [hit.session_id for hit in search(world, "walrus path:src/cart").items] == [two.id]
    assert search(world, "walrus", path="src/other").items == []


@pytest.mark.requirement("R389")
@pytest.mark.parametrize(
    ("query", "params", "error", "words"),
    [
        ("colour:red walrus", {}, UnknownFilter, "colour"),
        ("walrus kind:fish", {}, InvalidParams, "kind"),
        ("walrus role:king", {}, InvalidParams, "role"),
        ("walrus since:yesterday", {}, InvalidParams, "since"),
        ("walrus", {"cursor": "20.deadbeef"}, InvalidParams, "cursor"),
        ("", {}, InvalidParams, "no words"),
        ("?! ...", {}, InvalidParams, "no words"),
    ],
)
def test_a_wrong_filter_is_an_error_that_names_the_known_ones(
    world: World, query: str, params: dict[str, Any], error: type[Exception], words: str
) -> None:
    world.session()
    with pytest.raises(error, match=words) as raised:
        search(world, query, **params)
    assert raised.value.fix  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    "query",
    [
        '"unbalanced walrus',
        "walrus AND NOT (",
        "walrus* ^near{",
        "walrus \0 nul",
        "walrus 🦭",
        "the walrus",
        "NEAR walrus",
    ],
)
def test_symbols_of_the_index_are_only_text(world: World, query: str) -> None:
    session = world.session()
    say(world, session.id, "a walrus")
    assert [hit.session_id for hit in search(world, query).items] == [session.id]


def test_a_query_of_100_kilobytes_and_one_of_stop_words_are_answered(world: World) -> None:
    session = world.session()
    message = say(world, session.id, "to be or not to be")
    assert search(world, "walrus " * 15_000).items == []
    assert found(world, "to be or not") == [(f"s{session.id}:{message}", "all")]


@pytest.mark.requirement("R390")
def test_an_agent_finds_only_the_history_of_its_own_project(world: World) -> None:
    world.call("db.project.upsert", path="/bank")
    mine = queue_worker.start(world, "host/1")
    say(world, mine.session.id, "walrus of the shop")
    foreign = world.session(task="/bank/tasks/vault")
    say(world, foreign.id, "walrus of the bank")
    agent = of_session(mine.session.id)
    assert {hit.session_id for hit in search(world, "walrus").items} == {mine.session.id, foreign.id}
    seen = world.call_as(agent, "memory.search", query="walrus").items
    assert [hit.session_id for hit in seen] == [mine.session.id]
    for params in ({"project": "/bank"}, {"session": foreign.id}):
        with pytest.raises(Forbidden):
            world.call_as(agent, "memory.search", query="walrus", **params)
    with pytest.raises(Forbidden):
        world.call_as(agent, "memory.search", query="walrus project:bank")
    hits = world.call_as(agent, "search.query", query="walrus").items
    assert [hit.source_path.split(":")[0] for hit in hits] == [f"s{mine.session.id}"]


def test_pages_follow_each_other_without_a_gap_and_the_order_is_the_same_each_time(world: World) -> None:
    session = world.session()
    for number in range(7):
        say(world, session.id, f"walrus number {number}", "user")
        say(world, session.id, "well")
    everything = found(world, "walrus", limit=50)
    assert len(everything) == 7
    first = search(world, "walrus", limit=3)
    second = search(world, "walrus", limit=3, cursor=first.next)
    third = search(world, "walrus", limit=3, cursor=second.next)
    assert [(hit.place, hit.rung) for page in (first, second, third) for hit in page.items] == everything
    assert third.next is None


@pytest.mark.requirement("R387")
def test_of_equal_hits_the_own_projects_come_first(world: World) -> None:
    for task in ("/shop/tasks/cart", "/bank/tasks/vault", "/shop/tasks/cart"):
        say(world, world.session(task=task).id, "the walrus sings")
    projects = {row.path: row.id for row in world.call("db.project.list").items}
    for path, project_id in projects.items():
        assert search(world, "walrus sings", near=path).items[0].project_id == project_id


def test_what_a_subagent_said_stands_below_what_its_parent_said(world: World) -> None:
    parent = world.session()
    child = world.session("plan", parent_session_id=parent.id)
    say(world, child.id, "the walrus sings")
    say(world, parent.id, "the walrus sings")
    assert [hit.session_id for hit in search(world, "walrus sings").items] == [parent.id, child.id]


def test_a_prompt_that_the_transcript_repeats_is_found_once(world: World) -> None:
    session_id = hook_calls.start(world)
    hook_calls.hook(world, "user_prompt", prompt="where is the walrus")
    assert len(search(world, "walrus").items) == 1
    hook_calls.ingest(world, session_id, hook_calls.entry("k1", "where is the walrus", role="user"))
    assert len(search(world, "walrus").items) == 1
