"""Which lines of a run are queued again when it is resumed.

Always the lines that a limit of the run kept from starting: they did not fail. Also the lines that were skipped because
a line that they need did not succeed, together with that line: without it they could not start. The other failed lines
only on request, and never a line that a person dropped.
"""

from collections.abc import Mapping

from ramet.engine.transaction import Transaction
from ramet.store.runs import runs
from ramet.store.runs.runs import EndedLine

_BOUNDS = ("budget", "timeout")


def find(tx: Transaction, run_id: int, *, retry_failed: bool) -> list[int]:
    """The lines to queue again, in the order of the run."""
    ended = {line.id: line for line in runs.list_unsuccessful(tx.db, run_id)}
    unmet = runs.list_unmet(tx.db, run_id)
    chosen = {line.id for line in ended.values() if _is_bounded(line) or (retry_failed and _has_failed(line))}
    for line in ended.values():
        if _is_skipped(line):
            chosen |= _with_needed(line.id, ended, unmet)
    return [effort_id for effort_id in ended if effort_id in chosen]


def _with_needed(effort_id: int, ended: Mapping[int, EndedLine], unmet: Mapping[int, list[int]]) -> set[int]:
    """A line and all that it needs and that did not succeed; nothing if a person dropped one of those."""
    found, waiting = {effort_id}, [effort_id]
    while waiting:
        for needed in unmet.get(waiting.pop(), ()):
            if needed not in ended or _is_dropped_by_person(ended[needed]):
                return set()
            if needed not in found:
                found.add(needed)
                waiting.append(needed)
    return found


def _is_bounded(line: EndedLine) -> bool:
    return line.outcome in _BOUNDS and line.failure is None


def _has_failed(line: EndedLine) -> bool:
    return line.outcome not in ("no_change", "dropped")


def _is_skipped(line: EndedLine) -> bool:
    return line.outcome == "dropped" and line.reason is not None


def _is_dropped_by_person(line: EndedLine) -> bool:
    return line.outcome == "dropped" and line.reason is None
