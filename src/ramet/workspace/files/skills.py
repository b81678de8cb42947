"""Skill files on the disk: the project's, then the user's own. Of two with the same name the first counts.

Agent programs have folders of their own for skills; whoever calls names them, because this module knows no program.
"""

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Literal, NamedTuple

from ramet.config.files import user_home, xdg_directory
from ramet.errors import FileMissing, PathOutside, RametError, SkillFileInvalid
from ramet.model.hooks.directive import is_plain
from ramet.model.record.skills.skill_file import (
    FILE_NAME,
    MAX_BYTES,
    SkillFile,
    parse,
)
from ramet.workspace.files import project_files

Source = Literal["project", "user"]

_PROJECT_FOLDER = ".ramet/skills"
_SHARED_FOLDER = ".agents/skills"
"""In a project and in the user's home: for skills that any agent program may use."""


class Found(NamedTuple):
    """A folder that has a skill file, and what the file says or what is wrong with it."""

    name: str
    path: str
    source: Source
    root: Path
    """The folder that the skill's files have to stay in."""
    skill: SkillFile | None
    error: SkillFileInvalid | None


def list_all(project: str | Path | None, environ: Mapping[str, str], own_folders: Sequence[str]) -> list[Found]:
    """Every skill file, by name; one that cannot be used is there with what is wrong with it. `own_folders` are those
    of agent programs, in a project and in the user's home.
    """
    found: dict[str, Found] = {}
    for name, path, root, source in _folders(project, environ, own_folders):
        if name not in found:
            with suppress(FileMissing, PathOutside):
                found[name] = _look(name, path, root, source)
    return [found[name] for name in sorted(found)]


def find(project: str | Path | None, environ: Mapping[str, str], own_folders: Sequence[str], name: str) -> Found | None:
    """The skill file of a name; one that is broken is refused, because somebody asked for it."""
    for found_name, path, root, source in _folders(project, environ, own_folders):
        if found_name == name and os.path.lexists(path):
            found = _look_closely(name, path, root, source)
            if found.error is not None:
                raise found.error
            return found
    return None


def _look_closely(name: str, path: str, root: Path, source: Source) -> Found:
    """A file that is there and cannot be read is an error, too: a link in a circle or out of the project, a pipe, a
    file that is too large.
    """
    try:
        return _look(name, path, root, source)
    except PathOutside as error:
        fix = "put the file itself there, not a link"
        raise SkillFileInvalid(f"{path}: the link leads out of {root}, or in a circle", fix=fix) from error
    except FileMissing as error:
        fix = "make it a plain file that you can read; move details into other files if it is too large"
        raise SkillFileInvalid(
            f"{path}: the file cannot be read, or is larger than {MAX_BYTES:,} bytes", fix=fix
        ) from error


def read(root: str | Path, path: str | Path) -> SkillFile:
    """What the skill file at a path says; what is wrong with it is said with its path."""
    content = project_files.read_bytes(root, path, MAX_BYTES)
    try:
        return parse(content, Path(path).parent.name)
    except SkillFileInvalid as error:
        raise _named(error, str(path)) from error


def _look(name: str, path: str, root: Path, source: Source) -> Found:
    try:
        return Found(name, path, source, root, read(root, path), None)
    except SkillFileInvalid as error:
        return Found(name, path, source, root, None, error)


def _named(error: SkillFileInvalid, path: str) -> SkillFileInvalid:
    named = SkillFileInvalid(f"{path}: {error.message}", field=error.field, value=error.value, fix=error.fix)
    named.line = error.line
    return named


def _folders(
    project: str | Path | None, environ: Mapping[str, str], own_folders: Sequence[str]
) -> Iterator[tuple[str, str, Path, Source]]:
    """Where skill files may be: the name of each skill's folder, the file, and the folder it has to stay in."""
    home = user_home(environ)
    config = xdg_directory(environ, "XDG_CONFIG_HOME", ".config")
    everywhere = [_SHARED_FOLDER, *own_folders]
    places: list[tuple[Path, Path, Source]] = []
    if project is not None:
        places += [(Path(project) / folder, Path(project), "project") for folder in (_PROJECT_FOLDER, *everywhere)]
    places += [(config / "ramet" / "skills", config, "user"), *((home / name, home, "user") for name in everywhere)]
    for folder, root, source in places:
        with suppress(OSError, RametError):
            for found in sorted(project_files.resolve(root, folder).path.iterdir()):
                if is_plain(found.name):
                    yield found.name, str(folder / found.name / FILE_NAME), root, source
