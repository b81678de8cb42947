"""The databases and files of the systems before Ramet: every row and column is there after an import, once."""

import json
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.conformance.stored_text import everything
from tests.predecessors import sources
from tests.predecessors.transfers import ask, imported, imported_one, kept_rows, without_bytes
from tests.world import World

from ramet.predecessors import registry, transfer

MAKERS: dict[str, Callable[[Path], Path]] = {
    "engine 3": lambda folder: sources.make_engine(folder / ".engine.db"),
    "gza 3": lambda folder: sources.make_gza(folder / "gza.db", 3),
    "gza 4": lambda folder: sources.make_gza(folder / "gza.db", 4),
    "gza 5": lambda folder: sources.make_gza(folder / "gza.db", 5),
    "tract 2": lambda folder: sources.make_tract(folder / "tract.db", 2),
    "tract 3": lambda folder: sources.make_tract(folder / "tract.db", 3),
    "tract 4": lambda folder: sources.make_tract(folder / "tract.db", 4),
}
OTHERS: dict[str, Callable[[Path], Path]] = {
    "aurora": lambda folder: sources.make_aurora(folder / "spawn-123.json", conversation=sources.CONVERSATION),
    "workrail": lambda folder: sources.make_workrail(folder / "sess_a", sources.workrail_events()),
}
ALL = {**MAKERS, **OTHERS}


def column(world: World, statement: str) -> list[Any]:
    return [row[0] for row in world.sql(statement)]


@pytest.mark.requirement("R294", "R384")
@pytest.mark.parametrize("kind", MAKERS)
def test_every_row_and_column_of_a_database_is_kept(world: World, tmp_path: Path, kind: str) -> None:
    path = MAKERS[kind](tmp_path)
    before = path.read_bytes()
    done = imported_one(world, path)
    rows = sources.all_rows(path)
    assert kept_rows(world, done) == without_bytes(rows)
    assert done.tables == {table: len(found) for table, found in rows.items()}
    assert (done.new, done.known, done.changed) == (done.rows, 0, 0)
    assert path.read_bytes() == before
    assert sorted(each.name for each in tmp_path.iterdir() if not each.name.startswith("ramet")) == [path.name]


@pytest.mark.requirement("R295", "R384")
@pytest.mark.parametrize("kind", ALL)
def test_a_second_import_writes_no_row(world: World, tmp_path: Path, kind: str) -> None:
    path = ALL[kind](tmp_path)
    (first,) = imported(world, path)
    before = world.dump()
    moved = path.rename(tmp_path / f"moved{path.suffix}")
    world.clock.advance(60)
    (second,) = imported(world, moved)
    assert world.dump() == before
    assert (second.new, second.changed, second.added) == (0, 0, {})
    assert (second.known, second.rows, second.source) == (first.new, first.rows, first.source)


@pytest.mark.requirement("R294", "R384")
@pytest.mark.parametrize("kind", ALL)
def test_an_interrupted_import_is_the_same_when_it_is_repeated(
    world: World, tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each prefix of the batches is one place to be interrupted; a transaction is never half written."""
    path = ALL[kind](tmp_path)
    (source,) = registry.require_sources(path, "/shop")
    monkeypatch.setattr(transfer, "BATCH_ROWS", 3)
    ends = sum(1 for _ in transfer._batches(source.rows()))
    send, sent = ask(world), 0

    def interrupted(request: Any) -> Any:
        nonlocal sent
        if sent == ends // 2:
            raise KeyboardInterrupt
        sent += 1
        return send(request)

    with pytest.raises(KeyboardInterrupt):
        transfer.transfer(source, interrupted)
    done = transfer.transfer(source, send)
    assert done.known > 0
    rows = kept_rows(world, done)
    assert {table: len(found) for table, found in rows.items()} == done.tables
    before = world.dump()
    assert transfer.transfer(source, send).new == 0
    assert world.dump() == before


@pytest.mark.requirement("R384")
def test_what_engine_v3_recorded_is_where_ramet_keeps_it(world: World, tmp_path: Path) -> None:
    done = imported_one(world, MAKERS["engine 3"](tmp_path))
    assert done.added == {
        "project": 1,
        "skill": 1,
        "task": 2,
        "effort": 2,
        "session": 2,
        "phase": 2,
        "message": 4,
        "agent": 2,
        "embedding": 1,
    }
    assert world.sql("SELECT path, name, created_at FROM projects") == [("/shop", "Shop", "2026-02-20T08:00:00.000Z")]
    task = world.call("db.task.find", query="cart").items[0]
    assert (task.dir_path, task.workspace, task.title, task.keywords) == (
        *("/shop/sessions/CART", "apps/cart", "The cart"),
        "cart,wheel",
    )
    first, second = world.call("db.effort.list", task_id="/shop/sessions/CART").items
    assert (first.skill, first.mode, first.ordinal, first.outcome, first.current_phase) == (
        *("brainstorm", "focused", 1, "success"),
        "1: Dialogue",
    )
    assert (first.discovered_directives, first.metadata["taskSummary"]) == (["A.md"], "round")
    assert first.finished_at.isoformat() == "2026-02-20T09:00:00+00:00"
    assert (second.lifecycle, second.outcome, second.ordinal) == ("finished", "dropped", 2)
    assert "unfinished" in second.reason
    detail = world.call("db.effort.get", effort_id=first.id)
    assert [(each.phase_label, each.proof) for each in detail.phases] == [
        ("1: Dialogue", {"questions": 3}),
        ("1.1: Deeper", None),
    ]


@pytest.mark.requirement("R384")
def test_sessions_of_engine_v3_keep_their_chain_times_and_messages(world: World, tmp_path: Path) -> None:
    imported_one(world, MAKERS["engine 3"](tmp_path))
    first, second = (world.call("db.session.get", session_id=each) for each in (1, 2))
    assert (second.prev_session_id, first.root_session_id, second.root_session_id) == (1, 1, 1)
    assert (first.heartbeat_counter, first.context_usage, first.loaded_files) == (3, 0.97, ["/shop/a.py"])
    assert first.dehydration_payload == {"summary": "half"}
    assert first.created_at.isoformat() == "2026-02-20T08:03:01+00:00"
    assert first.ended_at.isoformat() == "2026-02-20T08:31:00+00:00"
    assert (second.outcome, second.context_usage, second.pid) == ("dropped", None, None)
    said = world.call("db.messages.list", session_id=1).items
    assert [(each.role, each.content, each.tool_name) for each in said] == [
        ("user", "make the cart round", None),
        ("tool", "cart.py", "Bash"),
        ("system", "it shall be so", None),
    ]
    assert said[0].timestamp.isoformat() == "2026-02-20T08:03:02+00:00"
    assert [bytes(each) for each in column(world, "SELECT embedding FROM embeddings")] == [sources.VECTOR]
    agents = {each.id: (each.claims, each.effort_id) for each in world.call("db.agents.list").items}
    assert agents == {"pane-1": (["implement"], None), "pane-2": (["fix", "plan"], None)}


@pytest.mark.requirement("R384")
def test_tasks_of_gza_become_efforts_with_their_chain(world: World, tmp_path: Path) -> None:
    done = imported_one(world, sources.make_gza(tmp_path / "shop" / ".gza" / "gza.db", 4))
    project = f"{tmp_path}/shop"
    assert column(world, "SELECT path FROM projects") == [project]
    assert done.added == {"project": 1, "task": 2, "effort": 4, "session": 3}
    grouped = world.call("db.effort.list", task_id=f"{project}/.gza/groups/cart_round").items
    single = world.call("db.effort.list", task_id=f"{project}/.gza").items
    plan, build = grouped
    assert [(each.skill, each.outcome) for each in (plan, build)] == [("plan", "success"), ("implement", "success")]
    assert {(each.skill, each.outcome) for each in single} == {("review", "error"), ("task", "dropped")}
    assert (plan.prompt, plan.report_file, plan.output_content) == ("plan the cart", ".gza/plans/1.md", "# The plan")
    assert (build.based_on, build.depends_on, build.git_branch) == (plan.id, [plan.id], "gza/build")
    review = next(each for each in single if each.skill == "review")
    later = next(each for each in single if each.skill == "task")
    assert review.depends_on == [later.id]
    assert column(world, "SELECT cost_usd FROM usage") == [0.25]
    assert world.sql("SELECT created_at, ended_at FROM sessions ORDER BY id")[0] == (
        "2026-01-07T10:01:00.000Z",
        "2026-01-07T10:02:01.500Z",
    )


@pytest.mark.requirement("R384")
def test_a_history_of_tract_keeps_its_shape(world: World, tmp_path: Path) -> None:
    done = imported_one(world, MAKERS["tract 4"](tmp_path))
    assert done.added == {"commit": 11, "branch": 4, "priority": 2, "spawn": 1}
    names = [each.name for each in world.call("history.branches", prefix="tract/").items]
    lost = f"tract/root-1/unreferenced-{sources.named('lost')[:12]}"
    assert sorted(names) == ["tract/child-1/main", "tract/root-1/idea", "tract/root-1/main", lost]
    log = world.call("history.log", branch="tract/root-1/main", limit=100).items
    shown = [world.call("history.show", hash=each.hash) for each in log]
    hashes = [each.metadata["tract"]["commit_hash"] for each in shown]
    words = ("join", "odd", "file", "fix2", "fix", "call", "ask", "rule")
    assert hashes == [sources.named(word) for word in words]
    by_word = dict(zip(words, shown, strict=True))
    side = world.call("history.log", branch="tract/root-1/idea", limit=1).items[0]
    assert by_word["join"].second_parent == side.hash
    assert [by_word[word].operation for word in ("fix", "fix2")] == ["edit", "edit"]
    assert {by_word[word].target for word in ("fix", "fix2")} == {by_word["ask"].hash}
    assert by_word["ask"].priority == "pinned"
    assert by_word["ask"].at.isoformat() == "2026-02-10T10:00:01.250000+00:00"
    assert by_word["file"].metadata["tract"]["metadata"] == {"k": "file"}
    compiled = world.call("history.compile", branch="tract/root-1/main", format="openai")
    texts = json.dumps([each["content"] for each in compiled.messages if "content" in each])
    assert "make it very round" in texts
    assert "make it rund" not in texts


@pytest.mark.requirement("R384")
def test_a_spawn_of_tract_keeps_its_mode_and_place(world: World, tmp_path: Path) -> None:
    imported_one(world, MAKERS["tract 4"](tmp_path))
    (spawn,) = world.call("history.spawns", branch="tract/root-1/main").children
    ask_commit = world.call("history.log", branch="tract/root-1/idea", limit=2).items[1]
    assert (spawn.parent, spawn.child, spawn.inheritance_mode, spawn.purpose, spawn.display_name) == (
        *("tract/root-1/main", "tract/child-1/main", "head_snapshot", "look around"),
        "Kid",
    )
    assert spawn.parent_commit == ask_commit.hash
    assert spawn.created_at.isoformat() == "2026-02-12T11:00:00+00:00"


@pytest.mark.requirement("R384", "R295")
def test_a_history_of_tract_that_has_grown_continues(world: World, tmp_path: Path) -> None:
    path = MAKERS["tract 4"](tmp_path)
    imported_one(world, path)
    with sqlite3.connect(path) as database:
        database.execute(
            "INSERT INTO commits SELECT ?, tract_id, commit_hash, content_hash, content_type, operation, NULL, 'more',"
            " 1, NULL, NULL, created_at FROM commits WHERE commit_hash = ?",
            (sources.named("more"), sources.named("join")),
        )
        database.execute(
            "UPDATE refs SET commit_hash = ? WHERE ref_name = 'refs/heads/main' AND tract_id = 'root-1'",
            (sources.named("more"),),
        )
    database.close()
    done = imported_one(world, path)
    assert (done.new, done.changed, done.added) == (1, 1, {"commit": 1})
    log = world.call("history.log", branch="tract/root-1/main", limit=100).items
    assert len(log) == 9
    assert kept_rows(world, done) == without_bytes(sources.all_rows(path))


@pytest.mark.requirement("R75", "R384")
@pytest.mark.parametrize("conversation", [None, sources.CONVERSATION], ids=["old checkpoint", "new checkpoint"])
def test_a_checkpoint_of_aurora_becomes_a_run(
    world: World, tmp_path: Path, conversation: list[dict[str, Any]] | None
) -> None:
    more = {} if conversation is None else {"conversation": conversation}
    path = sources.make_aurora(tmp_path / "shop" / ".aurora" / "checkpoints" / "spawn-123.json", **more)
    done = imported_one(world, path)
    run = world.call("run.get", run_id=1)
    assert (run.name, run.state, run.reason) == (
        "spawn-123",
        "finished",
        "interrupted when it was imported from Aurora",
    )
    assert [(line.key, line.state, line.outcome) for line in run.lines] == [
        ("1", "completed", "success"),
        ("2", "failed", "error"),
        ("3", "skipped", "dropped"),
        ("4", "skipped", "dropped"),
        ("5", "skipped", "dropped"),
    ]
    assert (run.lines[0].text, run.lines[0].output, run.lines[1].reason) == ("Analyze auth", "JWT", "timeout")
    turns = world.call("run.turns", run_id=1).items
    assert [(turn.role, turn.content) for turn in turns] == [
        (each["role"], each["content"]) for each in conversation or []
    ]
    assert column(world, "SELECT path FROM projects") == [f"{tmp_path}/shop"]
    rows = kept_rows(world, done)
    document = json.loads(path.read_text(encoding="utf-8"))
    assert [rows["tasks"][str(place)] for place in range(5)] == document.pop("tasks")
    assert sorted(map(json.dumps, rows.get("conversation", {}).values())) == sorted(
        json.dumps(dict(sorted(each.items()))) for each in document.pop("conversation", [])
    )
    assert rows["checkpoint"]["spawn-123"] == document


@pytest.mark.requirement("R384")
def test_a_session_of_workrail_keeps_its_events_and_its_transcript(world: World, tmp_path: Path) -> None:
    folder = sources.make_workrail(tmp_path / "sess_a", sources.workrail_events())
    done = imported_one(world, folder)
    events = sources.workrail_events()
    rows = kept_rows(world, done)
    assert [rows["events"][str(place)] for place in range(len(events))] == events
    manifest = [json.loads(line) for line in (folder / "manifest.jsonl").read_text().splitlines()]
    assert [rows["manifest"][str(place)] for place in range(2)] == manifest
    session = world.call("db.session.get", session_id="workrail:sess_a")
    assert (session.outcome, session.notes, session.title) == ("success", "It is round.", "Review the cart")
    effort = world.call("db.effort.get", effort_id=session.effort_id)
    assert (effort.skill, effort.prompt, effort.git_branch, effort.git_base, effort.git_head) == (
        *("wr.review", "Review the cart", "main", "a" * 40),
        "b" * 40,
    )
    assert [each.phase_label for each in effort.phases] == ["node_1"]
    said = world.call("db.messages.list", session_id=session.id).items
    assert [(each.role, each.content) for each in said] == [
        ("user", "Review the cart"),
        ("assistant", "It is round."),
        ("assistant", "no tests"),
        ("assistant", "again"),
    ]


@pytest.mark.requirement("R384")
def test_children_of_workrail_are_imported_behind_their_parents(world: World, tmp_path: Path) -> None:
    folder = tmp_path / "sessions"
    sources.make_workrail(folder / "a_child", sources.workrail_events("sess_child", parent="sess_root"))
    sources.make_workrail(folder / "b_root", sources.workrail_events("sess_root")[:5])
    sources.make_workrail(folder / "c_lone", sources.workrail_events("sess_lone", parent="sess_gone"))
    assert len(imported(world, folder)) == 3
    root, child, lone = (
        world.call("db.session.get", session_id=f"workrail:sess_{name}") for name in ("root", "child", "lone")
    )
    assert (child.parent_session_id, child.root_session_id, child.spawn_depth) == (root.id, root.id, 1)
    assert (lone.parent_session_id, lone.spawn_depth) == (None, 0)
    assert (root.outcome, root.ended_at is not None) == ("dropped", True)


@pytest.mark.requirement("R384")
def test_a_child_that_came_before_its_parent_is_linked_when_it_is_imported_again(world: World, tmp_path: Path) -> None:
    grandchild, child, root = (
        sources.make_workrail_file(tmp_path / f"{name}.jsonl", sources.workrail_events(name, parent=parent))
        for name, parent in (("sess_3", "sess_2"), ("sess_2", "sess_1"), ("sess_1", None))
    )
    for path in (child, grandchild, root, child, grandchild):
        imported(world, path)
    found = [world.call("db.session.get", session_id=f"workrail:sess_{number}") for number in (1, 2, 3)]
    assert [each.spawn_depth for each in found] == [0, 1, 2]
    assert {each.root_session_id for each in found} == {found[0].id}
    assert [each.parent_session_id for each in found] == [None, found[0].id, found[1].id]
    before = world.dump()
    assert [imported_one(world, path).new for path in (root, child, grandchild)] == [0, 0, 0]
    assert world.dump() == before


@pytest.mark.requirement("R384")
@pytest.mark.parametrize("kind", ALL)
def test_nothing_that_is_imported_can_start_to_run(world: World, tmp_path: Path, kind: str) -> None:
    imported(world, ALL[kind](tmp_path))
    assert column(world, "SELECT count(*) FROM efforts WHERE lifecycle <> 'finished'") == [0]
    assert column(world, "SELECT count(*) FROM sessions WHERE ended_at IS NULL OR pid IS NOT NULL") == [0]
    assert column(world, "SELECT count(*) FROM runs WHERE finished_at IS NULL OR attender IS NOT NULL") == [0]
    assert column(world, "SELECT count(*) FROM agents WHERE effort_id IS NOT NULL") == [0]


@pytest.mark.requirement("R384")
def test_rows_that_name_missing_rows_are_kept_as_they_are(world: World, tmp_path: Path) -> None:
    orphans: dict[str, Any] = {
        "messages": [(9, 77, "user", "to nobody", None, None)],
        "phase_history": [(9, 77, "1: Lost", None, None)],
        "sessions": [(9, "sessions/CART", 77, 55, None, 0, None, None, None, None, None, None)],
    }
    path = sources.make_engine(tmp_path / "e.db", **orphans)
    done = imported_one(world, path)
    assert done.kept == 4  # these three, and the embedding without a vector
    assert kept_rows(world, done) == without_bytes(sources.all_rows(path))
    assert "message" not in done.added


@pytest.mark.requirement("R384")
def test_a_secret_of_an_earlier_system_is_stored_nowhere(world: World, tmp_path: Path) -> None:
    secret = "ghp_" + "a1B2" * 9
    said: dict[str, Any] = {
        "messages": [(1, 1, "user", f"use {secret}", None, None)],
        "agents": [("p", secret, f'["{secret}"]', None)],
    }
    imported_one(world, sources.make_engine(tmp_path / "e.db", **said))
    told = [{"role": "user", "content": secret, "timestamp": "x", "metadata": {"k": secret}}]
    imported_one(world, sources.make_aurora(tmp_path / "c.json", conversation=told, metadata={secret: secret}))
    events = [*sources.workrail_events(), sources.event(11, "context_set", {"context": {"goal": secret}})]
    imported_one(world, sources.make_workrail_file(tmp_path / "s.jsonl", events))
    assert secret not in everything(world)
    assert "[REDACTED:github:" in everything(world)


@pytest.mark.requirement("R384")
def test_the_database_is_whole_after_every_import_and_nothing_of_it_is_garbage(world: World, tmp_path: Path) -> None:
    paths = {kind: ALL[kind](_folder(tmp_path, kind)) for kind in ("engine 3", "gza 5", "tract 4", *OTHERS)}
    done = {kind: imported_one(world, path) for kind, path in paths.items()}
    world.clock.advance(30 * 86_400)
    assert world.call("history.gc", retention_days=0).commits == 0
    assert world.call("db.check").findings == []
    for kind, path in paths.items():
        assert {table: len(found) for table, found in kept_rows(world, done[kind]).items()} == done[kind].tables
        assert imported_one(world, path).new == 0


def _folder(tmp_path: Path, kind: str) -> Path:
    folder = tmp_path / kind.replace(" ", "_")
    folder.mkdir()
    return folder


@pytest.mark.requirement("R384")
def test_a_database_beside_work_of_ramet_changes_none_of_it(world: World, tmp_path: Path) -> None:
    session = world.session("plan", task="/shop/sessions/CART")
    world.call("db.skills.upsert", name="brainstorm", project_id=1, phases=["1: Ours"])
    imported_one(world, MAKERS["engine 3"](tmp_path))
    assert world.call("db.effort.get", effort_id=session.effort_id).lifecycle == "active"
    efforts = world.call("db.effort.list", task_id="/shop/sessions/CART").items
    assert [(each.ordinal, each.skill) for each in efforts] == [(1, "plan"), (2, "brainstorm"), (3, "implement")]
    assert world.call("db.skills.get", name="brainstorm", project_id=1).phases == ["1: Ours"]
