"""What the disk says about where a hook was called: the project, what is in no commit, and the directives there.

It is what the agent is told besides; whatever cannot be found out is left out.
"""

import os
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from ramet.errors import RametError
from ramet.model.hooks.directive import Directive, OwnDirectives
from ramet.model.hooks.hook import HookEvent
from ramet.model.hooks.touched_files import touched_files
from ramet.protocol.hooks.hooks import HookFacts
from ramet.workspace.files import directives, project_files
from ramet.workspace.git.command import Git
from ramet.workspace.git.location import locate
from ramet.workspace.worktrees import leftovers

_MOST_UNCOMMITTED = 200
_LONGEST_LINK = 8192


def gather(git: Git, event: HookEvent, own: OwnDirectives | None, own_names: Sequence[str]) -> HookFacts:
    """The facts of one event, but for the directives that its program reads by itself (`own`). `own_names` are the
    names that agent programs have for directives.
    """
    if event.cwd is None:
        return HookFacts()
    top, is_repository = find_top(Path(event.cwd))
    return HookFacts(
        project=str(find_project(top)),
        is_repository=is_repository,
        uncommitted=list_uncommitted(git, top) if is_repository and _is_boundary(event) else [],
        directives=_directives(top, event, own, own_names),
    )


def find_top(directory: Path) -> tuple[Path, bool]:
    """The top of the checkout that a directory is in, or the directory itself; and whether there is a repository."""
    found = locate(directory)
    return (found.top, True) if found else (directory, False)


def find_project(top: Path) -> Path:
    """The project that a checkout belongs to: of a linked worktree, the one whose repository it is linked to."""
    with suppress(RametError, OSError, ValueError):
        link = project_files.read(top, ".git", _LONGEST_LINK).removeprefix("gitdir:").strip()
        repository, linked, _ = str(top / link).rpartition("/.git/worktrees/")
        if linked and Path(f"{repository}/.git").is_dir():
            return Path(repository).resolve()
    return top


def _is_boundary(event: HookEvent) -> bool:
    """Whether a context begins anew, when it matters what is in no commit."""
    return event.moment in ("session_start", "pre_compact")


def list_uncommitted(git: Git, top: Path) -> list[str]:
    """What is in no commit of a repository, as far as git says."""
    with suppress(RametError):
        paths = leftovers.look(git, top).without_reports().paths[:_MOST_UNCOMMITTED]
        return [os.fsencode(path).decode(errors="backslashreplace") for path in paths]
    return []


def _directives(
    project: Path, event: HookEvent, own: OwnDirectives | None, own_names: Sequence[str]
) -> list[Directive]:
    """Those of the folders that the tool touched; where a session begins, those of where it is."""
    folders = {event.cwd or ""} if _is_boundary(event) else {os.path.dirname(file) for file in touched_files(event)}  # noqa: PTH120
    found: dict[str, Directive] = {}
    for folder in sorted(folders):
        with suppress(RametError, OSError):
            known = set() if own is None else directives.find_own(project, folder, own, event.cwd or "")
            told = directives.resolve(project, [folder], own_names, without=known)
            found |= {directive.path: directive for directive in told}
    return list(found.values())
