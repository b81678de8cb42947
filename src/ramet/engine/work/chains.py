"""Chains: what an effort is based on, and what its task has produced beside."""

from ramet.engine import scopes
from ramet.engine.answers import answers
from ramet.engine.record import lookup, projects, skills
from ramet.engine.transaction import Transaction
from ramet.model.record.effort import Effort
from ramet.model.row_parts import flatten
from ramet.protocol.record.efforts import EffortRow
from ramet.protocol.work.attempts import Chain, WorkChain
from ramet.store.record import efforts
from ramet.store.runs import runs
from ramet.store.work import queue


@answers(WorkChain)
def show(tx: Transaction, request: WorkChain) -> Chain:
    """An effort, then what it is based on, the nearest first; and the other reports of its task."""
    effort = lookup.effort(tx, request.effort_id)
    links, missing = _walk(tx, effort)
    known = {link.id for link in links}
    reported = [] if _is_of_task_file(tx, effort) else queue.list_reported(tx.db, effort.task_id, tx.limits.page_max)
    reachable = scopes.only_reachable(tx, reported, lambda other: other.id)
    project_id = efforts.project_of(tx.db, effort.id)
    skill = skills.find(tx, project_id, effort.skill)
    return Chain(
        project_path=projects.path_on(tx, project_id, request.host),
        efforts=[_row(link) for link in links],
        missing=missing,
        earlier=[_row(other) for other in reachable if other.id not in known],
        skill=skill,
        skill_text=skills.find_text(tx, skill),
    )


def _is_of_task_file(tx: Transaction, effort: Effort) -> bool:
    """Whether an effort is a line of a task file. Its prompt has what other lines left, and no reports of its task."""
    run = None if effort.line.run_id is None else runs.find(tx.db, effort.line.run_id, tx.now)
    return run is not None and run.mode != "chain"


def _row(effort: Effort) -> EffortRow:
    return EffortRow(**flatten(effort))


def _walk(tx: Transaction, effort: Effort) -> tuple[list[Effort], list[int]]:
    """The links of a chain, each once, however it is knotted; and the id at which it breaks off."""
    links, seen = [effort], {effort.id}
    parent_id = effort.based_on
    while parent_id is not None and parent_id not in seen:
        seen.add(parent_id)
        parent = efforts.find(tx.db, parent_id)
        if parent is None or not scopes.has_effort(tx, parent.id):
            return links, [parent_id]
        link = _best(tx, parent)
        seen.add(link.id)
        links.append(link)
        parent_id = link.based_on
    return links, []


def _best(tx: Transaction, effort: Effort) -> Effort:
    """The effort itself, or where it did not succeed, its newest copy that did."""
    if effort.outcome in (None, "success"):
        return effort
    return queue.find_successful_retry(tx.db, effort.id) or effort
