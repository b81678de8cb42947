"""The conversation of a run: a branch of the history, which grows by a turn when a line begins and when it ends.

Each turn is written in the transaction of what it tells about, so that the conversation is whole whatever happens.
"""

from typing import get_args

from ramet.engine.history import commits as histories
from ramet.engine.history import references
from ramet.engine.history.commits import Kind
from ramet.engine.transaction import Transaction
from ramet.model.instant import to_iso
from ramet.model.record.effort import Effort
from ramet.model.runs.conversation import tell_failure
from ramet.model.runs.run import Run
from ramet.protocol.runs.runs import TurnRole, TurnRow
from ramet.store.history import commits, segments

_LINE, _EFFORT = "line", "effort"
_LOOK_BACK = 20
"""Among so many of the newest turns is a line's own, whatever people added by hand behind it."""
_ALL = 2**31 - 1
_ROLES: dict[str, TurnRole] = {role: role for role in get_args(TurnRole)}


def begin(tx: Transaction, run_id: int) -> str:
    """A new, empty conversation; the name of its branch."""
    name = wanted = f"run/{run_id}"
    number = 1
    while segments.find_head(tx.db, name) is not None:
        number += 1
        name = f"{wanted}.{number}"
    segments.create_branch(tx.db, name, None, tx.now_ms)
    tx.record("branch.created", data={"branch": name})
    return name


def ask(tx: Transaction, run: Run, effort: Effort) -> None:
    """The user's turn: the line's own text. An attempt that is made again does not repeat it."""
    if run.branch is not None and not _is_asked(tx, run.branch, effort):
        add(tx, run, "user", effort.prompt or "", effort)


def answer(tx: Transaction, run: Run, effort: Effort) -> None:
    """What came of a line: what was said, or that it failed. Of one that never began there is nothing to tell."""
    if run.branch is None or not effort.retry.attempts:
        return
    if effort.outcome == "success" and not effort.output_content:
        return
    ask(tx, run, effort)
    if effort.outcome == "success":
        add(tx, run, "assistant", effort.output_content or "", effort)
    else:
        add(tx, run, "system", tell_failure(effort.reason or effort.outcome), effort)


def add(
    tx: Transaction, run: Run, role: TurnRole, content: str, effort: Effort | None, line: str | None = None
) -> None:
    """One more turn."""
    about = {_LINE: line} if line else {_LINE: effort.line.key, _EFFORT: effort.id} if effort else None
    author = (effort.driver if effort and role == "assistant" else None) or "user"
    kind = Kind(content_type="dialogue", role=role, author=author, at_ms=tx.now_ms)
    branch = run.branch or ""
    histories.add(tx, references.head_or_new(tx, branch), tx.contents.prepare(content, about), kind)
    data = {"run": run.id, "branch": branch, "role": role, **(about or {})}
    tx.record("run.turn", task_id=run.task_id, effort_id=effort.id if effort else None, data=data)


def _is_asked(tx: Transaction, branch: str, effort: Effort) -> bool:
    """Whether the newest turn of a line is this one's question."""
    head = references.head_or_new(tx, branch)
    for turn in commits.read_newest(tx.db, tx.codec, references.spans(tx, head), limit=_LOOK_BACK):
        about = turn.metadata or {}
        if _EFFORT in about:
            return about[_EFFORT] == effort.id and turn.role == "user"
    return False


def read(tx: Transaction, branch: str | None) -> list[TurnRow]:
    """All turns, the oldest first; those that were edited as they are now. No branch is no conversation."""
    head = None if branch is None else segments.find_head(tx.db, branch)
    newest_first = list(commits.read_newest(tx.db, tx.codec, references.spans(tx, head), limit=_ALL))
    edits: dict[bytes, str] = {}
    for turn in newest_first:
        if turn.target is not None:
            edits.setdefault(turn.target, turn.text)
    return [
        TurnRow(
            role=_ROLES[turn.role],
            content=edits.get(turn.hash, turn.text),
            timestamp=to_iso(turn.at_ms),
            tokens=turn.tokens,
            metadata=turn.metadata or {},
        )
        for turn in reversed(newest_first)
        if turn.target is None and turn.role in _ROLES
    ]
