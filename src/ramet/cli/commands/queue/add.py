"""`ramet add`: queue an effort."""

import sys

import click

from ramet.cli import references
from ramet.cli.command import Command
from ramet.cli.commands.queue.drivers import check_driver
from ramet.cli.commands.queue.limit_options import cost_option, tokens_option
from ramet.cli.commands.queue.start_options import start_options
from ramet.cli.commands.record.project_scope import find_place, own_host
from ramet.cli.invocation import Invocation
from ramet.cli.output import clean, print_json
from ramet.cli.repository import find_checkout, remote_of
from ramet.cli.screens.effort_lines import first_line, list_start, waiting_reason
from ramet.protocol.record.projects import Here
from ramet.protocol.record.starting_points import StartAt
from ramet.protocol.work.queue import AddWork

accept_option = click.option(
    "--accept-no-change",
    is_flag=True,
    help="Continue with dependents after an effort that changed no file (default: they wait).",
)


@click.command(
    cls=Command,
    examples=[
        "ramet add 'The cart forgets its items: find out why' --skill plan",
        "ramet add 'Implement the plan' --based-on e1",
        "ramet add 'make test' --skill shell --driver shell --depends-on e2",
        "ramet add 'Sort the imports' --accept-no-change",
        "ramet add --file plan.md --skill plan --task tasks/cart",
        "ramet add 'Fix the tests' --base main",
        "ramet add 'Write the tests' --max-cost 2.50",
        "git log -5 | ramet add -",
    ],
)
@click.argument("prompt", required=False)
@click.option(
    "--skill", default="implement", help="What to do: plan, explore, implement, review, … (default: implement)."
)
@click.option(
    "--task",
    metavar="DIR",
    type=references.path,
    help="The task to add to (default: a new one, named after the prompt).",
)
@click.option(
    "--based-on",
    type=references.effort,
    metavar="EFFORT",
    help="Continue EFFORT: same task and worktree, with its output in the prompt.",
)
@click.option(
    "--depends-on",
    type=references.effort,
    metavar="EFFORT",
    multiple=True,
    help="Wait until EFFORT has succeeded (repeatable).",
)
@click.option("--driver", metavar="NAME", help="The agent program, see `ramet drivers` (default: chosen when it runs).")
@click.option("--model", help="The model, by the agent program's own name for it.")
@click.option("--priority", type=int, default=0, help="Higher runs first (default: 0).")
@click.option(
    "--timeout",
    "timeout_seconds",
    type=click.IntRange(min=1),
    metavar="SECONDS",
    help="Stop an attempt after this many seconds.",
)
@cost_option("Stop the agent with the outcome `budget` when the effort has cost this much, its children included.")
@tokens_option("The same for the tokens that it uses.")
@start_options
@accept_option
@click.option("--file", metavar="FILE", help="Read the prompt from FILE; `-` is standard input.")
@click.pass_obj
def add(  # noqa: PLR0913  one for each option
    invocation: Invocation,
    *,
    prompt: str | None,
    skill: str,
    task: str | None,
    based_on: int | None,
    depends_on: tuple[int, ...],
    driver: str | None,
    model: str | None,
    priority: int,
    timeout_seconds: int | None,
    max_cost: float | None,
    max_tokens: int | None,
    start: StartAt,
    accept_no_change: bool,
    file: str | None,
) -> None:
    """Queue PROMPT (or standard input). Nothing runs until `ramet work`.

    Without --task and --based-on, it becomes a new task in the project of the current directory. A git repository is
    registered as a project on first use. It starts at the commit that you are on now, even if you move on before it
    runs; with --based-on, at the result of that effort.
    """
    text = _read_prompt(prompt, file)
    check_driver(invocation, driver)
    is_new = task is None and based_on is None
    reply = invocation.ask(
        AddWork(
            prompt=text,
            skill=skill,
            task=task,
            here=find_here(invocation) if is_new else None,
            based_on=based_on,
            depends_on=list(depends_on),
            driver=driver,
            model=model,
            priority=priority,
            timeout_seconds=timeout_seconds,
            max_tokens=max_tokens,
            max_cost_usd=max_cost,
            start=start,
            accept_no_change=accept_no_change,
        )
    )
    if invocation.as_json:
        return print_json(reply)
    if reply.registered is not None:
        click.echo(clean(f"registered {reply.registered} as a project"))
    click.echo(clean(f"e{reply.id} queued ({reply.skill}): {first_line(text)}"))
    for line in list_start(f"e{reply.id}", reply):
        click.echo(line)
    if reply.blocked:
        return click.echo(f"it {waiting_reason(reply)}")
    return click.echo("run it with `ramet work --once`")


def _read_prompt(prompt: str | None, file: str | None) -> str:
    if prompt is not None and file is not None:
        raise click.UsageError("give PROMPT or --file, not both.")
    if file is not None:
        text = references.file_or_stdin(file, "--file")
    elif prompt is None and not sys.stdin.isatty():
        text = sys.stdin.read()
    else:
        text = references.text_or_editor(prompt)
    if not text.strip():
        raise click.UsageError("the prompt is empty: give PROMPT, --file FILE, or standard input.")
    return text


def find_here(invocation: Invocation) -> Here:
    """Where the user is: the current directory, and the repository that it is in."""
    checkout = find_checkout(invocation.environ, invocation.cwd)
    host = own_host(invocation)
    return Here(
        directory=find_place(invocation),
        repository=str(checkout.project) if checkout else None,
        host=host,
        remote=remote_of(invocation.environ, checkout.project) if checkout and host else None,
    )
