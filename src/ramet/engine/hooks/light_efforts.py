"""Light efforts: those that are there only because a session needs one. They end with it, and open again with it."""

from ramet.engine.record import efforts, tasks
from ramet.engine.transaction import Transaction
from ramet.engine.work import endings
from ramet.model.record.effort import Effort, Outcome
from ramet.model.record.project import Project
from ramet.protocol.record.efforts import FinishEffort, StartEffort
from ramet.protocol.record.tasks import UpsertTask
from ramet.store.record import efforts as effort_rows
from ramet.store.record import tasks as task_rows

_ADHOC = "adhoc"
"""The key of an effort's metadata that says so."""
_TASK = ".ramet/adhoc"
_SKILL = "do"
_TITLE = "Sessions that people started themselves"


def is_adhoc(effort: Effort) -> bool:
    """Whether an effort is there only for the session that serves it."""
    return bool((effort.metadata or {}).get(_ADHOC))


def begin(tx: Transaction, project: str) -> Effort:
    """An effort for a session that nobody has given one, in the project at a path."""
    task_id = f"{project.rstrip('/')}/{_TASK}"
    if task_rows.find_facts(tx.db, task_id) is None:
        tasks.upsert(tx, UpsertTask(dir_path=task_id, title=_TITLE))
    return begin_in(tx, task_id)


def begin_finished(tx: Transaction, project: Project, at: str) -> Effort:
    """An effort for a session that was over at an instant in the past, before anybody knew of it."""
    task_id = f"{project.path.rstrip('/')}/{_TASK}"
    if task_rows.find_facts(tx.db, task_id) is None:
        # Not through `tasks`, which looks for the project on the list: this one may be off it.
        task_rows.save(
            tx.db,
            dir_path=task_id,
            project_id=project.id,
            workspace=None,
            title=_TITLE,
            description=None,
            keywords=None,
            now=tx.now,
        )
        tx.record("task.added", project_id=project.id, task_id=task_id)
    metadata = {_ADHOC: True}
    effort = effort_rows.start(tx.db, task_id=task_id, skill=_SKILL, mode=None, metadata=metadata, now=at)
    return effort_rows.finish(tx.db, effort.id, "success", at)


def begin_in(tx: Transaction, task_id: str) -> Effort:
    """The same in a task."""
    return efforts.begin(tx, StartEffort(task_id=task_id, skill=_SKILL, metadata={_ADHOC: True}))


def go_on(tx: Transaction, effort: Effort) -> Effort:
    """What a session goes on with whose effort may be over: a light one is the same again, however often it ended; else
    one begins in the same task.
    """
    if effort.lifecycle != "finished":
        return effort
    if not is_adhoc(effort):
        return begin_in(tx, effort.task_id)
    tx.record("effort.reopened", task_id=effort.task_id, effort_id=effort.id)
    return effort_rows.reopen(tx.db, effort.id)


def close(tx: Transaction, effort_id: int, outcome: Outcome) -> None:
    """A session of an effort is over, and with the last one an effort that was only there for it."""
    effort = effort_rows.must_find(tx.db, effort_id)
    is_last = effort_rows.count_open_sessions(tx.db, effort.id) == 0
    if is_adhoc(effort) and effort.lifecycle != "finished" and is_last:
        endings.finish(tx, FinishEffort(effort_id=effort.id, outcome=outcome))
