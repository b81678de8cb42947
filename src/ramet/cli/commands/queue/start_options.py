"""The options for where new work starts, which several commands share."""

from collections.abc import Callable
from functools import wraps
from typing import Any

import click

from ramet.cli.invocation import Invocation
from ramet.protocol.record.starting_points import StartAt


def start_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """`--base` and `--with-changes`, as one argument `start`."""

    @wraps(command)
    def collect(*args: Any, base: str | None, with_changes: bool, **options: Any) -> Any:
        invocation: Invocation = click.get_current_context().obj
        start = StartAt(directory=str(invocation.cwd), base=base, with_changes=with_changes)
        return command(*args, start=start, **options)

    collect = click.option(
        "--with-changes", is_flag=True, help="Take your uncommitted changes along, as a commit of their own."
    )(collect)
    return click.option(
        "--base", metavar="REF", help="Start at this branch, tag or commit (default: HEAD of your checkout)."
    )(collect)
