"""Events: every change writes its own, in the same transaction."""

from typing import Any, get_args

import pytest
from tests.conformance import hook_calls, landing_queue, queue_worker, run_steps
from tests.world import World

from ramet.errors import PhaseNotSequential
from ramet.model.event import EventKind

TASK = "/shop/tasks/cart"


PROCESS = {"process": {"pid": 42, "started": 1.5}}


def import_session(world: World) -> None:
    """A session that an agent program has stored."""
    head = {"native_id": "stored", "cwd": "/stored"}
    piece = {"vendor": "claude", "source": "/stored.jsonl", "position": "1", "size_bytes": 1, "changed_ms": 1}
    world.call("imports.add", pieces=[{**piece, "entries": [], "head": head, "is_last": True}])


def live_through_everything(world: World) -> None:
    """A life in which every kind of event happens."""
    world.call("db.project.upsert", path="/shop")
    world.call("db.project.upsert", path="/shop", name="Shop")
    world.call("db.project.upsert", path="/idle")
    world.call("db.project.remove", project="/idle")
    world.skill("paint", ["1: Look"])
    world.call("db.skills.upsert", name="paint", project_id=1, phases=["1: Look"], directives=["A"])
    world.call("db.skills.delete", name="paint", project_id=1)
    world.call("db.task.upsert", dir_path=TASK, title="Cart")
    world.call("db.agents.register", id="ada", label="Ada")
    session = world.session("do", driver="claude", native_id="n", agent_id="ada")
    world.call("db.effort.phase", effort_id=session.effort_id, label="go")
    world.call("db.session.heartbeat", session_id=session.id)
    world.call("db.session.updateContextUsage", session_id=session.id, usage=0.5)
    world.call("db.session.updateLoadedFiles", session_id=session.id, files=["/a"])
    world.call("db.messages.append", session_id=session.id, role="user", content="hi")
    world.call("db.effort.finish", effort_id=session.effort_id, keywords="x")
    effort = world.call("db.effort.start", task_id=TASK, skill="do", session_id=session.id)
    world.call("db.session.finish", session_id=session.id)
    world.call("db.session.start", task_id=TASK, effort_id=effort.id, driver="claude", native_id="n")
    write_history(world)
    work(world)
    follow_a_run(world)
    park_a_driver(world)
    park_a_host(world)
    land_branches(world)
    delegate(world)
    work_by_hand(world)
    world.call("import.rows", system="gza", source="queue", rows=[{"table": "tasks", "key": "1", "values": {"id": 1}}])
    import_session(world)
    remember(world)


def remember(world: World) -> None:
    """The same for what is searched, attributed, archived and purged."""
    world.call("search.upsert", source_type="doc", source_path="/shop/a.md", chunk_text="vouchers", project_id=1)
    world.call("search.put_vectors", model="m", vectors=[{"chunk_id": 1, "values": [1.0]}])
    world.call("search.delete", source_path="/shop/a.md")
    world.call("search.reindex")
    session = world.session("do")
    edit = {"kind": "commit", "path": "/shop/a", "at_ms": 1, "lines": "", "git_commit": "0" * 40}
    world.call("memory.edits.record", effort_id=session.effort_id, edits=[edit])
    world.call("hooks.injected", session_id=session.id, moment="prompt", size=10, tokens=3)
    world.call("db.effort.finish", effort_id=session.effort_id)
    world.call("db.session.finish", session_id=session.id)
    for archived in (True, False):
        world.call("session.archive", session_id=session.id, archived=archived)
    world.call("session.purge", session_id=session.id, purged_by="user", reason="old")
    values = {
        "path": "/other",
        "name": None,
        "created_at": "2026-01-05T08:00:00.000Z",
        "remote": None,
        "removed_at": None,
    }
    row = {"table": "projects", "values": values}
    world.call("memory.addRows", origin="elsewhere", exported_at="2026-01-05T08:00:00.000Z", rows=[row])


def work_by_hand(world: World) -> None:
    """The same for a session that somebody started by hand."""
    session_id = hook_calls.start(world)
    hook_calls.use(
        world, "Read", facts={"directives": [hook_calls.directive()]}, tool_input={"file_path": "/shop/src/a"}
    )
    world.call("hooks.logged", session_id=session_id)
    hook_calls.ingest(world, session_id, hook_calls.entry("k1", "mend the cart", role="user"))
    title = hook_calls.entry("k2", kind="meta", meta={"title": "the cart"})
    origin = hook_calls.entry("k3", kind="meta", meta={"origin": hook_calls.WINDOW})
    copy = hook_calls.start(world, native_id=hook_calls.OTHER_WINDOW, transcript_path="/t/copy.jsonl")
    hook_calls.ingest(world, copy, title, origin, path="/t/copy.jsonl")
    hook_calls.hook(world, "notification", text="look")
    hook_calls.hook(world, "pre_compact", trigger="auto")
    hook_calls.hook(world, "status_line", usage={"context_percent": 12, "cost_usd": 0.5})
    hook_calls.hook(world, "subagent_stop", agent_id="a1", summary="seen")
    hook_calls.hook(world, "session_end")
    hook_calls.hook(world, "session_start", source="resume", pid=42, facts=PROCESS)
    world.call("hooks.vanished", session_id=session_id, pid=42, started=1.5)
    hook_calls.hook(world, "session_start", source="resume")
    world.call("db.session.handoff", session_id=session_id, summary="half done")
    hook_calls.start(world, native_id=hook_calls.OTHER_WINDOW)
    next_window = {"driver": "claude", "native_id": hook_calls.OTHER_WINDOW}
    world.call("db.session.continue", session_id=session_id, **next_window)


def delegate(world: World) -> None:
    """The same for a child."""
    above = queue_worker.start(world, "host/6", instance=queue_worker.OTHER_KEEPER)
    child = world.call("spawn.agent", parent_session_id=above.session.id, goal="look")
    world.call("spawn.expect", session_ids=[child.child_session_id])
    world.call("spawn.expect", session_ids=[child.child_session_id], is_expected=False)
    world.call("spawn.report", session_id=child.child_session_id, report={"summary": "seen"})
    world.call("budget.set", session_id=above.session.id, tokens=1000)
    world.call("spawn.cancel", session_id=child.child_session_id)


def write_history(world: World) -> None:
    """The same for a history."""
    commit = world.call("history.commit", branch="main", text="one")
    world.call("history.annotate", hash=commit.hash, priority="pinned")
    world.call("history.tag", hash=commit.hash, tags=["first"])
    world.call("history.branch", name="side", **{"from": "main"})
    world.call("history.edit", branch="side", target=commit.hash, text="two")
    world.call("history.spawn", parent="main", child="kid", purpose="look")
    world.call("history.collapse", child="kid", text="seen")
    world.call("history.register", name="ticket")
    world.call("history.gc")


def work(world: World) -> None:
    """The same for the queue."""
    attempt = queue_worker.start(world)
    limit = {"kind": "limit", "text": "come back later"}
    stuck = {"kind": "stuck", "reason": "repetition", "text": "the same again"}
    refusal = {"kind": "refusal", "subject": "host", "name": "example.org:443", "rule": "add it to sandbox.allow_hosts"}
    setup = {"how": "running", "command": "make", "log": "/log"}
    generation = attempt.effort.lease_generation
    world.call("work.preparing", effort_id=attempt.effort.id, generation=generation, **setup)
    queue_worker.report(world, attempt, limit, stuck, refusal, queue_worker.text("hello"), queue_worker.end())
    world.call("fleet.kill", effort_id=attempt.effort.id)
    queue_worker.complete(world, attempt)
    queue_worker.complete(world, attempt, generation=1)
    again = queue_worker.add(world)
    queue_worker.run(world, again, "error", failure="transient")
    world.call("work.drop", effort_id=again.id)
    world.call("work.resume", effort_id=again.id)
    queue_worker.run(world, again, "stuck")
    world.call("work.retry", effort_id=again.id)
    world.call("work.output", effort_id=again.id, output_content="a text")
    world.call("fleet.dismiss")


def follow_a_run(world: World) -> None:
    """The same for a run."""
    run = run_steps.start(world, "1", "2")
    run_steps.do_next(world, run, output_content="done")
    run_steps.leave(world, run)
    run_steps.attend(world, run)
    run_steps.do_next(world, run)
    world.call("run.archive", run_id=run.id)
    world.call("run.purge", run_id=run.id, purged_by="user", reason="old")
    world.call("run.clean", days=0)


def park_a_driver(world: World) -> None:
    """The same for a driver that is at a limit, and then is not."""
    attempt = queue_worker.start(world, "host/7", driver="claude", instance=queue_worker.OTHER_KEEPER)
    queue_worker.complete(world, attempt, "error", failure="limit", retry_at="2026-01-05T09:00:00Z")
    world.clock.advance(7200)
    claimed = queue_worker.claim(world, "host/7", effort_id=attempt.effort.id)
    queue_worker.complete(world, queue_worker.begin(world, claimed, driver="claude"))


def land_branches(world: World) -> None:
    """The same for branches that land, do not, and are undone."""
    first, second = landing_queue.queue(world, "a", "b")
    landing_queue.finish(world, landing_queue.claim(world), None)
    landing_queue.land(world, landing_queue.claim(world))
    world.call("landing.drop", landing_id=second.id)
    world.call("landing.undo", landing_id=first.id)
    landing_queue.land(world, landing_queue.claim(world))


def park_a_host(world: World) -> None:
    """The same for a host that lacks room, and then has it, and for a database that was found damaged."""
    world.call("hosts.park", name="north", reason="no room")
    world.call("hosts.resume", name="north")
    world.call("db.note_damage", reason="a page", since="2026-01-05T08:00:00.000Z")


ELSEWHERE = {"ai.used", "database.restored", "database.returned"}
"""Those that need a model, another file or a server that was away: tests/ai, tests/crash/test_{restore,outages}.py."""


@pytest.mark.requirement("R314")
def test_every_kind_of_event_happens(world: World) -> None:
    live_through_everything(world)
    assert set(world.events()) == set(get_args(EventKind)) - ELSEWHERE


@pytest.mark.requirement("R255")
def test_every_change_of_a_row_comes_with_an_event(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    silent: list[str] = []
    call = World.call

    def watched(self: World, name: str, /, **params: Any) -> Any:
        before = self.dump()
        reply = call(self, name, **params)
        after = self.dump()
        if before != after and before["events"] == after["events"]:
            silent.append(name)
        return reply

    monkeypatch.setattr(World, "call", watched)
    live_through_everything(world)
    assert silent == []


@pytest.mark.requirement("R255")
def test_an_operation_that_fails_leaves_no_event(world: World) -> None:
    effort = world.effort()
    before = world.events()
    with pytest.raises(PhaseNotSequential):
        world.call("db.effort.phase", effort_id=effort.id, label="3: Test")
    assert world.events() == before


@pytest.mark.requirement("R314", "R297")
def test_an_event_says_what_it_is_about_and_when(world: World) -> None:
    session = world.session("plan", agent_id="ada")
    world.clock.advance(60)
    world.call("db.effort.phase", effort_id=session.effort_id, label="2", reason="known")
    event = world.call("events.list", limit=1000).items[-1]
    assert (event.kind, event.task_id, event.effort_id) == ("effort.phase", TASK, session.effort_id)
    assert event.data == {"label": "2: Draft", "reason": "known"}
    assert event.at.isoformat() == "2026-01-05T08:01:00.123000+00:00"


@pytest.mark.requirement("R314")
def test_events_are_read_in_pages_from_any_id_on_and_by_kind(world: World) -> None:
    session = world.session()
    for _ in range(3):
        world.call("db.session.heartbeat", session_id=session.id)
    everything = world.call("events.list").items
    page = world.call("events.list", limit=2)
    seen = page.items
    while page.next is not None:
        page = world.call("events.list", after=page.next, limit=2)
        seen += page.items
    assert seen == everything
    assert [event.id for event in seen] == sorted(event.id for event in seen)
    beats = world.call("events.list", kind="session.heartbeat", after=everything[-3].id).items
    assert [event.id for event in beats] == [event.id for event in everything[-2:]]
    assert world.call("events.list", after=10**6).items == []


@pytest.mark.requirement("R314")
def test_the_newest_events_come_last_one_first_or_last_and_are_the_newest(world: World) -> None:
    session = world.session()
    for _ in range(3):
        world.call("db.session.heartbeat", session_id=session.id)
    everything = world.call("events.list", limit=1000).items
    newest = world.call("events.list", newest=True, limit=2)
    assert {event.id for event in newest.items} == {event.id for event in everything[-2:]}
    assert newest.next is None
    started = world.call("events.list", newest=True, kind="session.started").items
    assert [event.session_id for event in started] == [session.id]


@pytest.mark.requirement("R219", "R220", "R237")
def test_saying_again_what_is_known_is_no_event(world: World) -> None:
    for _ in range(2):
        world.call("db.project.upsert", path="/shop", name="Shop")
        world.call("db.task.upsert", dir_path=TASK, title="Cart")
        world.call("db.agents.register", id="ada", label="Ada")
    assert world.events() == ["project.added", "task.added", "agent.registered"]


@pytest.mark.requirement("R237")
def test_an_agent_that_a_session_brings_along_is_registered_with_an_event(world: World) -> None:
    world.session("do", agent_id="newcomer")
    assert world.events().count("agent.registered") == 1
    assert world.call("db.agents.get", id="newcomer").effort_id == 1
