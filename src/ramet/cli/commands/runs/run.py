"""`ramet run`: run the tasks of a markdown checklist, or go on with a run."""

import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import click
from msgspec.structs import replace

from ramet.cli import references
from ramet.cli.command import Command
from ramet.cli.commands.queue.drivers import check_driver
from ramet.cli.commands.record.project import nearest_project
from ramet.cli.commands.runs.attendance import attend
from ramet.cli.invocation import Invocation
from ramet.cli.output import clean, count, print_json, print_table
from ramet.cli.screens.effort_lines import first_line
from ramet.cli.times import duration
from ramet.model.record.task import task_path
from ramet.model.runs import line_order, task_file
from ramet.model.runs.run import RunLimits
from ramet.model.runs.task_file import Line, TaskFile
from ramet.protocol.runs.runs import GetRun, ListRuns, NewLine, RunDetail, StartRun
from ramet.protocol.work.workers import RunWork

_SKILL = "do"
"""Of a line that names none."""
_RECORDED = ("is_sequential", "stop_on_failure", "save_conversation", "model")
"""What a run is started with, and goes on with."""


def limit_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """How much a run may use."""
    for option in (
        click.option(
            "--max-cost",
            "cost_usd",
            type=click.FloatRange(0, min_open=True),
            metavar="USD",
            help="Begin no more above this.",
        ),
        click.option(
            "--max-tokens", "tokens", type=click.IntRange(min=1), metavar="N", help="Begin no more above this."
        ),
        click.option(
            "--max-seconds", "seconds", type=click.IntRange(min=1), metavar="N", help="Begin no more after this."
        ),
    ):
        command = option(command)
    return command


@click.command(
    cls=Command,
    examples=[
        "ramet run tasks.md --dry-run",
        "ramet run tasks.md",
        "ramet run tasks.md --parallel 3 --max-cost 5",
        "ramet run --resume r3",
        "ramet run --resume r3 --retry-failed",
        "ramet run --resume r3 --max-cost 10",
    ],
)
@click.argument("file", metavar="[FILE]", required=False)
@click.option("--resume", metavar="RUN", type=references.run, help="Go on with this run, which needs no FILE.")
@click.option("--force", is_flag=True, help="With --resume: although the file has changed.")
@click.option("--retry-failed", is_flag=True, help="With --resume: what failed too.")
@click.option(
    "--sequential", "is_sequential", is_flag=True, help="One after the other, in one conversation.  [default]"
)
@click.option("--parallel", type=click.IntRange(1, 1000), metavar="N", help="Side by side, so many at a time.")
@click.option("--dry-run", is_flag=True, help="Only say what would be run, and in which order.")
@click.option("--stop-on-failure", is_flag=True, help="Begin nothing more when a task has failed.")
@click.option(
    "--save-conversation/--no-save-conversation",
    default=True,
    show_default=True,
    help="Whether what is said is kept for later.",
)
@click.option("--driver", metavar="NAME", help="The agent program of tasks that name none.")
@click.option("--model", help="The model of tasks that name none.")
@limit_options
@click.option("--yes", is_flag=True, help="Do not ask.")
@click.option("-v", "--verbose", is_flag=True, help="Show everything that the agents say.")
@click.pass_context
def run(  # noqa: PLR0913  one for each option
    ctx: click.Context,
    *,
    file: str | None,
    resume: int | None,
    force: bool,
    retry_failed: bool,
    is_sequential: bool,
    parallel: int | None,
    dry_run: bool,
    stop_on_failure: bool,
    save_conversation: bool,
    driver: str | None,
    model: str | None,
    seconds: int | None,
    tokens: int | None,
    cost_usd: float | None,
    yes: bool,
    verbose: bool,
) -> None:
    """Run the tasks in FILE whose boxes are empty, and show how it goes. Exits with 0 where all of them were done.

    One after the other they share a worktree and a conversation; with --parallel each has a worktree of its own, and
    gets the outputs of what it depends on. Ctrl-C once: nothing more is begun, and what runs goes on to its end. Twice:
    what runs is ended too. `ramet run --resume` goes on where it ended. With --json: one JSON document a line.
    """
    invocation: Invocation = ctx.obj
    limits = RunLimits(workers=parallel, seconds=seconds, tokens=tokens, cost_usd=cost_usd)
    if resume is not None:
        _check_resuming(ctx, dry_run=dry_run)
        request = RunWork(is_forced=force, retry_failed=retry_failed, limits=limits, driver=driver)
        ctx.exit(_resume(invocation, resume, file, request, verbose=verbose))
    if force or retry_failed:
        raise click.UsageError("--force and --retry-failed go with --resume.")
    if file is None:
        raise click.UsageError("give FILE, or --resume RUN.")
    if is_sequential and parallel:
        raise click.UsageError("give --sequential or --parallel, not both.")
    tasks = task_file.parse(_read(file))
    if dry_run:
        _preview(invocation, file, tasks, is_parallel=parallel is not None)
    elif not tasks.to_do:
        click.echo(clean(f"{file}: nothing is left to do, all boxes are ticked"), err=invocation.as_json)
    else:
        started = invocation.ask(
            StartRun(
                task=_check_starting(invocation, file, tasks, driver, is_sure=yes),
                name="standard input" if file == "-" else Path(file).name,
                mode="parallel" if parallel else "sequential",
                lines=[_new_line(line) for line in tasks.lines],
                content_hash=task_file.fingerprint(tasks),
                limits=limits,
                stop_on_failure=stop_on_failure,
                save_conversation=save_conversation,
                driver=driver,
                model=model,
            )
        )
        how = f"{parallel} at a time" if parallel else "one after the other"
        greeting = f"r{started.id} {started.name}: {count(len(tasks.to_do), 'task')}, {how}"
        ctx.exit(attend(invocation, started, greeting, is_verbose=verbose))


# Starting.


def _read(file: str) -> bytes:
    try:
        return sys.stdin.buffer.read() if file == "-" else Path(file).read_bytes()
    except OSError as error:
        raise click.BadParameter(f"{file} cannot be read: {error.strerror}", param_hint="FILE") from error


def _check_starting(invocation: Invocation, file: str, tasks: TaskFile, driver: str | None, *, is_sure: bool) -> str:
    """The task of a new run. Nothing is recorded where anything of it cannot be."""
    for name in dict.fromkeys([driver, *(line.agent for line in tasks.to_do)]):
        check_driver(invocation, name)
    task = _task(invocation, file)
    if not is_sure:
        _ask_about_another(invocation, task)
    return task


def _task(invocation: Invocation, file: str) -> str:
    """The task that the lines become efforts of: the file itself, so that it is found again; one that is not in the
    project gets a place in it.
    """
    project, path = nearest_project(invocation), references.path(file)
    if file != "-" and path.startswith(f"{project}/"):
        return path
    return task_path(project, Path(file).stem if file != "-" else "standard input")


def _new_line(line: Line) -> NewLine:
    return NewLine(
        key=line.key,
        text=line.text,
        skill=line.skill or _SKILL,
        driver=line.agent,
        model=line.model,
        depends_on=list(line.depends_on),
        timeout_seconds=line.timeout_seconds,
        is_done=line.done,
    )


def _ask_about_another(invocation: Invocation, task: str) -> None:
    """Whoever runs a file a second time may have wanted to go on with it."""
    rows = invocation.ask(ListRuns()).items
    former = next((row for row in rows if row.task_id == task and row.state != "finished"), None)
    if former is None:
        return
    name, left = f"r{former.id}", former.counts["pending"] + former.counts["in_progress"]
    click.echo(
        f"{name} of this file is {former.state}, {count(left, 'task')} to go: `ramet run --resume {name}`", err=True
    )
    if sys.stdin.isatty() and not click.confirm("Begin another run from the start?", err=True):
        raise click.exceptions.Exit(1)


# Going on.


def _check_resuming(ctx: click.Context, *, dry_run: bool) -> None:
    """A run goes on as it was recorded: whatever would change it is refused, instead of ignored."""
    names = {parameter.name: parameter.opts[0] for parameter in ctx.command.params}
    changed = [
        names[name] for name in _RECORDED if ctx.get_parameter_source(name) is click.core.ParameterSource.COMMANDLINE
    ]
    if dry_run:
        changed.append("--dry-run")
    if changed:
        raise click.UsageError(f"--resume goes on as it was begun, without {' '.join(changed)}.")


def _resume(invocation: Invocation, run_id: int, file: str | None, request: RunWork, *, verbose: bool) -> int:
    check_driver(invocation, request.driver)
    recorded = invocation.ask(GetRun(run_id=run_id))
    if request.limits and request.limits.workers and recorded.mode != "parallel":
        raise click.UsageError(f"--parallel is for runs that were begun with it: r{run_id} is {recorded.mode}.")
    if not request.is_forced:
        request = replace(request, content_hash=_fingerprint_now(recorded, file))
    return attend(invocation, recorded, _greet(recorded), is_verbose=verbose, resumption=request)


def _greet(recorded: RunDetail) -> str:
    """What there is to go on with: what was said, where lines hear of each other; else what is left."""
    if recorded.mode == "sequential":
        return f"Resuming r{recorded.id} with {len(recorded.conversation)} turns of context"
    left = recorded.counts["pending"] + recorded.counts["in_progress"]
    return f"Resuming r{recorded.id}: {count(left, 'task')} to go"


def _fingerprint_now(recorded: RunDetail, file: str | None) -> str | None:
    """Of the file as it is; None where the run has none, or it is not where it was."""
    if file is None and (recorded.content_hash is None or not Path(recorded.task_id).is_file()):
        return None
    return task_file.fingerprint(task_file.parse(_read(file or recorded.task_id)))


# Looking.


def _preview(invocation: Invocation, file: str, tasks: TaskFile, *, is_parallel: bool) -> None:
    """What would be run. The daemon is not asked."""
    waves = line_order.waves(tasks.to_do) if is_parallel else [[line] for line in line_order.order(tasks.to_do)]
    if invocation.as_json:
        rows = [[_new_line(line) for line in wave] for wave in waves]
        return print_json({"mode": "parallel" if is_parallel else "sequential", "waves": rows})
    ticked = len(tasks.lines) - len(tasks.to_do)
    how = f"side by side in {count(len(waves), 'wave')}" if is_parallel else "one after the other"
    done = f"; {ticked} done already" if ticked else ""
    click.echo(clean(f"{file}: {count(len(tasks.to_do), 'task')}, {how}{done}"))
    if waves:
        _print_plan(waves, line_order.needs(tasks.to_do), is_parallel=is_parallel)
        click.echo(_PARALLEL_PROMPT if is_parallel else _SEQUENTIAL_PROMPT)
    return None


def _print_plan(waves: Sequence[Sequence[Line]], needs: dict[str, list[str]], *, is_parallel: bool) -> None:
    rows = [
        [
            number,
            line.key,
            line.skill or _SKILL,
            line.agent,
            line.model,
            duration(line.timeout_seconds) if line.timeout_seconds else None,
            " ".join(needs[line.key]),
            first_line(line.text),
        ]
        for number, wave in enumerate(waves, 1)
        for line in wave
    ]
    first = "WAVE" if is_parallel else "STEP"
    print_table([first, "TASK", "SKILL", "AGENT", "MODEL", "TIMEOUT", "WAITS FOR", "TEXT"], rows, cut="TEXT")


_SEQUENTIAL_PROMPT = (
    "prompts: the first is the task's text; later ones have all that was said before it, `[Current Task]`, and the text"
)
_PARALLEL_PROMPT = "prompts: the task's text, with the outputs of what it waits for"
