"""The rules of the queue: who may take an effort, which failed attempts are made again, and when.

Whatever is random elsewhere follows here from the effort and its attempt, so that the same history gives the same
times.
"""

import hashlib
from collections.abc import Collection
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from ramet.model.notice import NoticeKind
from ramet.model.record.effort import (
    NOT_FAILURES,
    Effort,
    Failure,
    Outcome,
    StopRequest,
)

_PASSING: frozenset[Failure] = frozenset({"transient", "unknown"})
"""Failures that may not come again. One of an unknown kind is given the benefit of the doubt."""


_LONGEST_LIMIT_SECONDS = 3600
"""The longest pause after a usage limit whose end is not known."""


class RetryPolicy(Struct, frozen=True, kw_only=True):
    """How often an attempt is made again, and after what pause."""

    retries: int
    host_retries: int
    backoff_seconds: int
    backoff_max_seconds: int
    limit_seconds: int
    """The first pause after a usage limit whose end is not known."""


class Tried(Struct, frozen=True, kw_only=True):
    """What an effort has been through."""

    id: int
    attempts: int
    agent_failures: int
    host_failures: int


class Decision(Struct, frozen=True, kw_only=True):
    """What follows from an attempt's outcome."""

    requeue: bool
    uses_attempt: bool = True
    pause_ms: int | None = None
    """How long the next attempt waits; None where it need not."""
    agent_failures: int
    host_failures: int
    notice: NoticeKind | None = None
    """What a person has to be told."""


def decide_not_started(effort: Tried, host_failures_in_row: int, policy: RetryPolicy) -> Decision:
    """What follows where a host failed before an agent started: another attempt, as if this one had not been made."""
    return Decision(
        requeue=True,
        uses_attempt=False,
        pause_ms=backoff_ms(effort.id, effort.attempts, host_failures_in_row, policy),
        agent_failures=effort.agent_failures,
        host_failures=effort.host_failures,
    )


def decide(
    effort: Tried, outcome: Outcome, failure: Failure | None, policy: RetryPolicy, *, stop: StopRequest | None = None
) -> Decision:
    """Whether another attempt is made. What somebody ended is tried again only where they wanted that."""
    agent_failures = effort.agent_failures + (outcome == "error" and failure in _PASSING)
    host_failures = effort.host_failures + (outcome == "error" and failure == "infrastructure")
    finished = Decision(requeue=False, agent_failures=agent_failures, host_failures=host_failures)
    if stop is not None:
        return replace(finished, requeue=stop.requeues and outcome not in NOT_FAILURES)
    if outcome == "error" and _is_retried(failure, agent_failures, host_failures, policy):
        pause_ms = _pause_ms(effort, failure, host_failures if failure == "infrastructure" else agent_failures, policy)
        return replace(finished, requeue=True, pause_ms=pause_ms, notice="limit" if failure == "limit" else None)
    return replace(finished, notice=_notice(outcome, failure))


def _is_retried(failure: Failure | None, agent_failures: int, host_failures: int, policy: RetryPolicy) -> bool:
    match failure:
        case "transient" | "unknown":
            return agent_failures <= policy.retries
        case "infrastructure":
            return host_failures <= policy.host_retries
        case "limit":
            return True
        case "permanent" | "timeout" | None:
            return False


def _notice(outcome: Outcome, failure: Failure | None) -> NoticeKind | None:
    match outcome:
        case "timeout":
            return "timeout"
        case "stuck":
            return "stuck"
        case "error":
            return None if failure is None else "gave_up"
        case _:
            return None


def _pause_ms(effort: Tried, failure: Failure | None, failures: int, policy: RetryPolicy) -> int:
    """A limit lasts for hours, so it has pauses of its own."""
    if failure != "limit":
        return backoff_ms(effort.id, effort.attempts, failures, policy)
    first = policy.limit_seconds
    longer = replace(policy, backoff_seconds=first, backoff_max_seconds=max(first, _LONGEST_LIMIT_SECONDS))
    return backoff_ms(effort.id, effort.attempts, effort.attempts, longer)


def backoff_ms(effort_id: int, attempt: int, failures: int, policy: RetryPolicy) -> int:
    """The pause before the next attempt: it doubles with each failure up to a bound, and is shortened by up to a half,
    so that efforts that failed together do not come back together.
    """
    whole = min(policy.backoff_seconds * 2 ** min(max(failures - 1, 0), 32), policy.backoff_max_seconds)
    digest = hashlib.sha256(f"{effort_id}/{attempt}".encode()).digest()
    share = int.from_bytes(digest[:4], "big") / 2**32
    return int(whole * 1000 * (1 - share / 2))


class Scope(Struct, frozen=True, kw_only=True):
    """What a worker may take; None means anything, but for the run: an effort of a run is only for who names it."""

    skills: list[str] | None = None
    drivers: list[str] | None = None
    """An effort that names no driver is for every worker."""
    project_id: int | None = None
    run_id: int | None = None
    host: str | None = None
    """Where the worker is. A project of which nobody has said where it is may be anywhere."""
    held: list[int] | None = None
    """Projects in which nothing starts, because their budgets are used up."""

    def excludes(
        self, effort: Effort, project_id: int, hosts: Collection[str] = ()
    ) -> Literal["run", "skill", "driver", "project", "host"] | None:
        """What about an effort keeps a worker from it; `hosts` are those that have its project."""
        if effort.line.run_id != self.run_id:
            return "run"
        if self.skills is not None and effort.skill not in self.skills:
            return "skill"
        if self.drivers is not None and effort.driver is not None and effort.driver not in self.drivers:
            return "driver"
        if self.project_id is not None and project_id != self.project_id:
            return "project"
        if self.held is not None and project_id in self.held:
            return "project"
        return "host" if self.host is not None and hosts and self.host not in hosts else None
