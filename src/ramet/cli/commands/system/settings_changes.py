"""Changes to agent programs' files, as people see them: what would be written, what was."""

import shutil
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import click

from ramet.cli.invocation import Invocation
from ramet.cli.output import clean, print_json
from ramet.cli.repository import find_checkout
from ramet.installer.changes import Change, apply, back_up

DONE = {"absent": "added", "outdated": "updated", "installed": "unchanged", "foreign": "left alone: not ours"}
UNDONE = {"absent": "nothing there", "outdated": "removed", "installed": "removed", "foreign": "left alone: not ours"}


def settings_folder(invocation: Invocation) -> Path:
    """Where agent programs look for a project's settings: at the top of the checkout around the current directory, be
    it a linked worktree; else in the directory.
    """
    checkout = find_checkout(invocation.cwd)
    return invocation.cwd if checkout is None else checkout.top


def project_folder(invocation: Invocation) -> Path:
    """The project around the current directory: a linked worktree belongs to that of its repository."""
    checkout = find_checkout(invocation.cwd)
    return invocation.cwd if checkout is None else checkout.project


def find_program(invocation: Invocation, program: str) -> str | None:
    """Where a program is; None where it is not installed."""
    return shutil.which(program, path=invocation.environ.get("PATH"))


def confirm(invocation: Invocation, changes: Sequence[Change], verb: str) -> bool:
    """Show what would change; whether a person wants it."""
    if not any(change.diff for change in changes):
        return True
    if invocation.as_json or not sys.stdin.isatty():
        raise click.UsageError(f"{verb} asks before it acts, and there is nobody to ask; give --yes or --dry-run.")
    show_differences(changes)
    return click.confirm("Write this?", err=True)


def show_differences(changes: Iterable[Change]) -> None:
    """As patches."""
    click.echo(clean("".join(change.diff for change in changes)), nl=False)


def write(invocation: Invocation, changes: Sequence[Change]) -> None:
    """Keep what the files said, and write what they are to say."""
    for change in changes:
        back_up(change, invocation.places.backups / "settings")
    for change in changes:
        apply(change)


def show_results(
    invocation: Invocation, changes: Sequence[Change], words: dict[str, str], *, dry_run: bool, **more: Any
) -> None:
    """What became of each file, or would."""
    if invocation.as_json:
        return print_json({"items": [result(change, words) for change in changes], "dry_run": dry_run, **more})
    for change in changes:
        click.echo(clean(f"{change.vendor}: {word(change, words)} ({change.file})"))
    return click.echo("nothing was written") if dry_run else None


def result(change: Change, words: dict[str, str]) -> dict[str, Any]:
    """The same for programs."""
    return {"vendor": change.vendor, "file": str(change.file), "result": word(change, words), "diff": change.diff}


def word(change: Change, words: dict[str, str]) -> str:
    """What happened; where the entry was right and something beside it was added, that it was brought up to date."""
    return words["outdated"] if change.state == "installed" and change.diff else words[change.state]
