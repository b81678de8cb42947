"""Runs: their lines are efforts of the queue, worked on while somebody attends."""

from pathlib import Path
from typing import Any

import pytest
from tests.conformance import queue_worker
from tests.conformance.query_plans import statements
from tests.conformance.run_steps import (
    TASK,
    attend,
    claim,
    do_all,
    do_next,
    get,
    leave,
    line,
    notices,
    record,
    start,
    states,
)
from tests.world import World, open_world

from ramet.cli.main import SECTIONS
from ramet.errors import (
    InvalidParams,
    RametError,
    RunAttended,
    RunChanged,
    RunFinished,
    RunNotFound,
    TaskFileInvalid,
    UnknownSkill,
)
from ramet.protocol.operations import OPERATIONS
from ramet.store.database.queries import QueryFile

MANY = 2_000
DAY_SECONDS = 86_400


def lapse(world: World, run: Any) -> None:
    """Let the attendance of a run run out, whoever's clock counts."""
    world.sql("UPDATE runs SET attended_until = '2000-01-01T00:00:00.000Z' WHERE id = :id", id=run.id)


@pytest.mark.requirement("R74", "R76")
def test_a_run_has_all_that_a_checkpoint_has(world: World) -> None:
    run = start(world, "1", "2", "3", "4", line("5", is_done=True), name="tasks.md", content_hash="abc")
    do_next(world, run, output_content="first")
    do_next(world, run, "error", failure="permanent", reason="no")
    world.clock.advance(5)
    queue_worker.begin(world, claim(world, run))
    world.call("work.drop", effort_id=get(world, run).lines[-1].effort_id)
    shown = get(world, run)
    assert (shown.id, shown.task_id, shown.name, shown.content_hash) == (run.id, TASK, "tasks.md", "abc")
    assert [(each.key, each.state) for each in shown.lines] == [
        ("5", "completed"),
        ("1", "completed"),
        ("2", "failed"),
        ("3", "in_progress"),
        ("4", "skipped"),
    ]
    assert (shown.state, shown.started_at.isoformat()) == ("running", "2026-01-05T08:00:00.123000+00:00")
    assert shown.saved_at == "2026-01-05T08:00:05.123Z"
    assert shown.counts == {"pending": 0, "in_progress": 1, "completed": 2, "no_change": 0, "failed": 1, "skipped": 1}
    assert [turn.role for turn in shown.conversation] == ["user", "assistant", "user", "system", "user"]


@pytest.mark.requirement("R76")
def test_a_line_shows_what_its_effort_came_to(world: World) -> None:
    run = start(world, line("a", skill="plan", driver="codex"), line("b", "a"), mode="parallel")
    attempt = queue_worker.begin(world, claim(world, run), worktree="/w", git_branch="ramet/e1", git_base="00")
    usage = {"kind": "usage", "key": "k", "input_tokens": 5, "output_tokens": 2, "cost_usd": 0.5}
    queue_worker.report(world, attempt, usage, queue_worker.end())
    queue_worker.complete(world, attempt, output_content="x" * 3000, git_head="11")
    first, second = get(world, run).lines
    assert (first.skill, first.state, first.driver, first.attempts) == ("plan", "completed", "command", 1)
    assert (first.git_branch, first.git_head, first.worktree) == ("ramet/e1", "11", "/w")
    assert (first.tokens, first.cost_usd, len(first.output or "")) == (7, 0.5, 2000)
    assert (second.depends_on, second.state, second.tokens, second.output) == (["a"], "pending", 0, None)
    assert len(get(world, run, outputs=True).lines[0].output or "") == 3000
    listed = world.call("run.list").items[0]
    assert (listed.tokens, listed.cost_usd, listed.counts["completed"]) == (7, 0.5, 1)


@pytest.mark.requirement("R93")
def test_lines_of_a_sequential_run_follow_each_other_whatever_becomes_of_one(world: World) -> None:
    run = start(world, line("1"), line("2", "3"), line("3"), line("4"), keep_going=True)
    assert do_next(world, run) == "1"
    assert do_next(world, run, "error", failure="permanent") == "3"
    queue_worker.begin(world, claim(world, run))
    assert claim(world, run, "host/2").refused == "missing"
    assert states(world, run) == {"1": "completed", "3": "failed", "2": "in_progress", "4": "pending"}


@pytest.mark.requirement("R376")
def test_lines_of_a_run_that_keeps_going_wait_only_for_the_end_of_what_they_depend_on(world: World) -> None:
    """DESIGN-2 section 3 made this an option: without it, dependents of a failed line are skipped."""
    lines = (line("1"), line("2"), line("3", "1", "2"), line("1.1"))
    run = start(world, *lines, mode="parallel", keep_going=True)
    first, second = claim(world, run, "host/1"), claim(world, run, "host/2")
    assert [first.run_line, second.run_line] == ["1", "2"]
    assert claim(world, run, "host/3").refused == "missing"
    queue_worker.complete(world, first, "error", failure="permanent")
    assert claim(world, run, "host/1").run_line == "1.1"
    queue_worker.complete(world, second)
    assert claim(world, run, "host/3").refused == "missing", "what stands below 1 is part of it"
    blocked = world.call("work.list", run=run.id, state="queued").items[0]
    assert (blocked.run_line, blocked.blocked, blocked.depends_on) == (
        "3",
        True,
        [first.id, second.id, blocked.blocked_by],
    )


def test_lines_of_a_run_are_only_for_those_who_name_the_run(world: World) -> None:
    run, other = start(world, "1"), start(world, "1", task="/shop/tasks/x")
    ordinary = queue_worker.add(world)
    effort_id = run.lines[0].effort_id
    assert world.call("work.next").id == ordinary.id
    refused = queue_worker.claim(world, effort_id=effort_id)
    assert (refused.refused, refused.detail) == ("blocked", f"effort {effort_id} does not fit this worker: its run")
    assert queue_worker.claim(world, run=other.id, effort_id=effort_id).refused == "blocked"
    assert queue_worker.claim(world, "host/1").id == ordinary.id
    assert queue_worker.claim(world, "host/2").refused == "missing"
    assert claim(world, run, "host/2", effort_id=effort_id).id == effort_id


@pytest.mark.requirement("R310")
def test_work_is_claimed_only_where_its_project_is(world: World) -> None:
    here = record(world, "1", mode="parallel")
    attend(world, here)
    nowhere = queue_worker.add(world)
    assert claim(world, here, "a/1", host="a").run_line == "1", "nobody has said where the project is"
    world.sql("INSERT INTO project_paths (project_id, host, path) SELECT id, 'b', '/shop' FROM projects")
    for host in ("a", "c"):
        assert world.call("work.next", host=host) is None
        assert queue_worker.claim(world, f"{host}/2", host=host).refused == "missing"
        assert queue_worker.claim(world, f"{host}/2", host=host, effort_id=nowhere.id).detail.endswith("its host")
    assert world.call("work.next", host="b").id == nowhere.id
    assert queue_worker.claim(world, "b/1", host="b").id == nowhere.id


def test_only_what_is_attended_is_worked_on(world: World) -> None:
    run = record(world, "1", "2")
    assert world.call("work.next", run=run.id) is None
    assert claim(world, run).detail == f"run {run.id} is interrupted: no process attends it"
    attend(world, run)
    assert do_next(world, run) == "1"
    assert leave(world, run).state == "interrupted"
    assert claim(world, run).refused == "missing"
    assert leave(world, run, "somebody else").state == "interrupted"
    attend(world, run)
    lapse(world, run)
    assert get(world, run).state == "interrupted"
    assert claim(world, run).refused == "missing"


def test_a_run_that_is_attended_is_taken_over_only_when_its_attender_has_vanished(world: World) -> None:
    run = start(world, "1")
    for attender in ("host", "other"):
        with pytest.raises(RunAttended):
            attend(world, run, attender)
    with pytest.raises(RunAttended):
        attend(world, run, "other", begins=False)
    before = world.events()
    assert attend(world, run, begins=False).state == "running"
    assert world.events() == before, "a sign of life is no event"
    lapse(world, run)
    assert attend(world, run, "other").state == "running"
    with pytest.raises(RunAttended):
        attend(world, run, begins=False)
    assert leave(world, run, "host").state == "running"
    leave(world, run, "other")
    with pytest.raises(RunAttended):
        attend(world, run, "other", begins=False)


@pytest.mark.requirement("R93", "R98")
def test_a_run_that_was_killed_goes_on_with_what_is_left_and_the_line_that_was_running(world: World) -> None:
    run = start(world, *map(str, range(1, 6)))
    done = [do_next(world, run) for _ in range(2)]
    running = queue_worker.begin(world, claim(world, run)).effort
    lapse(world, run)
    queue_worker.expire(world, running.id)
    assert states(world, run) == {
        **dict.fromkeys(done, "completed"),
        "3": "in_progress",
        "4": "pending",
        "5": "pending",
    }
    world.clock.advance(60)
    resumed = attend(world, run, "another daemon")
    assert resumed.started_at.isoformat() == "2026-01-05T08:01:00.123000+00:00"
    assert do_next(world, run) == "3"
    assert do_all(world, run) == ["4", "5"]
    assert get(world, run).state == "finished"
    assert [each.attempts for each in get(world, run).lines] == [1, 1, 2, 1, 1]


@pytest.mark.requirement("R101")
def test_a_run_whose_file_has_changed_is_not_resumed_unless_told(world: World) -> None:
    run = record(world, "1", content_hash="as it was")
    with pytest.raises(RunChanged) as refusal:
        attend(world, run, content_hash="as it is")
    assert refusal.value.exit_status == 4
    assert get(world, run).state == "interrupted"
    attend(world, run, content_hash="as it was")
    leave(world, run)
    attend(world, run)
    leave(world, run)
    assert attend(world, run, content_hash="as it is", is_forced=True).state == "running"


def test_a_run_is_finished_with_its_last_line_in_the_same_transaction(world: World) -> None:
    run = start(world, "1", "2", mode="parallel")
    first, second = claim(world, run, "host/1"), claim(world, run, "host/2")
    queue_worker.complete(world, first)
    assert get(world, run).state == "running"
    before = world.call("events.list", newest=True, limit=1).items[-1].id
    queue_worker.complete(world, second, "error", failure="permanent")
    shown = get(world, run)
    assert (shown.state, shown.attended_until, shown.reason) == ("finished", None, None)
    assert shown.finished_at == shown.started_at
    assert world.events(before)[-1] == "run.finished"
    for begins in (True, False):
        with pytest.raises(RunFinished):
            attend(world, run, begins=begins)


def test_a_line_that_is_dropped_or_finished_by_hand_may_be_the_last(world: World) -> None:
    run = record(world, "1", "2", mode="parallel")
    world.call("work.drop", effort_id=run.lines[0].effort_id)
    assert get(world, run).state == "interrupted"
    world.call("db.effort.finish", effort_id=run.lines[1].effort_id)
    assert get(world, run).state == "finished"


def test_what_failed_is_done_again_where_asked_for_and_nothing_else(world: World) -> None:
    run = start(world, "1", "2", "3", mode="parallel")
    world.call("work.drop", effort_id=run.lines[2].effort_id)
    do_next(world, run)
    do_next(world, run, "error", failure="permanent", reason="no")
    with pytest.raises(RunFinished):
        attend(world, run)
    again = attend(world, run, retry_failed=True)
    assert (again.state, again.finished_at, again.counts["pending"]) == ("running", None, 1)
    assert do_all(world, run) == ["2"]
    assert states(world, run) == {"1": "completed", "2": "completed", "3": "skipped"}
    with pytest.raises(RunFinished):
        attend(world, run, retry_failed=True)


def test_a_line_is_done_again_by_its_run_and_not_by_itself(world: World) -> None:
    run = start(world, "1")
    do_next(world, run, "error", failure="permanent")
    for operation in ("work.retry", "work.resume"):
        with pytest.raises(InvalidParams, match=f"is a line of run {run.id}"):
            world.call(operation, effort_id=run.lines[0].effort_id)


def test_after_a_failure_a_run_that_stops_begins_no_more_until_it_is_resumed(world: World) -> None:
    run = start(world, "1", "2", "3", mode="parallel", stop_on_failure=True)
    first, second = claim(world, run, "host/1"), claim(world, run, "host/2")
    queue_worker.complete(world, first, "error", failure="permanent", reason="no")
    assert world.call("work.next", run=run.id) is None
    assert claim(world, run).detail == f"run {run.id} starts no more lines: line 1 ended with error"
    queue_worker.complete(world, second)
    assert (get(world, run).state, get(world, run).reason) == ("running", "line 1 ended with error")
    leave(world, run)
    attend(world, run)
    assert do_all(world, run) == ["3"]
    assert (get(world, run).state, get(world, run).reason) == ("finished", None)


def test_a_line_that_is_tried_again_does_not_stop_its_run(world: World) -> None:
    run = start(world, "1", "2", stop_on_failure=True)
    assert do_next(world, run, "error", failure="transient") == "1"
    world.clock.advance(600)
    attend(world, run, begins=False)
    assert do_all(world, run) == ["1", "2"]


@pytest.mark.requirement("R301")
@pytest.mark.parametrize(
    ("limits", "outcome", "why"),
    [
        ({"tokens": 10}, "budget", "the run has used 12 tokens, and its limit is 10"),
        ({"cost_usd": 0.25}, "budget", "the run has cost $0.50, and its limit is $0.25"),
        ({"seconds": 30}, "timeout", "the run has reached its limit of 30 seconds"),
    ],
)
def test_a_bound_ends_what_waits_with_one_notice(world: World, limits: Any, outcome: str, why: str) -> None:
    run = start(world, *map(str, range(1, 6)), mode="parallel", limits=limits)
    first, second = (queue_worker.begin(world, claim(world, run, worker)) for worker in ("host/1", "host/2"))
    usage = {"kind": "usage", "key": "k", "input_tokens": 8, "output_tokens": 4, "cost_usd": 0.5}
    queue_worker.report(world, first, usage, queue_worker.end())
    world.clock.advance(30)
    queue_worker.complete(world, first)
    assert claim(world, run, "host/3").detail == why
    assert claim(world, run, "host/3").refused == "missing"
    shown = get(world, run)
    assert (shown.state, shown.reason) == ("running", why), "what runs goes on"
    assert {(each.state, each.outcome, each.reason) for each in shown.lines[2:]} == {("skipped", outcome, why)}
    queue_worker.complete(world, second)
    assert (get(world, run).state, get(world, run).reason) == ("finished", why)
    (notice,) = notices(world, "run_bound")
    assert notice.text == f"run {run.id} (cart) stopped at a limit: {why}; 3 of its lines were not run"


def test_a_bound_that_is_reached_when_nothing_runs_finishes_the_run(world: World) -> None:
    run = start(world, "1", "2", limits={"seconds": 30})
    do_next(world, run)
    world.clock.advance(30)
    assert claim(world, run).refused == "missing"
    assert get(world, run).state == "finished"
    assert attend(world, run, retry_failed=True).counts["pending"] == 1, "the time counts from now"
    assert do_all(world, run) == ["2"]


SPENT = {"kind": "usage", "key": "k", "input_tokens": 8, "output_tokens": 4, "cost_usd": 0.5}


def spend(world: World, run: Any, outcome: str = "success", **params: Any) -> None:
    """Do the next line, which uses twelve tokens and half a dollar."""
    attempt = queue_worker.begin(world, claim(world, run))
    queue_worker.report(world, attempt, SPENT, queue_worker.end())
    queue_worker.complete(world, attempt, outcome, **params)


@pytest.mark.parametrize(
    ("limits", "larger"), [({"tokens": 20}, {"tokens": 1000}), ({"cost_usd": 0.9}, {"cost_usd": 5.0})]
)
def test_a_run_at_its_bound_goes_on_with_a_larger_one_and_not_with_what_failed(
    world: World, limits: Any, larger: Any
) -> None:
    run = start(world, *map(str, range(1, 6)), limits=limits)
    spend(world, run, "budget", reason="the agent's own")
    spend(world, run, "timeout")
    assert claim(world, run).refused == "missing"
    for params in ({}, {"retry_failed": True}, {"limits": {"seconds": 5}}):
        with pytest.raises(RunFinished, match="cannot continue: the run has") as refusal:
            attend(world, run, **params)
        assert "raise the limit" in refusal.value.fix
    assert get(world, run).limits == run.limits
    resumed = attend(world, run, limits=larger)
    assert (resumed.state, resumed.reason, resumed.counts["pending"], resumed.counts["failed"]) == (
        *("running", None),
        *(3, 2),
    )
    assert world.call("db.query", sql="SELECT failure FROM efforts ORDER BY id LIMIT 2").rows == [
        ["permanent"],
        ["timeout"],
    ]
    assert do_all(world, run) == ["3", "4", "5"]
    assert get(world, run).state == "finished"
    with pytest.raises(RunFinished, match="is finished"):
        attend(world, run)


def test_new_bounds_take_the_place_of_the_old_ones_and_the_others_stay(world: World) -> None:
    run = start(world, "1", "2", "3", mode="parallel", limits={"workers": 1, "tokens": 10})
    leave(world, run)
    resumed = attend(world, run, limits={"workers": 2, "cost_usd": 3.5})
    assert (resumed.limits.workers, resumed.limits.tokens, resumed.limits.cost_usd) == (2, 10, 3.5)
    claim(world, run, "host/1")
    assert claim(world, run, "host/2").run_line == "2"


def test_a_run_that_took_too_long_is_resumed_without_more_ado_and_has_all_its_time_again(world: World) -> None:
    run = start(world, "1", "2", "3", limits={"seconds": 30})
    do_next(world, run, "error", failure="transient")
    world.clock.advance(30)
    assert claim(world, run).refused == "missing"
    assert states(world, run) == {"1": "failed", "2": "skipped", "3": "skipped"}
    attend(world, run)
    assert do_all(world, run) == ["1", "2", "3"]


def test_a_line_that_is_ended_to_be_taken_up_again_waits_and_says_nothing(world: World) -> None:
    run = start(world, "1", "2", stop_on_failure=True)
    attempt = queue_worker.begin(world, claim(world, run))
    world.call("fleet.kill", effort_id=attempt.effort.id, requeues=True)
    queue_worker.complete(world, attempt, "cancelled", reason="interrupted")
    leave(world, run)
    shown = get(world, run)
    assert (shown.state, shown.reason, shown.counts["pending"]) == ("interrupted", None, 2)
    attend(world, run)
    assert do_all(world, run) == ["1", "2"]
    assert [(turn.role, turn.content) for turn in get(world, run).conversation] == [
        ("user", "do 1"),
        ("user", "do 2"),
    ]


def test_no_more_lines_run_at_once_than_the_run_allows(world: World) -> None:
    run = start(world, "1", "2", "3", mode="parallel", limits={"workers": 2})
    first = claim(world, run, "host/1")
    second = claim(world, run, "host/2")
    assert claim(world, run, "host/3").detail == f"run {run.id} already runs 2 lines, its limit"
    queue_worker.complete(world, first)
    assert claim(world, run, "host/3").run_line == "3"
    queue_worker.expire(world, second.id)
    assert world.call("work.next", run=run.id).run_line == "2", "who has vanished is not at work"
    assert claim(world, run, "host/1").run_line == "2"


@pytest.mark.parametrize(
    ("lines", "named"),
    [
        ([], "no task"),
        ([line("1"), line("1")], "two lines have the key 1"),
        ([line("1", "7")], "line 1 depends on 7"),
        ([line("1", "2"), line("2", "1")], "1 → 2 → 1"),
        ([line("1", "1")], "1 → 1"),
    ],
)
@pytest.mark.parametrize("mode", ["sequential", "parallel"])
def test_lines_that_cannot_be_ordered_are_refused_by_name_and_nothing_is_made(
    world: World, lines: Any, named: str, mode: str
) -> None:
    world.call("db.project.upsert", path="/shop")
    before = world.dump()
    with pytest.raises(TaskFileInvalid, match=named) as refusal:
        world.call("run.start", task=TASK, lines=lines, mode=mode)
    assert refusal.value.exit_status == 2
    assert world.dump() == before


@pytest.mark.parametrize(
    ("params", "error"),
    [
        ({"lines": [line("1", skill="sing")]}, UnknownSkill),
        ({"mode": "chain"}, InvalidParams),
        ({"mode": "chain", "prompt": " "}, InvalidParams),
        ({"mode": "chain", "prompt": "x", "lines": [line("1")]}, InvalidParams),
        ({"lines": [line("1")], "prompt": "x"}, InvalidParams),
        ({"lines": [line("1")], "limits": {"workers": 0}}, InvalidParams),
        ({"lines": [line("-1")]}, InvalidParams),
        ({"lines": [{"key": "1", "text": ""}]}, InvalidParams),
    ],
)
def test_a_run_that_makes_no_sense_is_refused(world: World, params: Any, error: type[RametError]) -> None:
    world.call("db.project.upsert", path="/shop")
    before = world.dump()
    with pytest.raises(error):
        world.call("run.start", task=TASK, **params)
    assert world.dump() == before


def test_an_unknown_run_is_refused_by_everything(world: World) -> None:
    requests: dict[str, dict[str, Any]] = {
        "run.get": {},
        "run.turns": {},
        "run.attend": {"attender": "a", "begins": True},
        "run.leave": {"attender": "a"},
        "run.turn": {"role": "user", "content": "x"},
        "run.archive": {},
    }
    for name, params in requests.items():
        with pytest.raises(RunNotFound) as refusal:
            world.call(name, run_id=9, **params)
        assert (refusal.value.field, refusal.value.value, refusal.value.exit_status) == ("run_id", 9, 3)
    assert queue_worker.claim(world, run=9).detail == "there is no run 9"
    assert world.call("work.next", run=9) is None


def test_lines_that_were_done_before_are_on_record_and_nobody_waits_for_them(world: World) -> None:
    run = start(world, line("1", is_done=True), line("2", "1"), line("3", "2"), mode="parallel")
    done = run.lines[0]
    assert (done.state, done.outcome, done.reason, done.attempts) == ("completed", "success", "done before the run", 0)
    assert [each.depends_on for each in run.lines] == [[], [], ["2"]]
    assert do_all(world, run) == ["2", "3"]
    finished = record(world, line("1", is_done=True))
    assert (finished.state, finished.conversation) == ("finished", [])


@pytest.mark.requirement("R105", "R307")
def test_runs_are_listed_and_archived_ones_only_where_asked_for(world: World) -> None:
    ids = [record(world, "1").id for _ in range(4)]
    assert world.call("run.archive", run_id=ids[1]).archived_at is not None
    assert [run.id for run in world.call("run.list").items] == [ids[3], ids[2], ids[0]]
    page = world.call("run.list", all=True, limit=3)
    assert [run.id for run in page.items] == ids[:0:-1]
    assert [run.id for run in world.call("run.list", all=True, cursor=page.next).items] == [ids[0]]
    assert world.call("run.archive", run_id=ids[1], archived=False).archived_at is None
    assert len(world.call("run.list").items) == 4
    world.call("run.archive", run_id=ids[0])
    assert attend(world, get(world, page.items[0])).archived_at is None
    with pytest.raises(RunAttended):
        world.call("run.archive", run_id=page.items[0].id)


@pytest.mark.requirement("R105", "R307")
def test_old_runs_are_deleted_with_what_they_said_and_their_efforts_stay(world: World) -> None:
    finished, archived, fresh, attended = (
        start(world, "1"),
        record(world, "1", "2"),
        record(world, "1"),
        start(world, "1"),
    )
    do_next(world, finished, output_content="said")
    world.call("run.archive", run_id=archived.id)
    world.clock.advance(7 * DAY_SECONDS)
    attend(world, attended, begins=False)
    queue_worker.complete(world, claim(world, attended))
    assert world.call("run.clean", days=8).run_ids == []
    assert world.call("run.clean", dry_run=True).run_ids == [finished.id, archived.id]
    before = world.call("history.branches", prefix="run/").items
    assert world.call("run.clean").run_ids == [finished.id, archived.id]
    assert world.call("run.clean").run_ids == []
    assert [run.id for run in world.call("run.list", all=True).items] == [attended.id, fresh.id]
    assert len(world.call("history.branches", prefix="run/").items) == len(before) - 2
    assert world.call("history.undo", branch=f"run/{finished.id}").depth == 2, "a deleted branch can be brought back"
    kept = [world.call("work.get", effort_id=each.effort_id) for each in [*finished.lines, *archived.lines]]
    assert [(each.run_id, each.outcome) for each in kept] == [(None, "success"), (None, "dropped"), (None, "dropped")]
    assert world.call("run.clean", days=0).run_ids == [attended.id]


def test_a_run_somebody_works_on_is_not_deleted(world: World) -> None:
    run = start(world, "1", "2")
    queue_worker.begin(world, claim(world, run))
    leave(world, run)
    world.call("run.archive", run_id=run.id)
    assert world.call("run.clean", days=0).run_ids == []


def test_secrets_in_the_lines_of_a_run_are_stored_nowhere(world: World) -> None:
    secret = "ghp_" + "a1B2" * 9
    run = start(world, {"key": "1", "text": f"use {secret} \0 now"}, name=secret)
    world.call("run.turn", run_id=run.id, role="user", content=secret)
    do_next(world, run, output_content=secret)
    record(world, mode="chain", prompt=f"build with {secret}")
    shown = get(world, run)
    assert secret not in repr(world.dump()) + repr(shown)
    assert "[REDACTED:github:" in shown.lines[0].text
    assert shown.lines[0].text.endswith("␀ now")


@pytest.mark.requirement("R106", "R308")
def test_nothing_that_people_call_is_a_checkpoint() -> None:
    names = [*OPERATIONS, *(command for section in SECTIONS.values() for command in section)]
    assert "run.start" in names
    assert not [name for name in names if "checkpoint" in name]


def test_a_long_run_takes_few_statements_and_its_next_line_is_found_at_once(world: World) -> None:
    lines = [line(str(number + 1)) for number in range(MANY)]
    world.call("db.project.upsert", path="/shop")
    assert statements(world, "run.start", task=TASK, lines=lines)[0] < 40
    run = start(world, *lines)
    assert statements(world, "run.get", run_id=run.id)[0] < 10
    assert statements(world, "work.next", run=run.id)[0] <= 4
    assert [do_next(world, run) for _ in range(3)] == ["1", "2", "3"]
    counts = {"pending": MANY - 3, "in_progress": 0, "completed": 3, "no_change": 0, "failed": 0, "skipped": 0}
    assert get(world, run).counts == counts
    kept = [each.run_order for each in reversed(world.call("work.list", run=run.id, limit=1000).items)]
    assert kept == list(range(MANY - 1000, MANY))


def test_statistics_that_are_older_than_a_run_do_not_make_its_list_quadratic(
    tmp_path: Path, database_url: str | None
) -> None:
    # A database believes that a table has as few rows as when it was last analysed. It then evaluated what an effort
    # waits for once for each pair of efforts: minutes for a run of 2,000 lines.
    with open_world(tmp_path, database_url) as world:
        world.call("db.project.upsert", path="/shop")
        start(world, line("1"))
        world.analyse()
        run = start(world, *(line(str(number + 1)) for number in range(MANY)))
        page = QueryFile("work/queue").page_of_run
        plan = world.explain(page, run_id=run.id, project_id=None, before=2**62, state=None, limit=1000)
        assert not [step for step in ("SubPlan", "SCAN n") if step in plan]
        assert len(world.call("work.list", run=run.id, limit=1000).items) == 1000
