"""The queue as a plain program would have it: dictionaries, and the rules in a few lines each."""

from dataclasses import dataclass, field
from datetime import datetime

RETRIES, HOST_RETRIES = 1, 1


@dataclass
class PlainEffort:
    id: int
    skill: str
    priority: int
    needs: list[int]
    retry_of: int | None = None
    lifecycle: str = "queued"
    outcome: str | None = None
    owner: str | None = None
    generation: int = 0
    is_expired: bool = False
    attempts: int = 0
    agent_failures: int = 0
    host_failures: int = 0
    not_before: datetime | None = None


@dataclass
class PlainQueue:
    """All efforts by id."""

    efforts: dict[int, PlainEffort] = field(default_factory=dict)

    def blocker(self, effort: PlainEffort) -> tuple[int, str] | None:
        """The first that an effort waits for, and what that one is doing."""
        for needs_id in sorted(effort.needs):
            needed = self.efforts[needs_id]
            if needed.outcome != "success":
                return needs_id, needed.outcome or needed.lifecycle
        return None

    def is_ready(self, effort: PlainEffort, now: datetime) -> bool:
        waits = effort.not_before is not None and effort.not_before > now
        return effort.lifecycle == "queued" and not waits and self.blocker(effort) is None

    def state(self, effort: PlainEffort, now: datetime) -> str:
        """What an effort is doing. Nobody awaits, stops by asking, or runs an effort by hand here."""
        if effort.lifecycle == "finished":
            return {"success": "succeeded", "no_change": "unchanged"}.get(effort.outcome or "", "failed")
        if effort.lifecycle == "active":
            return "expired" if effort.is_expired else "running"
        if self.is_ready(effort, now):
            return "ready"
        return "parked" if self.blocker(effort) is None else "blocked"

    def next(self, now: datetime, skills: list[str] | None) -> PlainEffort | None:
        ready = [
            effort
            for effort in self.efforts.values()
            if self.is_ready(effort, now) and (skills is None or effort.skill in skills)
        ]
        return min(ready, key=lambda effort: (-effort.priority, effort.id), default=None)

    def sweep(self) -> None:
        """Let go of what vanished workers held."""
        for effort in self.efforts.values():
            if effort.is_expired:
                self.settle(effort, "error", "infrastructure")
                effort.not_before = None

    def claim(self, effort: PlainEffort, worker: str) -> None:
        effort.lifecycle, effort.owner, effort.not_before = "active", worker, None
        effort.generation += 1
        effort.attempts += 1

    def settle(self, effort: PlainEffort, outcome: str, failure: str | None) -> bool:
        """Finish an effort, or queue its next attempt; whether it is queued."""
        effort.owner, effort.is_expired = None, False
        again = False
        if outcome == "error" and failure in ("transient", "unknown"):
            effort.agent_failures += 1
            again = effort.agent_failures <= RETRIES
        elif outcome == "error" and failure == "infrastructure":
            effort.host_failures += 1
            again = effort.host_failures <= HOST_RETRIES
        elif outcome == "error" and failure == "limit":
            again = True
        effort.lifecycle, effort.outcome = ("queued", None) if again else ("finished", outcome)
        effort.not_before = None
        return again

    def finish(self, effort: PlainEffort, outcome: str) -> None:
        effort.lifecycle, effort.outcome, effort.owner = "finished", outcome, None
        effort.not_before, effort.is_expired = None, False

    def repoint(self, old: int, new: int) -> None:
        for effort in self.efforts.values():
            if effort.lifecycle == "queued":
                effort.needs = [new if each == old else each for each in effort.needs]
