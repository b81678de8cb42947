"""`ramet run`: run the tasks of a markdown checklist, or continue a run."""

import sys
from collections.abc import Callable, Sequence
from functools import wraps
from pathlib import Path
from typing import Any, NamedTuple

import click
from msgspec.structs import replace

from ramet.cli import references
from ramet.cli.command import Command
from ramet.cli.commands.queue.add import accept_option
from ramet.cli.commands.queue.drivers import check_driver
from ramet.cli.commands.queue.limit_options import cost_option, tokens_option
from ramet.cli.commands.queue.start_options import start_options
from ramet.cli.commands.record.project import nearest_project
from ramet.cli.commands.runs.attendance import Greeting, attend
from ramet.cli.commands.runs.forecast import ask_forecast, list_lines, plan
from ramet.cli.commands.runs.task_names import check_names
from ramet.cli.invocation import Invocation
from ramet.cli.output import clean, count, print_json
from ramet.cli.screens.effort_lines import first_line, list_start
from ramet.cli.screens.styled_lines import Column, draw_table, plain, print_lines, terminal_width
from ramet.cli.times import duration
from ramet.model.record.task import task_path
from ramet.model.runs import line_order, task_file
from ramet.model.runs.run import RunLimits
from ramet.model.runs.task_file import MAX_BYTES, Line, TaskFile
from ramet.protocol.memory.usage import Planned
from ramet.protocol.record.starting_points import StartAt
from ramet.protocol.runs.runs import GetRun, ListRuns, NewLine, RunDetail, StartRun
from ramet.protocol.work.workers import RunWork

_SKILL = "do"
"""The skill of a line that names none."""
_RECORDED = ("is_sequential", "stop_on_failure", "save_conversation", "model", "base", "with_changes")
"""The options that a run keeps when it is resumed."""


def limit_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """The options for how much a run may use, as one argument `limits`."""

    @wraps(command)
    def collect(*args: Any, cost_usd: float | None, tokens: int | None, seconds: int | None, **options: Any) -> Any:
        limits = RunLimits(cost_usd=cost_usd, tokens=tokens, seconds=seconds)
        return command(*args, limits=limits, **options)

    collect = click.option(
        "--max-seconds",
        "seconds",
        type=click.IntRange(min=1),
        metavar="N",
        help="Start no new task after N seconds. Running tasks finish.",
    )(collect)
    collect = tokens_option("Stop the run once N tokens are used: end its agents, start no new task.", into="tokens")(
        collect
    )
    return cost_option("Stop the run once this is spent: end its agents, start no new task.", into="cost_usd")(collect)


@click.command(
    cls=Command,
    examples=[
        "ramet run tasks.md --dry-run",
        "ramet run tasks.md",
        "ramet run tasks.md --parallel 3 --max-cost 5",
        "ramet run --resume r3",
        "ramet run --resume r3 --retry-failed",
        "ramet run --resume r3 --keep-going",
        "ramet run --resume r3 --max-cost 10",
        "ramet run --resume r3 --branch another-way",
    ],
)
@click.argument("file", metavar="[FILE]", required=False)
@click.option("--resume", metavar="RUN", type=references.run, help="Continue this run. FILE is not needed.")
@click.option("--force", is_flag=True, help="Resume even if the file has changed. The recorded tasks are run.")
@click.option(
    "--retry-failed",
    is_flag=True,
    help="Resume and retry all failed tasks, not only those that skipped tasks wait for.",
)
@click.option("--branch", metavar="NAME", help="Resume on this branch, such as a fork of the run's conversation.")
@click.option(
    "--sequential",
    "is_sequential",
    is_flag=True,
    help="Run tasks one after the other, in one conversation (default).",
)
@click.option("--parallel", type=click.IntRange(1, 1000), metavar="N", help="Run up to N tasks at the same time.")
@click.option("--dry-run", is_flag=True, help="Show the tasks and their order, and run nothing.")
@click.option("--stop-on-failure", is_flag=True, help="Start no new task after one has failed.")
@click.option(
    "--keep-going",
    is_flag=True,
    help="Run tasks even if a task that they depend on failed (default: skip them).",
)
@accept_option
@click.option(
    "--save-conversation/--no-save-conversation",
    default=True,
    help="Keep the conversation in the database (default: keep).",
)
@click.option("--driver", metavar="NAME", help="The agent program for tasks that name none.")
@click.option("--model", help="The model for tasks that name none.")
@start_options
@limit_options
@click.option("--yes", is_flag=True, help="Do not ask if a run of this file is unfinished.")
@click.option("-v", "--verbose", is_flag=True, help="Show every message of the agents.")
@click.pass_context
def run(  # noqa: PLR0913  one for each option
    ctx: click.Context,
    *,
    file: str | None,
    resume: int | None,
    force: bool,
    retry_failed: bool,
    branch: str | None,
    is_sequential: bool,
    parallel: int | None,
    dry_run: bool,
    stop_on_failure: bool,
    keep_going: bool,
    accept_no_change: bool,
    save_conversation: bool,
    driver: str | None,
    model: str | None,
    start: StartAt,
    limits: RunLimits,
    yes: bool,
    verbose: bool,
) -> None:
    """Run the unticked tasks in FILE and show their progress. Exits with 0 if no task failed or was skipped.

    Sequential tasks share a worktree and a conversation. With --parallel each task has its own worktree, and receives
    the outputs of the tasks that it depends on. Ctrl-C once: start nothing new, let running tasks finish. Twice: stop
    them too. `ramet run --resume` continues an interrupted run. With `-`, read FILE from standard input. With --json:
    one JSON document per line.
    """
    invocation: Invocation = ctx.obj
    invocation.require_configuration()
    limits = replace(limits, workers=parallel)
    if resume is not None:
        _check_resuming(ctx, dry_run=dry_run)
        request = RunWork(
            is_forced=force,
            retry_failed=retry_failed,
            keep_going=keep_going,
            accept_no_change=accept_no_change,
            limits=limits,
            driver=driver,
            branch=branch,
        )
        ctx.exit(_resume(invocation, resume, file, request, verbose=verbose))
    is_resuming = force or retry_failed or branch is not None
    file = _check_file(file, is_resuming=is_resuming, is_both=is_sequential and parallel is not None)
    content = _read(file)
    tasks = task_file.parse(content)
    check_driver(invocation, driver)
    check_names(invocation, content, tasks)
    if dry_run:
        _preview(invocation, file, tasks, limits, model)
        return
    if not tasks.to_do:
        click.echo(clean(f"{file}: nothing to do, every box is ticked"), err=invocation.as_json)
        return
    new = StartRun(
        task=_check_starting(invocation, file, is_sure=yes),
        limits=limits,
        stop_on_failure=stop_on_failure,
        keep_going=keep_going,
        accept_no_change=accept_no_change,
        save_conversation=save_conversation,
        driver=driver,
        model=model,
        start=start,
    )
    ctx.exit(_start(invocation, file, tasks, new, verbose=verbose))


# Starting.


def _check_file(file: str | None, *, is_resuming: bool, is_both: bool) -> str:
    """The file of a new run, if the options make sense together."""
    if is_resuming:
        raise click.UsageError("--force, --retry-failed and --branch need --resume.")
    if file is None:
        raise click.UsageError("give FILE, or --resume RUN.")
    if is_both:
        raise click.UsageError("give --sequential or --parallel, not both.")
    return file


def _start(invocation: Invocation, file: str, tasks: TaskFile, new: StartRun, *, verbose: bool) -> int:
    """Record the run, and attend it; the exit status."""
    workers = new.limits.workers if new.limits else None
    started = invocation.ask(
        replace(
            new,
            name="standard input" if file == "-" else Path(file).name,
            mode="parallel" if workers else "sequential",
            lines=[_new_line(line) for line in tasks.lines],
            content_hash=task_file.fingerprint(tasks),
        )
    )
    how = f"{workers} at a time" if workers else "one after the other"
    greeting = f"r{started.id} {started.name}: {count(len(tasks.to_do), 'task')}, {how}"
    planned = [] if invocation.as_json else _plan(tasks, new.model)
    forecast = list_lines(invocation, planned, new.limits) if planned else []
    greeting = "\n".join([greeting, *list_start(f"r{started.id}", started), *forecast])
    return attend(invocation, started, lambda _: greeting, is_verbose=verbose)


def _plan(tasks: TaskFile, model: str | None) -> list[Planned]:
    """The efforts of agents; a shell command uses nothing."""
    lines = [line for line in tasks.to_do if "shell" not in (line.skill, line.agent)]
    return plan((line.skill or _SKILL, line.model or model) for line in lines)


def _read(file: str) -> bytes:
    try:
        # One byte more than a task file may have is enough to refuse it.
        if file == "-":
            return sys.stdin.buffer.read(MAX_BYTES + 1)
        with Path(file).open("rb") as opened:
            return opened.read(MAX_BYTES + 1)
    except OSError as error:
        raise click.BadParameter(f"cannot read {file}: {error.strerror}", param_hint="FILE") from error


def _check_starting(invocation: Invocation, file: str, *, is_sure: bool) -> str:
    """The task of a new run."""
    task = _task(invocation, file)
    if not is_sure:
        _ask_about_another(invocation, task)
    return task


def _task(invocation: Invocation, file: str) -> str:
    """The task whose efforts the lines become: the file itself, so that it is found again. A file outside of the
    project gets a task in it.
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
        accept_no_change=line.accepts_no_change,
    )


def _ask_about_another(invocation: Invocation, task: str) -> None:
    """A person who runs a file for the second time may have wanted to resume it."""
    rows = invocation.ask(ListRuns()).items
    former = next((row for row in rows if row.task_id == task and row.state != "finished"), None)
    if former is None:
        return
    name, left = f"r{former.id}", former.counts["pending"] + former.counts["in_progress"]
    click.echo(
        f"{name} of this file is {former.state}, {count(left, 'task')} left: `ramet run --resume {name}`", err=True
    )
    if sys.stdin.isatty() and not click.confirm("Start another run of all tasks?", err=True):
        raise click.exceptions.Exit(1)


# Resuming.


def _check_resuming(ctx: click.Context, *, dry_run: bool) -> None:
    """A run is resumed as it was recorded: options that would change it are refused instead of ignored."""
    names = {parameter.name: parameter.opts[0] for parameter in ctx.command.params}
    changed = [
        names[name] for name in _RECORDED if ctx.get_parameter_source(name) is click.core.ParameterSource.COMMANDLINE
    ]
    if dry_run:
        changed.append("--dry-run")
    if changed:
        raise click.UsageError(f"--resume keeps the options of the run; leave out {' '.join(changed)}.")


def _resume(invocation: Invocation, run_id: int, file: str | None, request: RunWork, *, verbose: bool) -> int:
    check_driver(invocation, request.driver)
    recorded = invocation.ask(GetRun(run_id=run_id))
    if request.limits and request.limits.workers and recorded.mode != "parallel":
        raise click.UsageError(f"--parallel needs a run that was started with it; r{run_id} is {recorded.mode}.")
    if not request.is_forced:
        request = replace(request, content_hash=_fingerprint_now(recorded, file))
    return attend(invocation, recorded, _greet(recorded, request.branch), is_verbose=verbose, resumption=request)


def _greet(recorded: RunDetail, branch: str | None) -> Greeting:
    """What is left: the conversation, if the lines share one; else the number of tasks, with those that are retried."""
    if branch is not None:
        return lambda _: f"Resuming r{recorded.id} on branch {clean(branch)}"
    if recorded.mode == "sequential":
        return lambda _: f"Resuming r{recorded.id} with {len(recorded.conversation)} turns of context"
    left = recorded.counts["pending"] + recorded.counts["in_progress"]
    return lambda retried: f"Resuming r{recorded.id}: {count(left + retried, 'task')} to go"


def _fingerprint_now(recorded: RunDetail, file: str | None) -> str | None:
    """The fingerprint of the file as it is now; None if the run has no file, or the file is gone."""
    if file is None and (recorded.content_hash is None or not Path(recorded.task_id).is_file()):
        return None
    return task_file.fingerprint(task_file.parse(_read(file or recorded.task_id)))


# Previewing.


def _preview(invocation: Invocation, file: str, tasks: TaskFile, limits: RunLimits, model: str | None) -> None:
    """Show the order of the tasks, and what they will probably use."""
    is_parallel = limits.workers is not None
    # Without a home there is no history to forecast from, and a preview makes none.
    planned = _plan(tasks, model) if invocation.places.home.exists() else []
    waves = line_order.waves(tasks.to_do) if is_parallel else [[line] for line in line_order.order(tasks.to_do)]
    if invocation.as_json:
        rows = [[_new_line(line) for line in wave] for wave in waves]
        forecast = ask_forecast(invocation, planned) if planned else None
        mode = "parallel" if is_parallel else "sequential"
        return print_json({"mode": mode, "waves": rows, "forecast": forecast})
    ticked = len(tasks.lines) - len(tasks.to_do)
    how = f"in {count(len(waves), 'parallel wave')}" if is_parallel else "one after the other"
    done = f"; {ticked} done already" if ticked else ""
    click.echo(clean(f"{file}: {count(len(tasks.to_do), 'task')}, {how}{done}"))
    if waves:
        _print_plan(waves, line_order.needs(tasks.to_do), is_parallel=is_parallel)
        click.echo(_PARALLEL_PROMPT if is_parallel else _SEQUENTIAL_PROMPT)
    for line in list_lines(invocation, planned, limits) if planned else []:
        click.echo(clean(line))
    return None


class _Planned(NamedTuple):
    """A line, with its place in the order."""

    place: int
    line: Line
    needs: list[str]


def _print_plan(waves: Sequence[Sequence[Line]], needs: dict[str, list[str]], *, is_parallel: bool) -> None:
    """A table of the lines. Columns that no line needs are left out."""
    rows = [_Planned(place, line, needs[line.key]) for place, wave in enumerate(waves, 1) for line in wave]
    directives: dict[str, Callable[[_Planned], str | None]] = {
        "AGENT": lambda row: row.line.agent,
        "MODEL": lambda row: row.line.model,
        "TIMEOUT": lambda row: duration(row.line.timeout_seconds) if row.line.timeout_seconds else None,
        "WAITS FOR": lambda row: " ".join(row.needs),
    }
    columns: list[Column[_Planned]] = [
        Column("WAVE" if is_parallel else "STEP", lambda row: plain(str(row.place))),
        Column("TASK", lambda row: [(row.line.key, "bold")]),
        Column("SKILL", lambda row: plain(row.line.skill or _SKILL)),
        *(
            Column(heading, lambda row, pick=pick: plain(pick(row)))  # type: ignore[misc]
            for heading, pick in directives.items()
            if any(map(pick, rows))
        ),
        Column("TEXT", lambda row: plain(first_line(row.line.text))),
    ]
    print_lines(draw_table(columns, rows, terminal_width()), cut=True)


_SEQUENTIAL_PROMPT = (
    "prompts: the first is the task's text; later ones are the conversation so far, then `[Current Task]` and the text"
)
_PARALLEL_PROMPT = "prompts: the task's text, and the outputs of the tasks that it waits for"
