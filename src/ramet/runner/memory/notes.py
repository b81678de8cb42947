"""`memory.notes.export`: which lines of each commit come from efforts, as git notes.

A note says which lines of the commit's version of a file come from which effort and session. It has no prompt and no
text of any file, so that nothing leaves the database that is not in the repository already.
"""

import time
from collections.abc import Iterable, Sequence
from itertools import groupby

from ramet.model.memory.attribution import Attributed, Attribution, FileLine, Version
from ramet.model.redaction import Redactor
from ramet.protocol.memory.edits import MOST_PATHS, FindEdits
from ramet.protocol.memory.why import ExportedNotes, ExportNotes
from ramet.runner.answers import answers
from ramet.runner.machine import Machine
from ramet.runner.memory.call_edits import read_edits
from ramet.runner.memory.checkouts import Checkout, open_checkout
from ramet.runner.memory.line_facts import facts_of
from ramet.runner.memory.redacted_lines import redact_lines
from ramet.workspace.git.lines.file_history import ChangedFile, FileCommit, read_commits
from ramet.workspace.git.lines.versions import read_versions

HEADER = "ramet-attribution 1"
_READING_SECONDS = 60.0
_BATCH = 50


@answers(ExportNotes)
def export(machine: Machine, request: ExportNotes) -> ExportedNotes:
    """The operation `memory.notes.export`."""
    checkout = open_checkout(machine, request.path)
    read_edits(machine, checkout.site, checkout.prefix, _READING_SECONDS)
    top, git = checkout.repository.checkout, checkout.repository.git.identified(checkout.repository.checkout)
    said = git.run(top, "rev-list", f"--max-count={request.limit}", "--no-merges", "HEAD")
    commits, written, unchanged = said.split(), 0, 0
    for start in range(0, len(commits), _BATCH):
        for commit in read_commits(checkout.repository, commits[start : start + _BATCH]):
            note = _note(machine, checkout, commit)
            if note is None:
                continue
            if git.ask(top, "notes", f"--ref={request.ref}", "show", commit.hash) == note.removesuffix("\n"):
                unchanged += 1
                continue
            git.run(top, "notes", f"--ref={request.ref}", "add", "-f", "-F", "-", commit.hash, stdin=note)
            written += 1
    return ExportedNotes(ref=request.ref, commits=len(commits), written=written, unchanged=unchanged)


def _note(machine: Machine, checkout: Checkout, commit: FileCommit) -> str | None:
    """The note of a commit; None if none of its lines is known."""
    paths = [file.path for file in commit.files if file.path and file.added][:MOST_PATHS]
    found = machine.ask(FindEdits(project_id=checkout.site.project.id, paths=paths, commits=[commit.hash]))
    if not found.makers:
        return None
    redactor = machine.redactor_in(str(checkout.site.root))
    texts = read_versions(checkout.repository, [(commit.hash, path) for path in paths])
    facts, now_ms = {commit.hash: facts_of(commit, redactor)}, time.time_ns() // 1_000_000
    parts = []
    for file in commit.files:
        text = texts.get((commit.hash, file.path))
        if text is None:
            continue
        names = {file.path, file.old_path}
        attribution = Attribution(found.edits, found.makers, facts, found.commits, [], names, now_ms)
        attributed = _attribute(attribution, commit, file, text, redactor)
        if attributed:
            parts += [file.path, *_lines(attributed)]
    return "\n".join([HEADER, *parts]) + "\n" if parts else None


def _attribute(
    attribution: Attribution, commit: FileCommit, file: ChangedFile, text: str, redactor: Redactor
) -> dict[int, Attributed]:
    lines = [
        FileLine(start + place, line, commit.hash, file.path, start + place)
        for start, hunk in zip(file.starts, file.hunks, strict=True)
        for place, (line, _) in enumerate(hunk)
    ]
    return attribution.attribute(lines, {(commit.hash, file.path): Version(redact_lines(redactor, text))})


def _lines(attributed: dict[int, Attributed]) -> Sequence[str]:
    """One line for each origin: the effort, the session if it is known, and the numbers of its lines."""
    by_origin: dict[tuple[int, int | None], list[int]] = {}
    for number, found in sorted(attributed.items()):
        session_id = None if found.edit is None else found.edit.session_id
        by_origin.setdefault((found.effort_id, session_id), []).append(number)
    return [
        f"  e{effort_id} {f's{session_id}' if session_id else '-'} {','.join(_spans(numbers))}"
        for (effort_id, session_id), numbers in sorted(by_origin.items(), key=lambda each: each[1])
    ]


def _spans(numbers: Iterable[int]) -> list[str]:
    spans = []
    for _, group in groupby(enumerate(numbers), key=lambda each: each[1] - each[0]):
        members = [number for _, number in group]
        spans.append(f"{members[0]}-{members[-1]}" if len(members) > 1 else str(members[0]))
    return spans
