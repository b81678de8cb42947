"""Idempotency keys: a request sent twice is done once."""

from typing import Any

import msgspec
import pytest
from msgspec.structs import replace
from tests.conformance import hook_calls, landing_queue, run_steps
from tests.conformance.queue_worker import (
    add,
    begin,
    claim,
    run,
)
from tests.world import World, changes_of

from ramet.errors import IdempotencyConflict, UnknownSkill
from ramet.model.history.commit import CommitFacts, hash_commit, hash_content
from ramet.protocol.hooks.notes import LogNoted
from ramet.protocol.operations import OPERATIONS

TASK = "/shop/tasks/cart"
DAY_SECONDS = 86_400

NEED_A_MODEL = {"ai.generate", "ai.embed"}
"""What they promise about keys is shown with a model, in `tests/ai`."""


def _hashes(*texts: str) -> list[str]:
    """The hashes of a branch that says this, which are the same everywhere."""
    found: list[bytes] = []
    for text in texts:
        parent = found[-1] if found else None
        content = hash_content(text.encode())
        facts = CommitFacts(content_hash=content, content_type="dialogue", role="user", author="user", parent=parent)
        found.append(hash_commit(facts))
    return [each.hex() for each in found]


ONE, TWO, THREE = _hashes("one", "two", "three")
FAILED, RUNNING, CLAIMED, QUEUED = 3, 4, 5, 6
"""Efforts of the queue."""
WAITING, ATTENDED, FINISHED = 1, 2, 3
LANDED, FAILED_LANDING, LANDING, QUEUED_LANDING = 1, 2, 3, 4
"""Runs."""
CHILD = 3
"""A session that session 2 spawned; it waits for another one besides."""

ENDED = 5
"""A session that is over."""
IMPORTED = {
    "pieces": [
        {
            "vendor": "claude",
            "source": "/stored.jsonl",
            "position": "1",
            "size_bytes": 1,
            "changed_ms": 1,
            "entries": [],
            "head": {"native_id": "stored", "cwd": "/stored"},
            "is_last": True,
        }
    ]
}

REQUESTS: dict[str, dict[str, Any]] = {
    "db.project.upsert": {"path": "/mill", "name": "Mill"},
    "db.project.remove": {"project": "/idle"},
    "db.task.upsert": {"dir_path": "/shop/x", "title": "X"},
    "db.effort.start": {"task_id": TASK, "skill": "do"},
    "db.effort.finish": {"effort_id": 1, "outcome": "stuck"},
    "db.effort.phase": {"effort_id": 1, "label": "1"},
    "db.session.start": {"task_id": TASK, "effort_id": 1},
    "db.session.finish": {"session_id": 1, "dehydration_payload": {"a": [1]}},
    "db.session.bindEffort": {"session_id": 1, "effort_id": 2},
    "db.session.heartbeat": {"session_id": 1},
    "db.session.updateContextUsage": {"session_id": 1, "usage": 0.5},
    "db.session.updateLoadedFiles": {"session_id": 1, "files": ["/a"]},
    "db.skills.upsert": {"name": "sing", "project_id": 1, "phases": ["1: Hum"]},
    "db.skills.keep": {"name": "sing", "project_id": 1, "definition": {"phases": ["1: Hum"]}},
    "db.skills.delete": {"name": "paint", "project_id": 1},
    "db.messages.append": {"session_id": 1, "role": "user", "content": "hello \u0000 \U0001f680"},
    "db.agents.register": {"id": "ada", "label": "Ada"},
    "db.agents.assign": {"id": "bob", "effort_id": 2},
    "history.commit": {"branch": "main", "text": "four", "tags": ["t"], "priority": "important"},
    "history.branch": {"name": "new", "from": "main"},
    "history.delete": {"branch": "side"},
    "history.reset": {"branch": "main", "to": ONE},
    "history.undo": {"branch": "moved"},
    "history.merge": {"into": "main", "from": "side"},
    "history.pick": {"branch": "side", "hash": THREE},
    "history.edit": {"branch": "main", "target": ONE, "text": "one, but better"},
    "history.annotate": {"hash": TWO, "priority": "pinned"},
    "history.tag": {"hash": TWO, "tags": ["a", "b"]},
    "history.compress": {"branch": "main", "from": ONE, "to": TWO, "text": "both"},
    "history.register": {"name": "ticket"},
    "history.spawn": {"parent": "main", "child": "young", "purpose": "look"},
    "history.collapse": {"child": "kid", "text": "done"},
    "history.gc": {"retention_days": 0},
    "history.gcStep": {
        "seen": {"commit": 0, "hash": "", "move": 0, "message": 0, "since_ms": 0},
        "total": {"commits": 0, "blobs": 0, "segments": 0},
    },
    "work.add": {"prompt": "mend it", "task": TASK},
    "work.claim": {"worker": "host/1"},
    "work.renew": {"effort_id": CLAIMED, "generation": 1},
    "work.begin": {
        "effort_id": CLAIMED,
        "generation": 1,
        "driver": "shell",
        "agent_id": "a",
        "instance": "keeper09",
        "prompt": "go",
    },
    "work.preparing": {
        "effort_id": CLAIMED,
        "generation": 1,
        "how": "running",
        "command": "make",
        "log": "/log",
    },
    "work.report": {
        "session_id": 2,
        "instance": "keeper01",
        "seq": 1,
        "events": [{"kind": "text", "text": "hello"}, {"kind": "end", "outcome": "success"}],
    },
    "work.complete": {"effort_id": RUNNING, "generation": 1, "outcome": "error", "failure": "transient"},
    "work.retry": {"effort_id": FAILED},
    "work.resume": {"effort_id": FAILED},
    "work.drop": {"effort_id": QUEUED},
    "work.output": {"effort_id": FAILED, "output_content": "a text"},
    "fleet.kill": {"effort_id": RUNNING},
    "fleet.dismiss": {},
    "run.start": {"task": TASK, "lines": [{"key": "1", "text": "mend it"}]},
    "run.attend": {"run_id": WAITING, "attender": "host", "begins": True},
    "run.leave": {"run_id": ATTENDED, "attender": "host"},
    "run.turn": {"run_id": WAITING, "role": "system", "content": "be brief"},
    "run.archive": {"run_id": WAITING},
    "run.clean": {"days": 0},
    "run.purge": {"run_id": WAITING, "purged_by": "user", "reason": "old"},
    "session.archive": {"session_id": 1},
    "session.purge": {"session_id": ENDED, "purged_by": "user", "reason": "old"},
    "memory.purgeStep": {"branch": "main"},
    "memory.retain": {"sessions_days": 1},
    "memory.edits.record": {
        "effort_id": 1,
        "edits": [{"kind": "commit", "path": "/shop/a", "at_ms": 1, "lines": "", "git_commit": "0" * 40}],
    },
    "memory.addRows": {
        "origin": "elsewhere",
        "exported_at": "2026-01-05T08:00:00.000Z",
        "rows": [
            {
                "table": "projects",
                "values": {
                    "path": "/other",
                    "name": None,
                    "created_at": "2026-01-05T08:00:00.000Z",
                    "remote": None,
                    "removed_at": None,
                },
            }
        ],
    },
    "imports.add": IMPORTED,
    "import.rows": {
        "system": "gza",
        "source": "queue",
        "rows": [{"table": "tasks", "key": "1", "values": {"id": 1}}],
    },
    "search.upsert": {"source_type": "doc", "source_path": "/shop/a.md", "chunk_text": "vouchers"},
    "search.put_vectors": {"model": "m", "vectors": [{"chunk_id": 1, "values": [1.0]}]},
    "search.delete": {"source_path": "/shop/b.md"},
    "search.reindex": {},
    "hooks.injected": {"session_id": 1, "moment": "prompt", "size": 10, "tokens": 3},
    "work.hold": {"effort_id": QUEUED, "bounds": []},
    "drivers.release": {"driver": "claude"},
    "hosts.park": {"name": "north", "reason": "no room"},
    "hosts.resume": {"name": "full"},
    "hosts.works": {"name": "full"},
    "db.note_damage": {"reason": "a page", "since": "2026-01-05T08:00:00.000Z"},
    "landing.queue": {
        "project": "/shop",
        "directory": "/shop",
        "repository": "/shop/.git",
        "target": "main",
        "method": "merge",
        "entries": [{"efforts": [1], "branch": "ramet/e1", "head": "c" * 40, "message": "Land c"}],
    },
    "landing.claim": {"lander": "south"},
    "landing.renew": {"landing_id": LANDING, "generation": 1},
    "landing.note_tested": {"landing_id": LANDING, "generation": 1, "tip": "a" * 40, "tested": "b" * 40},
    "landing.finish": {"landing_id": LANDING, "generation": 1, "outcome": "failed", "reason": "red"},
    "landing.retry": {"landing_id": FAILED_LANDING},
    "landing.drop": {"landing_id": QUEUED_LANDING},
    "landing.undo": {"landing_id": LANDED},
    "drivers.admit": {"effort_id": CLAIMED, "generation": 1, "driver": "claude"},
    "spawn.agent": {"parent_session_id": 2, "goal": "look", "limits": {"tokens": 10}},
    "spawn.agents": {"parent_session_id": 2, "agents": [{"goal": "look"}, {"goal": " "}], "wait": True},
    "spawn.expect": {"session_ids": [CHILD]},
    "spawn.tend": {"is_starting": True},
    "spawn.report": {"session_id": CHILD, "report": {"summary": "done"}},
    "spawn.cancel": {"session_id": CHILD},
    "spawn.collapse": {"session_id": CHILD, "text": "done"},
    "budget.set": {"session_id": CHILD, "tokens": 100, "cost_usd": 1.5},
    "hooks.record": {"event": hook_calls.event("session_start", source="startup"), "facts": {"project": "/shop"}},
    "hooks.sessionStart": {"driver": "codex", "native_id": "n", "cwd": "/shop"},
    "hooks.sessionEnd": {"session_id": 1, "reason": "logout"},
    "hooks.preToolUse": {"session_id": 1, "tool": "Bash", "args": {"command": "make"}},
    "hooks.postToolUse": {"session_id": 1, "tool": "Read", "args": {"file_path": "/shop/a"}, "result": "a"},
    "hooks.postToolUseFailure": {"session_id": 1, "tool": "Bash"},
    "hooks.userPrompt": {"session_id": 1, "prompt": "go on"},
    "hooks.preCompact": {"session_id": 2},
    "hooks.permissionRequest": {"session_id": 1, "tool": "Bash"},
    "hooks.notification": {"session_id": 1, "text": "look"},
    "hooks.stop": {"session_id": 1},
    "hooks.subagentStart": {"session_id": 1, "subagent_id": "a1"},
    "hooks.subagentStop": {"session_id": 1, "subagent_id": "a1", "summary": "seen"},
    "hooks.taskCompleted": {"session_id": 1, "text": "mended"},
    "hooks.teammateIdle": {"session_id": 1},
    "hooks.fleetStart": {"agents": [{"id": "cleo", "claims": ["plan"]}]},
    "hooks.vanished": {"session_id": 1, "pid": 42, "started": 1.5},
    "hooks.logged": {"session_id": 1},
    "db.session.handoff": {"session_id": 1, "summary": "half done", "next_steps": ["the rest"]},
    "db.session.continue": {"session_id": 1},
    "commands.effort.begin": {"task_id": "/shop/x", "skill": "plan"},
    "ingest.add": {"session_id": 1, "path": "/t", "offset": 9, "entries": [hook_calls.entry("k", "hello")]},
}
"""What runs in the engine; the machine keeps its promises in tests of its own."""


@pytest.fixture
def furnished(world: World) -> World:
    """A project without work. Session 1 serves effort 1; effort 2 and agent bob are free. Three turns, a side, a child,
    a branch that moved; a queue of four efforts, of which session 2 serves the one that runs and has two children;
    three runs; a driver and a host that are parked; five landings.
    """
    world.skill("paint", [])
    world.call("db.project.upsert", path="/idle")
    world.session()
    world.sql("UPDATE sessions SET pid = 42, process_started = 1.5")
    world.effort("plan")
    world.call("db.agents.register", id="bob")
    for text in ("one", "two", "three"):
        world.call("history.commit", branch="main", text=text)
    world.call("history.branch", name="side", **{"from": TWO})
    world.call("history.commit", branch="side", text="else")
    world.call("history.spawn", parent="side", child="kid", purpose="look")
    world.call("history.branch", name="moved", **{"from": "main"})
    world.call("history.reset", branch="moved", to=ONE)
    fill_queue(world)
    record_runs(world)
    until = "2030-01-01T00:00:00.000Z"
    world.sql("INSERT INTO parked (driver, until, reason) VALUES ('claude', :until, 'a limit')", until=until)
    world.call("hosts.park", name="full", reason="no room")
    queue_landings(world)
    ended = world.call("db.session.start", task_id=TASK, effort_id=2)
    assert ended.id == ENDED
    world.call("db.session.finish", session_id=ENDED)
    world.call("search.upsert", source_type="doc", source_path="/shop/b.md", chunk_text="prices")
    return world


def queue_landings(world: World) -> None:
    """One of each kind, each for a target of its own; and one that can be claimed."""
    rows = {}
    for head, target in zip("abcde", ("landed", "failed", "claimed", "queued", "ready"), strict=True):
        rows[target] = landing_queue.queue(world, head, target=target)[0]
        if target == "landed":
            landing_queue.land(world, landing_queue.claim(world))
        elif target == "failed":
            landing_queue.finish(world, landing_queue.claim(world), "failed", reason="red")
        elif target == "claimed":
            landing_queue.claim(world)
    assert [row.id for row in rows.values()] == [LANDED, FAILED_LANDING, LANDING, QUEUED_LANDING, QUEUED_LANDING + 1]


def fill_queue(world: World) -> None:
    efforts = [add(world, task=f"/shop/tasks/{number}") for number in range(4)]
    assert [effort.id for effort in efforts] == [FAILED, RUNNING, CLAIMED, QUEUED]
    run(world, efforts[0], "stuck")
    assert begin(world, claim(world, "host/8", effort_id=RUNNING)).session.id == 2
    claim(world, "host/9", effort_id=CLAIMED)
    children = [world.call("spawn.agent", parent_session_id=2, goal="look", wait=wait) for wait in (False, True)]
    assert children[0].child_session_id == CHILD


def record_runs(world: World) -> None:
    lines = [run_steps.line("1"), run_steps.line("1"), run_steps.line("1", is_done=True)]
    runs = [run_steps.record(world, each, task=f"/shop/tasks/run {number}") for number, each in enumerate(lines)]
    assert [each.id for each in runs] == [WAITING, ATTENDED, FINISHED]
    run_steps.attend(world, runs[1])


def test_every_operation_that_changes_something_is_tried_here() -> None:
    of_engine = {operation.name for operation in changes_of(OPERATIONS) if operation.host == "engine"}
    assert set(REQUESTS) == of_engine - NEED_A_MODEL


@pytest.mark.requirement("R254")
@pytest.mark.parametrize("name", REQUESTS)
def test_the_same_key_and_request_give_the_same_reply_and_one_effect(furnished: World, name: str) -> None:
    first = furnished.call(name, **REQUESTS[name], idempotency_key="k")
    after_first = furnished.dump()
    furnished.clock.advance(60)
    again = furnished.call(name, **REQUESTS[name], idempotency_key="k")
    if isinstance(first, LogNoted):  # whoever writes the file has to know the second from the first
        first = replace(first, is_repeated=True)
    assert msgspec.json.encode(again) == msgspec.json.encode(first)
    assert furnished.dump() == after_first


@pytest.mark.requirement("R254")
def test_the_same_key_with_another_request_is_refused(furnished: World) -> None:
    furnished.call("db.effort.start", task_id=TASK, skill="do", idempotency_key="k")
    before = furnished.dump()
    others: list[tuple[str, dict[str, Any]]] = [
        ("db.effort.start", {"task_id": TASK, "skill": "plan"}),
        ("db.effort.start", {"task_id": TASK, "skill": "do", "mode": "tdd"}),
        ("db.session.heartbeat", {"session_id": 1}),
    ]
    for name, params in others:
        with pytest.raises(IdempotencyConflict) as refusal:
            furnished.call(name, **params, idempotency_key="k")
        assert (refusal.value.field, refusal.value.value) == ("idempotency_key", "k")
    assert furnished.dump() == before


@pytest.mark.requirement("R254")
def test_the_order_of_keys_in_a_parameter_does_not_make_another_request(furnished: World) -> None:
    first = furnished.call(
        "db.effort.start", task_id=TASK, skill="do", metadata={"a": 1, "b": {"c": 2, "d": 3}}, idempotency_key="k"
    )
    again = furnished.call(
        "db.effort.start", task_id=TASK, skill="do", metadata={"b": {"d": 3, "c": 2}, "a": 1}, idempotency_key="k"
    )
    assert again == first


@pytest.mark.requirement("R254")
def test_a_key_is_its_principals_own(furnished: World) -> None:
    mine = furnished.call("db.effort.start", task_id=TASK, skill="do", idempotency_key="k")
    theirs = furnished.call_as("agent", "db.effort.start", task_id=TASK, skill="plan", idempotency_key="k")
    assert (mine.skill, theirs.skill, theirs.ordinal) == ("do", "plan", mine.ordinal + 1)


@pytest.mark.requirement("R254")
def test_without_a_key_or_with_another_the_work_is_done_again(furnished: World) -> None:
    keys: list[dict[str, Any]] = [{}, {}, {"idempotency_key": "a"}, {"idempotency_key": "b"}]
    ordinals = [furnished.call("db.effort.start", task_id=TASK, skill="do", **key).ordinal for key in keys]
    assert ordinals == [3, 4, 5, 6]


@pytest.mark.requirement("R254", "R255")
def test_a_refused_request_does_not_use_up_its_key(furnished: World) -> None:
    before = furnished.dump()
    with pytest.raises(UnknownSkill):
        furnished.call("db.effort.start", task_id=TASK, skill="sing", idempotency_key="k")
    assert furnished.dump() == before
    furnished.call("db.skills.upsert", name="sing", project_id=1)
    assert furnished.call("db.effort.start", task_id=TASK, skill="sing", idempotency_key="k").skill == "sing"


@pytest.mark.requirement("R254")
@pytest.mark.parametrize(("days", "kept"), [(6.99, True), (7.01, False)])
def test_a_reply_is_kept_for_seven_days(furnished: World, days: float, kept: bool) -> None:
    first = furnished.call("db.effort.start", task_id=TASK, skill="do", idempotency_key="k")
    furnished.clock.advance(days * DAY_SECONDS)
    furnished.db.begin()
    furnished.engine.forget_old_replies(furnished.db, furnished.clock.now_ms(), 1000)
    furnished.db.commit()
    again = furnished.call("db.effort.start", task_id=TASK, skill="do", idempotency_key="k")
    assert (again.id == first.id) is kept
