"""The prompt of a run's line is the compile of the run's branch: a rewrite changes both in the same way."""

from typing import Any

import pytest
from tests.runner.desk import Desk
from tests.runner.run_desk import RunDesk, line
from tests.world import Counting

from ramet.model.runs.conversation import render_prompt

LINES = 6


def talk(desk: Desk, answered: int = 3) -> RunDesk:
    run = RunDesk(desk, [line(str(number)) for number in range(1, LINES + 1)])
    for number in range(1, answered + 1):
        run.run(output_content=f"answer {number}")
    return run


def compiled(desk: Desk, run: RunDesk, task: str) -> str:
    """The prompt that follows from what `history.compile` gives of the run's branch."""
    messages = desk.world.call("history.compile", branch=run.detail.branch).messages
    return render_prompt([(message["role"], message["content"]) for message in messages], task)


def log(desk: Desk, run: RunDesk) -> list[Any]:
    """The commits of the run's branch, the oldest first."""
    return list(reversed(desk.world.call("history.log", branch=run.detail.branch).items))


def compress(desk: Desk, run: RunDesk) -> None:
    commits = log(desk, run)
    hashes = {"from": commits[0].hash, "to": commits[3].hash}
    desk.world.call("history.compress", branch=run.detail.branch, text="SUMMARY OF BOTH", **hashes)


def skip(desk: Desk, run: RunDesk) -> None:
    desk.world.call("history.annotate", hash=log(desk, run)[1].hash, priority="skip")


def edit(desk: Desk, run: RunDesk) -> None:
    desk.world.call("history.edit", branch=run.detail.branch, target=log(desk, run)[1].hash, text="a better answer")


def reset(desk: Desk, run: RunDesk) -> None:
    desk.world.call("history.reset", branch=run.detail.branch, to=log(desk, run)[1].hash)


def merge(desk: Desk, run: RunDesk) -> None:
    desk.world.call("history.branch", name="side", **{"from": log(desk, run)[1].hash})
    desk.world.call("history.commit", branch="side", text="said aside", role="assistant")
    desk.world.call("history.merge", into=run.detail.branch, **{"from": "side"})


EFFECTS = {
    compress: ("[User]\nSUMMARY OF BOTH\n\n[User]\ntask 3\n\n[Assistant]\nanswer 3", "answer 1"),
    skip: ("[User]\ntask 1\n\n[User]\ntask 2\n\n[Assistant]\nanswer 2", "answer 1"),
    edit: ("[User]\ntask 1\n\n[Assistant]\na better answer\n\n[User]\ntask 2", "answer 1"),
    reset: ("[User]\ntask 1\n\n[Assistant]\nanswer 1\n\n[Current Task]", "answer 2"),
    merge: ("[Assistant]\nsaid aside", "an edit"),
}


@pytest.mark.requirement("R352")
@pytest.mark.parametrize("is_known", [True, False], ids=["known before", "new"])
@pytest.mark.parametrize("rewrite", EFFECTS, ids=lambda rewrite: rewrite.__name__)
def test_a_rewrite_changes_the_next_prompt_as_it_changes_the_compile(desk: Desk, rewrite: Any, is_known: bool) -> None:
    run = talk(desk)
    fourth = run.claim()
    if is_known:
        assert run.prompt(fourth) == compiled(desk, run, "task 4")
    rewrite(desk, run)
    shown, gone = EFFECTS[rewrite]
    assert run.prompt(fourth) == compiled(desk, run, "task 4")
    assert shown in run.prompt(fourth)
    assert gone not in run.prompt(fourth)
    run.finish(fourth, output_content="answer 4")
    fifth = run.claim()
    assert run.prompt(fifth) == compiled(desk, run, "task 5")
    assert run.prompt(fifth).endswith("[User]\ntask 4\n\n[Assistant]\nanswer 4\n\n[Current Task]\ntask 5")


@pytest.mark.requirement("R352")
def test_an_undone_rewrite_gives_the_prompt_of_before(desk: Desk) -> None:
    run = talk(desk)
    fourth = run.claim()
    before = run.prompt(fourth)
    compress(desk, run)
    assert run.prompt(fourth) != before
    desk.world.call("history.undo", branch=run.detail.branch)
    assert run.prompt(fourth) == before


@pytest.mark.requirement("R352")
def test_the_conversation_of_a_run_is_shown_as_its_lines_are_told_it(desk: Desk) -> None:
    run = talk(desk)
    compress(desk, run)
    skip(desk, run)
    shown = [(turn.role, turn.content) for turn in run.detail.conversation]
    assert shown == [("user", "SUMMARY OF BOTH"), ("user", "task 3"), ("assistant", "answer 3")]
    assert render_prompt(shown, "task 4") == run.prompt(run.claim())


@pytest.mark.requirement("R352")
def test_what_a_tool_said_is_told_as_the_compile_has_it_and_settings_are_not(desk: Desk) -> None:
    run = talk(desk, 1)
    desk.world.call("history.commit", branch=run.detail.branch, text="3 passed", role="tool", content_type="tool_io")
    desk.world.call("history.commit", branch=run.detail.branch, text="{}", content_type="config")
    prompt = run.prompt(run.claim())
    assert prompt == compiled(desk, run, "task 2")
    assert ("[tool]\n3 passed\n" in prompt, "{}" in prompt) == (True, False)


@pytest.mark.requirement("R104", "R352")
def test_a_run_continues_on_a_fork_and_leaves_its_former_branch_alone(desk: Desk) -> None:
    run = talk(desk)
    former = run.detail.branch
    third = run.claim()
    run.prompt(third)
    desk.world.call("history.branch", name="another-way", **{"from": log(desk, run)[1].hash})
    before = desk.world.call("history.log", branch=former).items
    run.leave()
    run.attend(branch="another-way")
    assert run.detail.branch == "another-way"
    told = "[User]\ntask 1\n\n[Assistant]\nanswer 1\n\n"
    assert run.prompt(third) == f"{told}[Current Task]\ntask 4"
    run.finish(third, output_content="answer 4")
    assert run.prompt(run.claim()) == f"{told}[User]\ntask 4\n\n[Assistant]\nanswer 4\n\n[Current Task]\ntask 5"
    assert desk.world.call("history.log", branch=former).items == before


@pytest.mark.requirement("R352")
def test_a_line_that_is_attempted_again_is_not_told_its_question_whoever_looked_in_between(desk: Desk) -> None:
    run = talk(desk, 1)
    second = run.claim()
    before = run.prompt(second)
    run.finish(second, "error", failure="transient")
    other = next(row for row in run.detail.lines if row.key == "5")
    looked = desk.world.call("work.get", effort_id=other.effort_id)
    assert "task 2" in run.prompt(looked)
    assert run.prompt(second) == before
    desk.world.call("run.turn", run_id=run.id, role="system", content="be brief")
    assert "task 2" in run.prompt(looked)
    assert run.prompt(second) == before.replace("[Current Task]", "[System]\nbe brief\n\n[Current Task]")


class Rows(Counting):
    """A connection that counts the rows that come through it, too."""

    rows = 0

    def all(self, query: Any, **params: Any) -> Any:
        found = super().all(query, **params)
        self.rows += len(found)
        return found

    def one(self, query: Any, **params: Any) -> Any:
        found = super().one(query, **params)
        self.rows += found is not None
        return found


def cost_of_prompt(desk: Desk, run: RunDesk) -> tuple[int, int]:
    """The statements and the rows of one more line's prompt, when the line before it has just ended."""
    claimed = run.claim()
    plain, desk.world.db = desk.world.db, Rows(desk.world.db)
    try:
        run.prompt(claimed)
        cost = len(desk.world.db.names), desk.world.db.rows
    finally:
        desk.world.db = plain
    run.finish(claimed, output_content="short")
    return cost


@pytest.mark.requirement("R352")
def test_a_prompt_late_in_a_run_costs_what_one_early_in_it_costs(desk: Desk) -> None:
    (desk.project / "ramet.yaml").write_text("runs: {context_tokens: 400}\n")
    run = RunDesk(desk, [line(str(number)) for number in range(1, 8)])
    add(desk, run, 100)
    cost_of_prompt(desk, run)
    early = cost_of_prompt(desk, run)
    add(desk, run, 3_000)
    cost_of_prompt(desk, run)
    assert cost_of_prompt(desk, run) == early
    edit(desk, run)
    cost_of_prompt(desk, run)
    assert cost_of_prompt(desk, run) == early, "also in a branch that was rewritten"


def add(desk: Desk, run: RunDesk, turns: int) -> None:
    for number in range(turns):
        desk.world.call("run.turn", run_id=run.id, role="user", content=f"turn {number}")
