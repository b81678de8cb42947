"""`ramet add`: put an effort into the queue."""

import hashlib
import re
import sys
import unicodedata
from pathlib import Path
from typing import Any

import click

from ramet.cli import references
from ramet.cli.command import Command
from ramet.cli.commands.queue.drivers import check_driver
from ramet.cli.commands.record.project import path_here, projects_around, register
from ramet.cli.invocation import Invocation
from ramet.cli.output import clean, print_json
from ramet.cli.repository import find_checkout
from ramet.cli.screens.effort_lines import first_line, waiting_reason
from ramet.errors import ProjectNotFound

_SLUG_CHARACTERS = 40
_TITLE_CHARACTERS = 200


@click.command(
    cls=Command,
    examples=[
        "ramet add 'The cart forgets its items: find out why' --skill plan",
        "ramet add 'Implement the plan' --based-on e1",
        "ramet add 'make test' --skill shell --driver shell --depends-on e2",
        "ramet add --file plan.md --skill plan --task tasks/cart",
        "git log -5 | ramet add -",
    ],
)
@click.argument("prompt", required=False)
@click.option("--skill", help="What to do with it: plan, explore, implement, review, …  [default: implement]")
@click.option("--task", metavar="DIR", type=references.path, help="The task. Default: one named after the prompt.")
@click.option(
    "--based-on", type=references.effort, metavar="EFFORT", help="Go on with its task, its worktree and its output."
)
@click.option(
    "--depends-on", type=references.effort, metavar="EFFORT", multiple=True, help="Wait for it; may be repeated."
)
@click.option("--driver", metavar="NAME", help="The agent program, see `ramet drivers`. Default: chosen when it runs.")
@click.option("--model", help="The model, as the agent program calls it.")
@click.option("--priority", type=int, help="The higher, the earlier.  [default: 0]")
@click.option("--timeout", "timeout_seconds", type=click.IntRange(min=1), metavar="SECONDS", help="For one attempt.")
@click.option("--file", metavar="FILE", help="Read the prompt from a file; `-` is standard input.")
@click.pass_obj
def add(
    invocation: Invocation,
    /,
    prompt: str | None,
    task: str | None,
    based_on: int | None,
    depends_on: tuple[int, ...],
    file: str | None,
    **given: Any,
) -> None:
    """Put PROMPT into the queue, or what standard input has. Nothing runs until `ramet work`.

    Without --task and --based-on it becomes a task of its own in the project around the current directory, and a git
    repository that is no project yet becomes one.
    """
    text = _read_prompt(prompt, file)
    check_driver(invocation, given["driver"])
    is_new = task is None and based_on is None
    reply = invocation.call(
        "work.add",
        prompt=text,
        task=f"{nearest_project(invocation)}/.ramet/tasks/{slug(text)}" if is_new else task,
        based_on=based_on,
        depends_on=list(depends_on) or None,
        **given,
    )
    if is_new:
        invocation.call("db.task.upsert", dir_path=reply["task_id"], title=first_line(text)[:_TITLE_CHARACTERS])
    if invocation.as_json:
        return print_json(reply)
    click.echo(clean(f"e{reply['id']} queued ({reply['skill']}): {first_line(text)}"))
    if reply["blocked"]:
        return click.echo(f"it {waiting_reason(reply)}")
    return click.echo("run it with `ramet work --once`")


def slug(text: str) -> str:
    """A directory's name made from the first line, of `a-z`, `0-9` and `-` alone; a hash where none of it is left."""
    plain = unicodedata.normalize("NFKD", first_line(text)).encode("ascii", "ignore").decode().lower()
    words = re.sub(r"[^a-z0-9]+", "-", plain).strip("-")[:_SLUG_CHARACTERS].rstrip("-")
    return words or f"task-{hashlib.sha256(text.encode()).hexdigest()[:8]}"


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


def nearest_project(invocation: Invocation) -> str:
    """The path of the nearest project around the current directory; a repository that is nearer becomes one."""
    checkout = find_checkout(invocation.cwd)
    repository = checkout and checkout.project
    here = repository if repository and not invocation.cwd.is_relative_to(repository) else invocation.cwd
    paths = [Path(path_here(invocation, row) or "/") for row in projects_around(invocation, str(here))]
    nearest = max([*paths, *([repository] if repository else [])], key=lambda path: len(path.parts), default=None)
    if nearest is None:
        raise ProjectNotFound(
            f"{invocation.cwd} is in no git repository and in no project",
            field="task",
            value=str(invocation.cwd),
            fix="`git init` here, register a directory with `ramet project add PATH`, or name a task with --task",
        )
    if nearest not in paths:
        register(invocation, str(nearest))
        if not invocation.as_json:
            click.echo(clean(f"{nearest} is a project now"))
    return str(nearest)
