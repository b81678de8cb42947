"""Scopes: what an agent can reach with its token. The user can reach everything.

Three rings lie around an agent's session. Its *own*: the session and those below it, which it may read and change. Its
*chain*: the efforts of its run and those that its effort is based on, which it may read. Its *project*, which it may
only search. Each operation declares its ring (`Operation.ring`), and what lies outside is refused where rows are looked
up (`lookup`, `history.references`), so that no operation can forget to ask.
"""

from collections.abc import Callable
from typing import TypeVar

from ramet.engine.transaction import Transaction
from ramet.errors import Forbidden
from ramet.model.history.branch import Point, branch_session
from ramet.model.record.effort import Effort
from ramet.model.record.session import Session
from ramet.protocol.operations import Operation
from ramet.store.history import segments
from ramet.store.record import efforts, sessions
from ramet.store.spawn import children, rings

T = TypeVar("T")


def admit(tx: Transaction, operation: Operation) -> None:
    """Refuse an operation that agents do not have, and every one if the session of the token has ended."""
    if tx.asker is None:
        return
    if operation.ring == "user":
        raise Forbidden(f"{operation.name} is not available to agents", field="method", value=operation.name)
    session = sessions.find(tx.db, tx.asker)
    if session is None or session.ended_at is not None:
        raise Forbidden(f"session {tx.asker} has ended: its token is no longer valid", field="token")


def require_session(tx: Transaction, session: Session, field: str = "session_id") -> None:
    """Refuse a session outside the ring. Another attempt at the asker's own effort is its own as well."""
    if not has_session(tx, session):
        raise _refusal(tx, f"session {session.id}", field, session.id)


def require_effort(tx: Transaction, effort: Effort, field: str = "effort_id") -> None:
    """Refuse an effort outside the ring."""
    if not has_effort(tx, effort.id):
        raise _refusal(tx, f"effort {effort.id}", field, effort.id)


def require_own_effort(tx: Transaction, effort: Effort, field: str = "effort_id") -> None:
    """Refuse every effort but the asker's own, even one below it: an agent speaks of its own work alone."""
    if tx.asker is not None and effort.id != _own_effort(tx, tx.asker):
        raise _refusal(tx, f"effort {effort.id}", field, effort.id)


def require_project(tx: Transaction, project_id: int, field: str = "project_id") -> None:
    """Refuse a project that is not the asker's."""
    if tx.asker is not None and efforts.project_of(tx.db, _own_effort(tx, tx.asker)) != project_id:
        raise _refusal(tx, f"project {project_id}", field, project_id)


def own_project(tx: Transaction) -> int | None:
    """The project of the agent that asks, outside of which it can search nothing; None for the user."""
    return None if tx.asker is None else efforts.project_of(tx.db, _own_effort(tx, tx.asker))


def require_run(tx: Transaction, run_id: int) -> None:
    """Refuse a run that is not the asker's."""
    if tx.asker is not None and efforts.must_find(tx.db, _own_effort(tx, tx.asker)).line.run_id != run_id:
        raise _refusal(tx, f"run {run_id}", "run_id", run_id)


def require_branch(tx: Transaction, branch: str, field: str) -> None:
    """Refuse a branch outside the ring."""
    if not has_branch(tx, branch):
        raise _refusal(tx, f"branch {branch!r}", field, branch)


def require_commit(tx: Transaction, point: Point, field: str, named: str) -> None:
    """Refuse a commit that no branch of a session in the ring leads to."""
    if tx.asker is None:
        return
    for effort_id in sorted(_efforts(tx, tx.asker), reverse=True):
        for branch in rings.list_branches(tx.db, effort_id):
            if _leads_to(tx, branch, point):
                return
    raise _refusal(tx, f"commit {named}", field, named)


def has_session(tx: Transaction, session: Session) -> bool:
    """Whether a session is in the ring."""
    if tx.asker is None or session.id == tx.asker or children.is_within(tx.db, session.id, tx.asker):
        return True
    return tx.ring != "own" and session.effort_id in _efforts(tx, tx.asker)


def has_branch(tx: Transaction, branch: str) -> bool:
    """Whether a branch is that of a session in the ring."""
    if tx.asker is None:
        return True
    session_id = branch_session(branch)
    session = None if session_id is None else sessions.find(tx.db, session_id)
    return session is not None and has_session(tx, session)


def has_effort(tx: Transaction, effort_id: int) -> bool:
    """Whether an effort is in the ring."""
    return tx.asker is None or effort_id == _own_effort(tx, tx.asker) or effort_id in _efforts(tx, tx.asker)


def only_reachable(tx: Transaction, rows: list[T], effort_of: Callable[[T], int | None]) -> list[T]:
    """The rows about efforts in the ring."""
    if tx.asker is None:
        return rows
    reachable = _efforts(tx, tx.asker)
    return [row for row in rows if effort_of(row) in reachable]


def _leads_to(tx: Transaction, branch: str, point: Point) -> bool:
    head = segments.find_head(tx.db, branch)
    if head is None or head.segment_id is None:
        return False
    spans = segments.find_spans(tx.db, head.segment_id, head.seq)
    return any(span.segment_id == point.segment_id and span.first <= point.seq <= span.last for span in spans)


def _own_effort(tx: Transaction, asker: int) -> int:
    session = sessions.find(tx.db, asker)
    assert session is not None  # noqa: S101 - it was admitted
    return session.effort_id


def _efforts(tx: Transaction, asker: int) -> set[int]:
    """The efforts in the ring. Those below are read each time: an operation may have just added one."""
    effort_id = _own_effort(tx, asker)
    found = rings.list_own(tx.db, effort_id)
    if tx.ring == "own":
        return found
    if tx.chain is None:
        tx.chain = rings.list_chain(tx.db, effort_id, efforts.project_of(tx.db, effort_id))
    return found | tx.chain


def _refusal(tx: Transaction, what: str, field: str, value: object) -> Forbidden:
    return Forbidden(f"session {tx.asker} cannot access {what}", field=field, value=value)
