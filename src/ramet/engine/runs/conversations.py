"""The conversation of a run: a branch of the history, which grows by a turn when a line begins and when it ends.

Each turn is written in the transaction of what it tells about, so that the conversation is whole whatever happens. The
conversation is read as the compile of the branch, so every rewrite has the effect that it has in `history.compile`.
"""

from ramet.engine.context_cache import KeptWindow
from ramet.engine.history import commits as histories
from ramet.engine.history import compiler, references
from ramet.engine.history.commits import Kind
from ramet.engine.transaction import Transaction
from ramet.errors import BranchInUse, InvalidParams
from ramet.model.history.branch import Point
from ramet.model.history.provider_messages import as_text
from ramet.model.instant import to_datetime, to_iso
from ramet.model.record.effort import NOT_FAILURES, Effort
from ramet.model.runs.conversation import check_role, tell_failure
from ramet.model.runs.run import Run
from ramet.model.runs.window import EFFORT, Window, is_rewrite
from ramet.protocol.runs.runs import TurnRole, TurnRow
from ramet.store.history import branches, commits, segments
from ramet.store.runs import runs

_LINE = "line"
_LOOK_BACK = 20
"""Among so many of the newest turns is a line's own, whatever people added by hand behind it."""
_ALL = 2**31 - 1


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


def move(tx: Transaction, run: Run, branch: str) -> None:
    """Continue the conversation on another branch. The one that it leaves stays as it is."""
    if run.branch is None:
        raise InvalidParams(
            f"run {run.id} has no saved conversation to continue on a branch",
            field="branch",
            value=branch,
            fix=f"resume it without a branch: `ramet run --resume r{run.id}`",
        )
    references.head(tx, branch)
    session, other = branches.find_session(tx.db, branch), runs.find_by_branch(tx.db, branch)
    if session is not None or other is not None:
        writer = f"session {session}" if other is None else f"run {other}"
        raise BranchInUse(
            f"{writer} writes to branch {branch!r}",
            field="branch",
            value=branch,
            fix=f"fork it: `ramet history branch create NAME --from {branch}`, and resume on NAME",
        )
    runs.set_branch(tx.db, run.id, branch)


def ask(tx: Transaction, run: Run, effort: Effort) -> None:
    """The user's turn: the line's own text. An attempt that is made again does not repeat it."""
    if run.branch is not None and not _is_asked(tx, run.branch, effort):
        add(tx, run, "user", effort.prompt or "", effort)


def answer(tx: Transaction, run: Run, effort: Effort) -> None:
    """What came of a line: what was said, or that it failed. Of one that never began there is nothing to tell."""
    if run.branch is None or not effort.retry.attempts:
        return
    if effort.outcome in NOT_FAILURES and not effort.output_content:
        return
    ask(tx, run, effort)
    if effort.outcome in NOT_FAILURES:
        add(tx, run, "assistant", effort.output_content or "", effort)
    else:
        add(tx, run, "system", tell_failure(effort.reason or effort.outcome), effort)


def add(
    tx: Transaction, run: Run, role: TurnRole, content: str, effort: Effort | None, line: str | None = None
) -> None:
    """One more turn."""
    about = {_LINE: line} if line else {_LINE: effort.line.key, EFFORT: effort.id} if effort else None
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
        if EFFORT in about:
            return about[EFFORT] == effort.id and turn.role == "user"
    return False


def read(tx: Transaction, point: Point | None) -> list[TurnRow]:
    """All turns as the branch compiles them up to a commit. No commit is no conversation."""
    pieces = compiler.compile_context(tx, point).context.visible()
    spans = references.spans(tx, point)
    stored = {commit.id: commit for commit in commits.read_newest(tx.db, tx.codec, spans, limit=_ALL)}
    rows = []
    for piece in pieces:
        commit, (role, text) = stored[piece.commit_id], as_text(piece)
        rows.append(
            TurnRow(
                role=check_role(role),
                content=text,
                timestamp=to_iso(commit.at_ms),
                tokens=piece.tokens,
                metadata=commit.metadata or {},
            )
        )
    return rows


def find_head(tx: Transaction, branch: str | None) -> Point | None:
    """The newest turn of a conversation."""
    return references.point_of(None if branch is None else segments.find_head(tx.db, branch))


def read_window(tx: Transaction, branch: str, effort_id: int, max_tokens: int) -> Window:
    """What the agent of a line is told of the conversation. It costs the turns since the last line's, unless the branch
    was rewritten since.
    """
    point = references.point_of(segments.find_head(tx.db, branch))
    if point is None:
        return Window(max_tokens)
    revision, hints = commits.find_revision(tx.db), commits.type_hints(tx.db)
    spans = references.spans(tx, point)
    beginnings = tx.contexts.windows.list_beginnings(spans, max_tokens, revision, hints)
    # The effort's own question is left out, so a window that has it is no beginning of this one.
    base = next((kept for kept in beginnings if effort_id not in kept.window.questions), None)
    window, after = (base.window, base.point.seq) if base else (Window(max_tokens), 0)
    texts = commits.read_texts(tx.db, tx.codec, spans, after=after)
    if base is not None and any(map(is_rewrite, texts)):
        window, texts = Window(max_tokens), commits.read_texts(tx.db, tx.codec, spans)
    if texts:
        window = window.extended(texts, hints, to_datetime(tx.now_ms), effort_id)
    if effort_id not in window.questions:
        tx.contexts.windows.keep(KeptWindow(point, revision, hints, window))
    return window
