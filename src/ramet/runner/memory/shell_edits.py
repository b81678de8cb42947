"""What the commands of an attempt wrote, as its keeper saw it, recorded as edits when the attempt is settled."""

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path

import msgspec

from ramet.model.memory.edited_lines import compare_files, hash_lines, pack, unpack_hashes
from ramet.model.record.effort import Effort
from ramet.model.record.session import Session
from ramet.protocol.memory.edits import ListCalls, NewEdit, RecordEdits
from ramet.protocol.work.keepers import LOOKS_FILE
from ramet.runner.machine import Machine
from ramet.runner.memory.redacted_lines import redact_lines
from ramet.runner.memory.shell_changes import Look, ShellChange
from ramet.workspace.git.lines.versions import read_versions
from ramet.workspace.git.location import locate
from ramet.workspace.git.repository import find

_SECONDS = 20.0
_PAGE = 200
_BATCH = 200
_MOST_PAGES = 100
_LONGEST_PATH = 4096


def record(machine: Machine, effort: Effort, session: Session, project: str, folder: Path) -> None:
    """Record what the commands of a session wrote. `folder`: the keeper's."""
    looks = [each for each in _read(folder / LOOKS_FILE) if each.call_id is not None and each.changes]
    if not looks:
        return
    messages = _messages(machine, session.id)
    prefix = _prefix(effort.place.worktree)
    before = _versions(machine, effort, project, prefix, looks)
    edits = [
        edit
        for each in looks
        if each.call_id is not None and (message_id := messages.get(each.call_id)) is not None
        for edit in _edits_of(each, message_id, prefix, before)
    ]
    for start in range(0, len(edits), _BATCH):
        machine.ask(RecordEdits(effort_id=effort.id, session_id=session.id, edits=edits[start : start + _BATCH]))


def _read(path: Path) -> Iterator[Look]:
    """As far as the file is whole: the last line may be torn."""
    decoder = msgspec.json.Decoder(Look)
    with suppress(OSError, msgspec.DecodeError), path.open("rb") as lines:
        for line in lines:
            yield decoder.decode(line)


def _messages(machine: Machine, session_id: int) -> dict[str, int]:
    """The messages of the calls of a session. A name that two calls have says nothing."""
    found: dict[str, int] = {}
    times: Counter[str] = Counter()
    after = 0
    for _ in range(_MOST_PAGES):
        calls = machine.ask(ListCalls(session_id=session_id, after=after, limit=_PAGE)).items
        for call in calls:
            if call.call_id is not None:
                found[call.call_id] = call.message_id
                times[call.call_id] += 1
        if len(calls) < _PAGE:
            break
        after = calls[-1].message_id
    return {call_id: message_id for call_id, message_id in found.items() if times[call_id] == 1}


def _prefix(worktree: str | None) -> str:
    """The worktree's path below the top of its checkout, as the start of paths."""
    if worktree is None:
        return ""
    folder = Path(worktree).resolve()
    location = locate(folder)
    below = "." if location is None else str(folder.relative_to(location.top.resolve()))
    return "" if below == "." else f"{below}/"


def _versions(
    machine: Machine, effort: Effort, project: str, prefix: str, looks: Sequence[Look]
) -> dict[str, list[int]]:
    """The files that a command changed for the first time, as they were before. Only in the first attempt are they as
    in the commit that the effort began with.
    """
    base = effort.place.git_base
    repository = find(machine.git.within(_SECONDS), project) if base and effort.retry.attempts <= 1 else None
    if repository is None or base is None:
        return {}
    paths = {f"{prefix}{change.path}" for each in looks for change in each.changes if change.before is None}
    texts = read_versions(repository, [(base, path) for path in sorted(paths)])
    redactor = machine.redactor_in(project)
    return {path: hash_lines(redact_lines(redactor, text)) for (_, path), text in texts.items()}


def _edits_of(seen: Look, message_id: int, prefix: str, before: dict[str, list[int]]) -> Iterator[NewEdit]:
    for change in seen.changes:
        path = f"{prefix}{change.path}"
        old = _old(change, path, before)
        hunks = [] if old is None else compare_files(old, unpack_hashes(change.after))
        if hunks and len(path) <= _LONGEST_PATH:
            yield NewEdit(kind="shell", path=path, at_ms=seen.at_ms, message_id=message_id, lines=pack(hunks))


def _old(change: ShellChange, path: str, before: dict[str, list[int]]) -> list[int] | None:
    return before.get(path) if change.before is None else unpack_hashes(change.before)
