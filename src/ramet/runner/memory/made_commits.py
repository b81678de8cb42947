"""The commits of an effort, recorded as edits when its attempt is settled.

They are what is left if no single edit is known: the lines then belong to the effort. And they tell, after a rebase or
a squash, which lines of the new commits are the effort's.
"""

from collections.abc import Iterator, Sequence

from ramet.model.memory.edited_lines import Line, hash_line, pack
from ramet.model.redaction import Redactor
from ramet.protocol.memory.edits import NewEdit, RecordEdits
from ramet.runner.machine import Machine
from ramet.runner.memory.redacted_lines import redact_lines
from ramet.workspace.git.lines import own_commits
from ramet.workspace.git.lines.file_history import ChangedFile, FileCommit
from ramet.workspace.git.repository import find

_SECONDS = 20.0
_CONTEXT = 3
_BATCH = 200
_LONGEST_PATH = 4096
_SLACK_MS = 999


def origin_of(commit: FileCommit) -> str:
    """What a rebase keeps of a commit: when it was authored, and its subject."""
    return f"{commit.authored_s}:{hash_line(commit.subject):x}"


def record(machine: Machine, effort_id: int, project: str, branch: str, base: str, head: str, since_ms: int) -> None:
    """Record the commits that were made on the effort's branch since its attempt began."""
    if base == head:
        return
    repository = find(machine.git.within(_SECONDS), project)
    if repository is None:
        return
    made = own_commits.read(repository, branch, base, head, context=_CONTEXT)
    redactor = machine.redactor_in(project)
    # An agent may amend, cherry-pick or rebase commits of others. These keep the time at which they were authored.
    own = [commit for commit in made.commits if commit.authored_s * 1000 + _SLACK_MS >= since_ms]
    edits = [edit for commit in own for edit in _edits_of(commit, commit.files, redactor, part=0)]
    if len(own) == len(made.commits) > 1 and made.net is not None:
        edits += _edits_of(own[0], made.net, redactor, part=1)
    for start in range(0, len(edits), _BATCH):
        machine.ask(RecordEdits(effort_id=effort_id, edits=edits[start : start + _BATCH]))


def _edits_of(commit: FileCommit, files: Sequence[ChangedFile], redactor: Redactor, part: int) -> Iterator[NewEdit]:
    for file in files:
        if not file.path or not file.added or len(file.path) > _LONGEST_PATH:
            continue
        yield NewEdit(
            kind="commit",
            path=file.path.encode(errors="replace").decode(),
            part=part,
            at_ms=commit.committed_s * 1000,
            git_commit=commit.hash,
            origin=origin_of(commit),
            lines=pack(_hunk(hunk, redactor) for hunk in file.hunks),
        )


def _hunk(lines: Sequence[tuple[str, bool]], redactor: Redactor) -> tuple[Line, ...]:
    texts = redact_lines(redactor, "\n".join(text for text, _ in lines)).split("\n")
    hashed = [(hash_line(text), is_added) for text, (_, is_added) in zip(texts, lines, strict=True)]
    return tuple(Line(value, is_added) for value, is_added in hashed if value)
