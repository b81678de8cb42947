"""What git knows about the lines of a file, gathered for `model.memory.attribution`."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from typing import NamedTuple

from ramet.errors import GitFailed
from ramet.model.memory.attribution import Attributed, Attribution, CommitFacts, FileLine, Version
from ramet.model.memory.edited_lines import hash_line, weigh
from ramet.model.redaction import Redactor
from ramet.protocol.memory.edits import MOST_PATHS, FindEdits, FoundEdits
from ramet.runner.machine import Machine
from ramet.runner.memory import moves
from ramet.runner.memory.checkouts import Checkout, FileIn
from ramet.runner.memory.made_commits import origin_of
from ramet.runner.memory.redacted_lines import redact_lines
from ramet.workspace.git.lines.blame import UNCOMMITTED, Blamed, blame
from ramet.workspace.git.lines.file_history import ChangedFile, FileCommit, read_commits, read_history
from ramet.workspace.git.lines.versions import read_versions

_MOST_VERSIONS = 500
_MOST_READ = 100
"""Commits that are read with everything that they changed."""
_LAST_COMMA = re.compile(r",(?=[)\]}])")


class FileFacts(NamedTuple):
    """The lines of a file, and where they come from."""

    lines: list[FileLine]
    attributed: dict[int, Attributed]
    found: FoundEdits


def look(machine: Machine, checkout: Checkout, file: FileIn, now_ms: int) -> FileFacts:
    """Blame a file, and match its lines with recorded edits."""
    repository = checkout.repository
    redactor = machine.redactor_in(str(checkout.site.root))
    history = read_history(repository, file.path)
    blamed = blame(repository, file.path, find_reformats(history))
    lines = [_line(each) for each in moves.settle(repository, history, blamed)]
    names = {file.path, *(line.path for line in lines)}
    names |= {name for commit in history for changed in commit.files for name in (changed.path, changed.old_path)}
    commits = list(dict.fromkeys(line.commit for line in lines if line.commit))
    found = machine.ask(
        FindEdits(project_id=checkout.site.project.id, paths=_bounded(names), commits=[*commits, *_hashes(history)])
    )
    if not found.makers:
        return FileFacts(lines, {}, found)
    whole = _read_whole(checkout, [commit for commit in commits if commit not in found.commits])
    beside = {changed.path for commit in whole for changed in commit.files} - names
    if beside:
        more = machine.ask(FindEdits(project_id=checkout.site.project.id, paths=_bounded(beside), commits=[]))
        found = _joined(found, more)
    known = {commit.hash: commit for commit in (*history, *whole)}
    facts = {hashed: facts_of(commit, redactor) for hashed, commit in known.items()}
    facts |= _facts_of_rest(checkout, [commit for commit in commits if commit not in facts], redactor)
    attribution = Attribution(
        found.edits, found.makers, facts, found.commits, introductions(history, names, redactor), names, now_ms
    )
    attributed = attribution.attribute(lines, _versions(checkout, file, lines, redactor))
    return FileFacts(lines, attributed, found)


def _line(each: Blamed) -> FileLine:
    commit = None if each.commit == UNCOMMITTED else each.commit
    return FileLine(each.number, each.text, commit, each.path, each.place)


def _hashes(history: Sequence[FileCommit]) -> list[str]:
    return [commit.hash for commit in history]


def _bounded(paths: Iterable[str]) -> list[str]:
    usable = sorted(path for path in paths if path and len(path) <= 4096 and path.isprintable())
    return usable[:MOST_PATHS]


def _joined(found: FoundEdits, more: FoundEdits) -> FoundEdits:
    makers = {maker.effort_id: maker for maker in (*found.makers, *more.makers)}
    return FoundEdits(edits=[*found.edits, *more.edits], makers=[*makers.values()], commits=found.commits)


def _read_whole(checkout: Checkout, commits: Sequence[str]) -> list[FileCommit]:
    """The commits of others with everything that they changed. A large one may take too long; it then counts only with
    this file.
    """
    with suppress(GitFailed):
        return read_commits(checkout.repository, commits[:_MOST_READ])
    return []


def _facts_of_rest(checkout: Checkout, commits: Sequence[str], redactor: Redactor) -> dict[str, CommitFacts]:
    with suppress(GitFailed):
        return {each.hash: facts_of(each, redactor) for each in read_commits(checkout.repository, commits[:_MOST_READ])}
    return {}


def facts_of(commit: FileCommit, redactor: Redactor) -> CommitFacts:
    """A commit as the rules of attribution need it."""
    added = redact_lines(redactor, "\n".join(line for file in commit.files for line in file.added)).split("\n")
    return CommitFacts(
        commit.hash,
        commit.authored_s * 1000,
        commit.committed_s * 1000,
        origin_of(commit),
        commit.efforts,
        {hashed: weigh(line) for line in added if (hashed := hash_line(line))},
    )


def introductions(
    history: Sequence[FileCommit], names: Iterable[str], redactor: Redactor
) -> list[tuple[str, Counter[int]]]:
    """What each commit added to a file more often than it removed, the oldest first."""
    wanted = set(names)
    found = []
    for commit in reversed(history):
        net: Counter[int] = Counter()
        for changed in commit.files:
            if changed.path in wanted or changed.old_path in wanted:
                net.update(_hashed(redactor, changed.added))
                net.subtract(_hashed(redactor, changed.removed))
        found.append((commit.hash, +net))
    return found


def _hashed(redactor: Redactor, lines: Sequence[str]) -> list[int]:
    return [hashed for line in redact_lines(redactor, "\n".join(lines)).split("\n") if (hashed := hash_line(line))]


def _versions(
    checkout: Checkout, file: FileIn, lines: Sequence[FileLine], redactor: Redactor
) -> Mapping[tuple[str | None, str], Version]:
    wanted = list(dict.fromkeys((line.commit, line.path) for line in lines if line.commit))[:_MOST_VERSIONS]
    texts = read_versions(checkout.repository, [(commit or "", path) for commit, path in wanted])
    found: dict[tuple[str | None, str], Version] = {
        key: Version(redact_lines(redactor, text)) for key, text in texts.items()
    }
    current = Version(redact_lines(redactor, file.text))
    return found | {(None, line.path): current for line in lines if line.commit is None}


def find_reformats(history: Sequence[FileCommit]) -> tuple[str, ...]:
    """The commits that only formatted a file: white space, the kind of quotes, a comma before a closing bracket.

    git then looks through them, so that a line which was joined or wrapped is still that of its author.
    """
    return tuple(commit.hash for commit in history if commit.files and all(map(_is_reformatted, commit.files)))


def _is_reformatted(changed: ChangedFile) -> bool:
    new = [[text for text, is_added in hunk if is_added] for hunk in changed.hunks]
    return bool(new) and all(_plain(mine) == _plain(old) for mine, old in zip(new, changed.gone, strict=True))


def _plain(lines: Sequence[str]) -> str:
    return _LAST_COMMA.sub("", "".join("".join(lines).split()).replace("'", '"'))
