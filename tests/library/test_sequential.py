"""Tasks one after the other and side by side, from a program."""

import asyncio
import os
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from tests.project_settings import write_trusted

import ramet
from ramet import ContextAccumulator, SpawnResult, SpawnTask, Turn, spawn_parallel, spawn_sequential
from ramet.errors import InvalidParams
from ramet.library.sequential import spawn_task


@dataclass
class Agents:
    """A program's own way of running tasks: it answers from a list, or with what it is told to, and remembers."""

    answers: list[str | SpawnResult] = field(default_factory=list)
    seen: list[SpawnTask] = field(default_factory=list)
    kwargs: list[dict[str, Any]] = field(default_factory=list)

    async def __call__(self, task: SpawnTask, **kwargs: Any) -> SpawnResult:
        answer = self.answers[len(self.seen)] if len(self.seen) < len(self.answers) else f"answer {len(self.seen) + 1}"
        self.seen.append(task)
        self.kwargs.append(kwargs)
        return answer if isinstance(answer, SpawnResult) else SpawnResult(success=True, output=answer)

    @property
    def prompts(self) -> list[str]:
        return [task.prompt for task in self.seen]


TWO = [SpawnTask("Analyze auth module"), SpawnTask("What security issues?")]
FAILURE = SpawnResult(success=False, output="half", error="out of memory")


def said(context: ContextAccumulator) -> list[tuple[str, str]]:
    return [(turn.role, turn.content) for turn in context.turns]


@pytest.mark.requirement("R63")
def test_a_programs_accumulator_knows_the_time() -> None:
    before = datetime.now(UTC)
    turn = ramet.ContextAccumulator().add_turn("user", "x")
    assert isinstance(turn, Turn)
    assert before <= turn.timestamp <= datetime.now(UTC)
    assert isinstance(ContextAccumulator.from_state(ContextAccumulator(9).to_state()), ContextAccumulator)


@pytest.mark.requirement("R77", "R78", "R80", "R81", "R87", "R103")
def test_the_seeds_two_tasks_get_exactly_its_prompts() -> None:
    agents = Agents(["Auth uses JWT...", "None found."])
    results, context = asyncio.run(spawn_sequential(TWO, spawn=agents))
    assert agents.prompts == [
        "Analyze auth module",
        "[User]\nAnalyze auth module\n\n[Assistant]\nAuth uses JWT...\n\n[Current Task]\nWhat security issues?",
    ]
    assert [result.output for result in results] == ["Auth uses JWT...", "None found."]
    assert said(context) == [
        *(("user", "Analyze auth module"), ("assistant", "Auth uses JWT...")),
        *(("user", "What security issues?"), ("assistant", "None found.")),
    ]


@pytest.mark.requirement("R78")
def test_results_and_context_also_have_names() -> None:
    done = asyncio.run(spawn_sequential(TWO, spawn=Agents()))
    assert len(done.results) == 2
    assert len(done.context.turns) == 4
    assert isinstance(done.results, list)


@pytest.mark.requirement("R79", "R80")
def test_a_conversation_that_is_given_goes_on_and_is_given_back() -> None:
    agents, context = Agents(), ContextAccumulator(max_tokens=500)
    context.add_turn("system", "Be brief.")
    _, returned = asyncio.run(spawn_sequential([SpawnTask("Go.")], context=context, spawn=agents))
    assert returned is context
    assert agents.prompts == ["[System]\nBe brief.\n\n[Current Task]\nGo."]


@pytest.mark.requirement("R79")
def test_an_empty_conversation_that_is_given_is_used_too() -> None:
    context = ContextAccumulator()
    assert asyncio.run(spawn_sequential(TWO, context=context, spawn=Agents())).context is context
    assert len(context.turns) == 4
    assert asyncio.run(spawn_sequential([])).results == []


@pytest.mark.requirement("R82", "R83")
def test_a_failure_leaves_a_note_and_no_answer() -> None:
    agents = Agents([FAILURE, SpawnResult(success=True, output="")])
    results, context = asyncio.run(spawn_sequential([*TWO, SpawnTask("And now?")], spawn=agents))
    assert [result.success for result in results] == [False, True, True]
    assert said(context) == [
        *(("user", "Analyze auth module"), ("system", "✗ failed: out of memory")),
        ("user", "What security issues?"),
        *(("user", "And now?"), ("assistant", "answer 3")),
    ]
    assert "[System]\n✗ failed: out of memory\n\n[Current Task]\nWhat security issues?" in agents.prompts[1]


@pytest.mark.requirement("R84")
@pytest.mark.parametrize(("stop", "ran"), [(True, 2), (False, 3)])
def test_it_stops_after_the_first_failure_where_it_is_told_to(stop: bool, ran: int) -> None:
    agents = Agents(["fine", FAILURE])
    results, _ = asyncio.run(spawn_sequential([SpawnTask("t")] * 3, stop_on_failure=stop, spawn=agents))
    assert len(results) == len(agents.seen) == ran
    assert results[1] is FAILURE


@pytest.mark.requirement("R85")
def test_without_passing_context_prompts_are_bare_and_turns_recorded() -> None:
    agents = Agents()
    _, context = asyncio.run(spawn_sequential(TWO, pass_context=False, spawn=agents))
    assert agents.prompts == [task.prompt for task in TWO]
    assert len(context.turns) == 4


@dataclass
class Costly(SpawnTask):
    """A program's own kind of task."""

    budget: int = 0


@pytest.mark.requirement("R77", "R86")
def test_all_of_a_task_but_its_prompt_is_carried_over_and_so_are_other_arguments() -> None:
    agents = Agents()
    given = Costly("second", agent="@codex", timeout=30, skill="review", model="fast", budget=7)
    asyncio.run(spawn_sequential([SpawnTask("first"), given], spawn=agents, colour="blue"))
    carried = agents.seen[1]
    assert carried.prompt != given.prompt
    assert carried == Costly(carried.prompt, agent="@codex", timeout=30, skill="review", model="fast", budget=7)
    assert given.prompt == "second"
    assert agents.kwargs == [{"colour": "blue"}] * 2


@pytest.mark.requirement("R88")
def test_side_by_side_they_run_so_many_at_a_time_and_answer_in_order() -> None:
    running, most = 0, 0

    async def run(task: SpawnTask) -> SpawnResult:
        nonlocal running, most
        running += 1
        most = max(most, running)
        for _ in range(10 - int(task.prompt)):
            await asyncio.sleep(0)
        running -= 1
        return SpawnResult(success=True, output=task.prompt)

    tasks = [SpawnTask(str(number)) for number in range(8)]
    results = asyncio.run(spawn_parallel(tasks, max_concurrent=3, spawn=run))
    assert [result.output for result in results] == [task.prompt for task in tasks]
    assert most == 3
    assert asyncio.run(spawn_parallel([])) == []


@pytest.mark.requirement("R88")
def test_side_by_side_one_that_breaks_is_a_result_and_ends_no_other() -> None:
    async def run(task: SpawnTask) -> SpawnResult:
        if task.prompt == "bad":
            raise RuntimeError("no such agent")
        return SpawnResult(success=True, output=task.prompt)

    results = asyncio.run(spawn_parallel([SpawnTask("a"), SpawnTask("bad"), SpawnTask("c")], spawn=run))
    assert [(result.success, result.output, result.error) for result in results] == [
        *((True, "a", None), (False, "", "no such agent"), (True, "c", None)),
    ]
    with pytest.raises(InvalidParams):
        asyncio.run(spawn_parallel([], max_concurrent=0))


@pytest.fixture
def shop(daemon_home: Path) -> Callable[[str], Path]:
    """A repository where the agent is a small program, written in Python; a daemon may be started."""

    def make(program: str) -> Path:
        project = daemon_home / "shop"
        profiles = {"echo": {"driver": "command", "program": [sys.executable, "-c", program]}}
        configured = {
            "work": {"grace_seconds": 1, "backoff_seconds": 0},
            "drivers": {"default": "echo", "profiles": profiles},
        }
        write_trusted(project, Path(os.environ["RAMET_HOME"]), configured)
        identity = ["-c", "user.name=ann", "-c", "user.email=ann@example.org"]
        for command in (["init", "-q"], ["add", "."], [*identity, "commit", "-qm", "begin"]):
            subprocess.run(["git", *command], cwd=project, check=True, capture_output=True)
        return project

    return make


@pytest.mark.requirement("R77", "R80", "R82")
def test_the_daemon_runs_them_one_after_the_other(shop: Callable[[str], Path]) -> None:
    project = shop("import sys; print('heard:', sys.stdin.read())")
    results, context = asyncio.run(spawn_sequential([SpawnTask("first"), SpawnTask("second", agent="@echo")]))
    assert [(result.success, result.outcome) for result in results] == [(True, "success")] * 2
    assert "[Current Task]\nsecond" in results[1].output
    assert results[0].output in results[1].output
    assert said(context)[1] == ("assistant", results[0].output)
    with ramet.connect() as r:
        efforts = [r.work.get(result.effort_id or 0) for result in results]
        assert [effort.task_id for effort in efforts] == [f"{project}/.ramet/tasks/spawned"] * 2


@pytest.mark.requirement("R80", "R87", "R103")
def test_the_daemon_gives_agents_exactly_the_seeds_prompts(shop: Callable[[str], Path], daemon_home: Path) -> None:
    heard = daemon_home / "heard"
    shop(f"import sys; open({str(heard)!r}, 'a').write(sys.stdin.read() + '\\0'); print('Auth uses JWT...')")
    asyncio.run(spawn_sequential(TWO))
    assert heard.read_text().split("\0")[:-1] == [
        "Analyze auth module",
        "[User]\nAnalyze auth module\n\n[Assistant]\nAuth uses JWT...\n\n[Current Task]\nWhat security issues?",
    ]


def test_what_the_daemon_refuses_and_what_an_agent_fails_at_are_results(shop: Callable[[str], Path]) -> None:
    shop("import sys; sys.exit('no luck') if 'bad' in sys.stdin.read() else print('fine')")
    tasks = [SpawnTask("bad"), SpawnTask("good"), SpawnTask("x", skill="nosuch")]
    failed, fine, refused = asyncio.run(spawn_parallel(tasks))
    assert (failed.success, failed.outcome) == (False, "error")
    assert failed.error
    assert (fine.success, fine.output) == (True, "fine")
    assert (refused.success, refused.effort_id) == (False, None)
    assert "nosuch" in (refused.error or "")


def test_a_task_that_is_cancelled_ends_its_agent(shop: Callable[[str], Path], daemon_home: Path) -> None:
    alive = daemon_home / "alive"
    shop(f"import pathlib, time; pathlib.Path({str(alive)!r}).touch(); time.sleep(600)")

    async def cancel() -> None:
        running = asyncio.ensure_future(spawn_task(SpawnTask("wait")))
        async with asyncio.timeout(60):
            while not await asyncio.to_thread(alive.exists):
                assert not running.done(), running.result()
                await asyncio.sleep(0.05)
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running

    asyncio.run(cancel())
    with ramet.connect() as r:
        deadline = time.monotonic() + 60
        while (effort := r.work.list().items[0]).lifecycle != "finished":
            assert time.monotonic() < deadline
            time.sleep(0.05)
    assert effort.outcome == "cancelled"
