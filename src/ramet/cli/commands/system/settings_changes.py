"""Changes to the settings files of agent programs, as people see them: planned, or done."""

import shutil
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import click

from ramet.cli.invocation import Invocation
from ramet.cli.output import clean, print_json
from ramet.cli.repository import find_checkout
from ramet.config.places import make_private
from ramet.installer import exclude_block
from ramet.installer.changes import Change, apply, back_up
from ramet.installer.install_record import remember
from ramet.workspace.git.command import Git
from ramet.workspace.git.location import locate

DONE = {"absent": "added", "outdated": "updated", "installed": "unchanged", "foreign": "left alone: not ours"}
UNDONE = {"absent": "nothing there", "outdated": "removed", "installed": "removed", "foreign": "left alone: not ours"}
"""By the state of our entry: the result, as programs read it."""
_SAID = {
    "left alone: not ours": "left alone, it is not from Ramet",
    "left alone: git tracks it": "left alone, git tracks it: use --scope user",
    "made": "created",
    "is there": "exists already",
    "is registered": "registered already",
    "stays: there is something in it": "kept, it is not empty",
    "stays registered, with what was done in it": "kept in the database, with its history",
}
"""The results that people read in other words."""
_PLANNED = {
    "added": "would add",
    "made": "would create",
    "registered": "would register",
    "removed": "would remove",
    "updated": "would update",
}
"""The results that change something, before they happen."""


def settings_folder(invocation: Invocation) -> Path:
    """Where agent programs look for a project's settings: at the top of the checkout around the current directory, also
    if it is a linked worktree; without a checkout, in the current directory.
    """
    checkout = find_checkout(invocation.environ, invocation.cwd)
    return invocation.cwd if checkout is None else checkout.top


def project_folder(invocation: Invocation) -> Path:
    """The project around the current directory. A linked worktree belongs to the project of its repository."""
    checkout = find_checkout(invocation.environ, invocation.cwd)
    return invocation.cwd if checkout is None else checkout.project


def plan_excludes(invocation: Invocation, changes: Sequence[Change]) -> Change | None:
    """The change that keeps new files out of `git status`, in this clone only; None without a repository."""
    location = locate(invocation.cwd)
    if location is None or find_checkout(invocation.environ, invocation.cwd) is None:
        return None
    new = [change for change in changes if change.before is None and change.after is not None]
    return exclude_block.plan_install(location.common, [str(each.file.relative_to(each.scope)) for each in new])


def plan_excludes_removal(invocation: Invocation) -> Change | None:
    """The change that takes that back; None if there is nothing to take back."""
    location = locate(invocation.cwd)
    if location is None or find_checkout(invocation.environ, invocation.cwd) is None:
        return None
    change = exclude_block.plan_remove(location.common)
    return None if change.state == "absent" else change


def is_tracked(invocation: Invocation, change: Change) -> bool:
    """Whether git has the file, so that a change to it is one for everybody."""
    if change.before is None or find_checkout(invocation.environ, change.scope) is None:
        return False
    make_private(invocation.places.home)
    git = Git(invocation.environ, invocation.places.home / "git")
    return bool(git.run(change.scope, "ls-files", "--", str(change.file.relative_to(change.scope))))


def find_program(invocation: Invocation, program: str) -> str | None:
    """Where a program is; None if it is not installed."""
    return shutil.which(program, path=invocation.environ.get("PATH"))


def confirm(invocation: Invocation, changes: Sequence[Change], verb: str) -> bool:
    """Show what would change, and ask; whether the person agrees."""
    if not any(change.diff for change in changes):
        return True
    if invocation.as_json or not sys.stdin.isatty():
        raise click.UsageError(f"{verb} asks before it writes, and there is no terminal; give --yes or --dry-run.")
    show_differences(changes)
    return click.confirm("Write these changes?", err=True)


def show_differences(changes: Iterable[Change]) -> None:
    """As patches."""
    click.echo(clean("".join(change.diff for change in changes)), nl=False)


def write(invocation: Invocation, changes: Sequence[Change]) -> None:
    """Back up the files, then write them."""
    folder = invocation.places.backups / "settings"
    make_private(folder)
    for change in changes:
        back_up(change, folder)
    # First, so that a place is known even if this ends in between.
    remember(invocation.places.home, changes)
    for change in changes:
        apply(change)


def show_results(
    invocation: Invocation, changes: Sequence[Change], words: dict[str, str], *, dry_run: bool, **more: Any
) -> None:
    """Say what was done to each file, or would be."""
    if invocation.as_json:
        return print_json({"items": [result(change, words) for change in changes], "dry_run": dry_run, **more})
    for change in changes:
        click.echo(clean(f"{change.vendor}: {say_result(word(change, words), dry_run=dry_run)} ({change.file})"))
    return click.echo("nothing was written") if dry_run else None


def say_result(told: str, *, dry_run: bool) -> str:
    """A result for people: `added`, or in a dry run `would add`."""
    return (dry_run and _PLANNED.get(told)) or _SAID.get(told, told)


def result(change: Change, words: dict[str, str]) -> dict[str, Any]:
    """The same for programs."""
    return {"vendor": change.vendor, "file": str(change.file), "result": word(change, words), "diff": change.diff}


def word(change: Change, words: dict[str, str]) -> str:
    """The result. If our entry was right but something beside it was added, the file was updated."""
    return words["outdated"] if change.state == "installed" and change.diff else words[change.state]
