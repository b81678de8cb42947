"""Validation: whether an effort's record is complete, and whether its files say that the work is done.

The engine checks the record. Here the files are checked: the report, the tags in the effort's artifacts, the checklists
of the directories that it worked in, and the files that it responds to. Nothing is changed. A file that cannot be read
fails its check, because nobody can say what is in it.
"""

import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from ramet.errors import RametError
from ramet.model.hooks.artifact import (
    CHECKLIST,
    REQUEST_FILES,
    asks_for_response,
    find_answers,
    find_bare_tags,
    find_needs,
    has_response,
    list_items,
)
from ramet.model.hooks.note import log_file_of
from ramet.model.record.effort import Check, Effort
from ramet.model.record.skill import artifact_prefix
from ramet.model.redaction import Redactor
from ramet.protocol.record.efforts import CheckRecord, ValidateEffort, Validation, nest
from ramet.protocol.work.attempts import WorkChain
from ramet.runner.answers import answers
from ramet.runner.machine import Machine
from ramet.runner.settlement import reports
from ramet.vendors import registry
from ramet.workspace.files import directives, project_files

_MAX_BYTES = 1024 * 1024
_MOST_FILES = 100
_MOST_DIRECTORIES = 500
_MOST_NAMED = 10


class _Work(NamedTuple):
    """An effort, the project's root on this machine, and the texts that the effort left, by the names of the files;
    None for a file that cannot be read.
    """

    effort: Effort
    root: Path
    texts: Mapping[str, str | None]


@answers(ValidateEffort)
def validate(machine: Machine, request: ValidateEffort) -> Validation:
    """The operation `db.effort.validate`."""
    validation = machine.ask(CheckRecord(effort_id=request.effort_id))
    chain = machine.ask(WorkChain(effort_id=request.effort_id, host=machine.host))
    effort = nest(chain.efforts[0])
    work = _Work(effort, Path(chain.project_path), dict(_read_artifacts(Path(chain.project_path), effort)))
    checks = [*validation.checks]
    if effort.report_file is not None:
        checks.append(_check_report(chain.project_path, effort, machine.redactor_in(chain.project_path)))
    checks += [_check_tags(work), _check_checklists(work), _check_requests(work)]
    return Validation(effort_id=validation.effort_id, passed=all(check.passed for check in checks), checks=checks)


def _check_report(project_path: str, effort: Effort, redactor: Redactor) -> Check:
    """What is stored is the file without its secrets."""
    found = reports.find(project_path, effort)
    if found is None:
        return Check(name="report", passed=False, detail=f"{effort.report_file} is not on this disk")
    if redactor.redact(found.text).text != effort.output_content:
        detail = f"{effort.report_file} differs from the database; `ramet report sync e{effort.id}` saves it there"
        return Check(name="report", passed=False, detail=detail)
    return Check(name="report", passed=True, detail=f"{effort.report_file} matches the database")


def _read_artifacts(root: Path, effort: Effort) -> Iterator[tuple[str, str | None]]:
    """The markdown files of the task's directory that have the effort's prefix, and the report."""
    prefix = artifact_prefix(effort.ordinal, effort.skill)
    with suppress(RametError, OSError):
        folder = project_files.resolve(root, effort.task_id).path
        names = sorted(path.name for path in folder.glob(f"{prefix}*.md"))
        for name in islice((name for name in names if name[len(prefix)] in "._"), _MOST_FILES):
            yield name, _read(root, folder / name)
    if effort.report_file is not None:
        found = reports.find(str(root), effort)
        yield effort.report_file, effort.output_content if found is None else found.text


def _read(root: Path, path: Path) -> str | None:
    with suppress(RametError):
        return project_files.read(root, path, _MAX_BYTES)
    return None


def _check_tags(work: _Work) -> Check:
    found = []
    for name, text in work.texts.items():
        if text is None:
            found.append(f"{name} cannot be read")
        else:
            found += [f"{name}:{tag.line} {tag.name}" for tag in find_bare_tags(text)]
    count = len(work.texts)
    right = f"none in {count} files" if count != 1 else "none in 1 file"
    return _conclude("tags", found, right, "resolve each, put it on the line **Tags**:, or write it as `code`")


def _check_checklists(work: _Work) -> Check:
    """Whether every item of every checklist is answered in an artifact."""
    found, open_items, count = [], 0, 0
    answered = _answers(work)
    for path in _list_checklists(work):
        text = _read(work.root, path)
        if text is None:
            found.append(f"{path} cannot be read")
            continue
        given = answered.get(str(path), {})
        missing = [item for item in list_items(text) if item not in given]
        found += [f"{path}: {item!r} is not answered" for item in missing]
        open_items += sum(not ticked for ticked in given.values())
        count += 1
    log = log_file_of(work.effort.ordinal, work.effort.skill)
    right = f"{count} answered, {open_items} items left open" if count else "none apply"
    return _conclude("checklists", found, right, f"write `## CHECKLIST: PATH` and the items to {log} (`ramet note`)")


def _answers(work: _Work) -> dict[str, dict[str, bool]]:
    """What the artifacts answer, by the path of the checklist; the later answer to an item counts."""
    found: dict[str, dict[str, bool]] = {}
    for text in work.texts.values():
        for named, items in find_answers(text or "").items():
            with suppress(RametError):
                path = project_files.resolve(work.root, _in_project(work, named)).path
                found.setdefault(str(path), {}).update(items)
    return found


def _list_checklists(work: _Work) -> list[Path]:
    """Those that the agent was told, and those of the directories that it worked in."""
    told = (path for path in work.effort.discovered_directives or () if Path(path).name == CHECKLIST)
    found = [_in_project(work, path) for path in told]
    for directory in islice(dict.fromkeys(_directories(work)), _MOST_DIRECTORIES):
        with suppress(RametError, OSError):
            applying = directives.discover(work.root, directory, registry.directive_files())
            found += [str(path) for path in applying if path.name == CHECKLIST]
    paths: dict[Path, None] = {}
    for path in found:
        with suppress(RametError):
            paths[project_files.resolve(work.root, path).path] = None
    return list(paths)


def _directories(work: _Work) -> Iterator[str]:
    effort = work.effort
    yield effort.task_id
    yield from (_in_project(work, path) for path in effort.discovered_directories or ())
    changes = effort.spent.changes
    yield from () if changes is None else (str((work.root / file).parent) for file in changes.files)


def _in_project(work: _Work, path: str) -> str:
    """A path as it is in the project; an agent may know it from its worktree."""
    worktree = work.effort.place.worktree
    if worktree is not None and path.startswith(worktree + os.sep):
        return str(work.root / Path(path).relative_to(worktree))
    return path


def _check_requests(work: _Work) -> Check:
    """Whether the files that the effort responds to need nothing more."""
    named = (work.effort.metadata or {}).get(REQUEST_FILES, [])
    if not isinstance(named, list) or not all(isinstance(path, str) for path in named):
        detail = f"the effort's metadata has {REQUEST_FILES} that is not a list of paths"
        return Check(name="requests", passed=False, detail=detail)
    found = [problem for path in named[:_MOST_FILES] for problem in _find_problems(work, path)]
    right = f"{len(named)} fulfilled" if named else "none"
    return _conclude("requests", found, right, "resolve what is needed, and add `## Response` to a REQUEST file")


def _find_problems(work: _Work, path: str) -> Iterable[str]:
    text = _read(work.root, Path(_in_project(work, path)))
    if text is None:
        return [f"{path} is not in the project or cannot be read"]
    problems = [f"{path}:{tag.line} {tag.name}" for tag in find_needs(text)]
    if asks_for_response(Path(path).name) and not has_response(text):
        problems.append(f"{path} has no section `## Response`")
    return problems


def _conclude(name: str, found: list[str], right: str, fix: str) -> Check:
    """A check that passes if nothing was found."""
    if not found:
        return Check(name=name, passed=True, detail=right)
    more = [f"and {len(found) - _MOST_NAMED} more"] if len(found) > _MOST_NAMED else []
    return Check(name=name, passed=False, detail=f"{'; '.join([*found[:_MOST_NAMED], *more])} ({fix})")
