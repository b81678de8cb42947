"""Tasks one after the other, each told what was said before it; or side by side.

    results, context = await ramet.spawn_sequential([SpawnTask("Analyze auth"), SpawnTask("What is unsafe?")])

Each task is an effort that the daemon runs. `spawn=` puts another way of running it in that place: anything that takes
a `SpawnTask` and gives a `SpawnResult`.
"""

import asyncio
import math
import os
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

from ramet.errors import BadRequest, Conflict, InvalidParams, NotFound, ProjectNotFound, WorkError
from ramet.library import connect
from ramet.library.ramet import Ramet
from ramet.model.record.effort import NOT_FAILURES, Outcome
from ramet.model.runs import conversation
from ramet.model.runs.conversation import Turn, tell_failure
from ramet.protocol.record.efforts import EffortRow

_TASK = ".ramet/tasks/spawned"
"""Where the efforts belong that a program spawns, below its project."""


class ContextAccumulator(conversation.ContextAccumulator):
    """What was said so far, with a clock: `add_turn(role, content)` stamps each turn with the time."""

    def add_turn(self, role: str, content: str, now: datetime | None = None) -> Turn:
        return super().add_turn(role, content, now or datetime.now(UTC))


@dataclass
class SpawnTask:
    """Something to be done by an agent; none named is the configured one."""

    prompt: str
    agent: str | None = None
    timeout: float | None = None
    """In seconds."""
    skill: str = "do"
    model: str | None = None


@dataclass
class SpawnResult:
    """What became of it."""

    success: bool
    output: str = ""
    error: str | None = None
    exit_code: int | None = None
    outcome: Outcome | None = None
    effort_id: int | None = None
    """Where the daemon has it."""


Spawn = Callable[..., Awaitable[SpawnResult]]
"""Takes a `SpawnTask`, and whatever else `spawn_sequential` and `spawn_parallel` were given by name."""


class SequentialResult(NamedTuple):
    """What each task came to, and what was said. It unpacks as `results, context`."""

    results: list[SpawnResult]
    context: ContextAccumulator


async def spawn_sequential(
    tasks: Sequence[SpawnTask],
    pass_context: bool = True,
    stop_on_failure: bool = False,
    context: ContextAccumulator | None = None,
    *,
    spawn: Spawn | None = None,
    **kwargs: Any,
) -> SequentialResult:
    """Run tasks one after the other. Each but the first is given the conversation before its own prompt.

    A `context` that is given goes on, and is the one that is returned. With `pass_context=False` every agent gets its
    bare prompt; the conversation is recorded all the same.
    """
    context = ContextAccumulator() if context is None else context
    results: list[SpawnResult] = []
    for task in tasks:
        prompt = context.prompt_for(task.prompt) if pass_context else task.prompt
        context.add_turn("user", task.prompt)
        result = await (spawn or spawn_task)(replace(task, prompt=prompt), **kwargs)
        results.append(result)
        if not result.success:
            context.add_turn("system", tell_failure(result.error or result.outcome))
        elif result.output:
            context.add_turn("assistant", result.output)
        if stop_on_failure and not result.success:
            break
    return SequentialResult(results, context)


async def spawn_parallel(
    tasks: Sequence[SpawnTask], max_concurrent: int = 5, *, spawn: Spawn | None = None, **kwargs: Any
) -> list[SpawnResult]:
    """Run tasks side by side, so many at a time; the results in the order of the tasks, a failure as a result."""
    if max_concurrent < 1:
        raise InvalidParams(
            "at least one task runs at a time", field="max_concurrent", value=max_concurrent, fix="give 1 or more"
        )
    slots = asyncio.Semaphore(max_concurrent)

    async def run(task: SpawnTask) -> SpawnResult:
        async with slots:
            return await (spawn or spawn_task)(task, **kwargs)

    results = await asyncio.gather(*map(run, tasks), return_exceptions=True)
    return [_failed(result) if isinstance(result, BaseException) else result for result in results]


async def spawn_task(task: SpawnTask, *, project: str | PathLike[str] | None = None) -> SpawnResult:
    """Let the daemon run one task, in a worktree of its own, of the project at `project` or here. An agent's failure is
    a result. When this is cancelled, the agent is ended.
    """
    directory = _directory(project)
    loop = asyncio.get_running_loop()
    pool = ThreadPoolExecutor(max_workers=2, thread_name_prefix="ramet-spawn")  # one runs, one can end it
    adding = loop.run_in_executor(pool, _add, task, directory)
    try:
        effort_id = await asyncio.shield(adding)
        return await loop.run_in_executor(pool, _run, effort_id, directory)
    except asyncio.CancelledError:
        await loop.run_in_executor(pool, _end, await adding, directory)
        raise
    except (BadRequest, WorkError) as error:
        return _failed(error)
    finally:
        pool.shutdown(wait=False)


def _directory(project: str | PathLike[str] | None) -> Path:
    return Path(project or Path.cwd()).absolute()


def _add(task: SpawnTask, directory: Path) -> int:
    with connect(directory) as ramet:
        try:
            return _queue(ramet, task, directory)
        except ProjectNotFound:
            ramet.db.project.upsert(str(directory))
            return _queue(ramet, task, directory)


def _queue(ramet: Ramet, task: SpawnTask, directory: Path) -> int:
    effort = ramet.work.add(
        task.prompt,
        skill=task.skill,
        task=str(directory / _TASK),
        driver=task.agent and task.agent.removeprefix("@"),
        model=task.model,
        timeout_seconds=None if task.timeout is None else math.ceil(task.timeout),
        is_exact=True,
    )
    return effort.id


def _run(effort_id: int, directory: Path) -> SpawnResult:
    with connect(directory) as ramet:
        ramet.work.run(once=True, effort_ids=[effort_id], environment=dict(os.environ))
        return _result(ramet.work.get(effort_id))


def _end(effort_id: int, directory: Path) -> None:
    with connect(directory) as ramet, suppress(Conflict, NotFound):
        ramet.fleet.kill(effort_id=effort_id, reason="the program that spawned it was cancelled")


def _result(effort: EffortRow) -> SpawnResult:
    success = effort.outcome in NOT_FAILURES
    waiting = f"effort {effort.id} is {effort.lifecycle}" if effort.outcome is None else effort.outcome
    return SpawnResult(
        success=success,
        output=effort.output_content or "",
        error=None if success else effort.reason or waiting,
        outcome=effort.outcome,
        effort_id=effort.id,
    )


def _failed(error: BaseException) -> SpawnResult:
    return SpawnResult(success=False, error=str(error) or type(error).__name__)
