"""How long an agent may take, be silent or turn in circles. Every instant here is one of the monotonic clock.

Silence means something only where the driver's program says which tools it uses; and even then not while a tool is at
work, nor while the agent or something that it started computes.
"""

from collections.abc import Callable

from msgspec import Struct

from ramet.model.effort import Failure, Outcome
from ramet.model.stream import StreamEvent, ToolCall, ToolResult
from ramet.protocol.keeping import KeeperSpec

_BUSY_SHARE = 0.01
"""What computes less than this share of the time only waits: runtimes look at their timers while they do nothing."""


class Verdict(Struct, frozen=True):
    """Why an agent is ended."""

    outcome: Outcome
    failure: Failure | None
    reason: str


class Watch:
    """Watches one agent."""

    def __init__(self, spec: KeeperSpec, now: float, cpu_seconds: Callable[[], float], *, is_talkative: bool) -> None:
        """`is_talkative` says whether the agent's silence means something."""
        self._spec = spec
        self._ends_at = now + spec.timeout_seconds if spec.timeout_seconds else float("inf")
        self._cpu_seconds = cpu_seconds
        self._watches_silence = is_talkative and spec.stuck_seconds > 0
        self._look_seconds = min(spec.silent_seconds, spec.stuck_seconds / 2)
        self._heard_at = now
        self._looked: tuple[float, float] | None = None
        """When the silent agent was looked at, and how long it had computed by then."""
        self._tools: dict[str, tuple[str, int]] = {}
        self._last_step: tuple[str, int, int, bool] | None = None
        self._repeats = 0

    @property
    def due_at(self) -> float:
        """When to look at the agent next."""
        if not self._watches_silence or self._tools:
            return self._ends_at
        if self._looked is None:
            return min(self._ends_at, self._heard_at + self._look_seconds)
        return min(self._ends_at, self._looked[0] + self._spec.stuck_seconds - self._look_seconds)

    def hear(self, now: float) -> None:
        """The program has given a sign of life."""
        self._heard_at = now
        self._looked = None

    def note(self, event: StreamEvent) -> Verdict | None:
        """Follow which tools are at work; a verdict where the agent does the same again and again."""
        if isinstance(event, ToolCall):
            self._tools[event.call_id] = (event.name, hash(repr(event.input)))
        elif isinstance(event, ToolResult):
            name, given = self._tools.pop(event.call_id, (event.name or "?", 0))
            return self._count((name, given, hash(event.output), event.is_error))
        return None

    def check(self, now: float) -> Verdict | None:
        """Look at the agent, where it is time to."""
        if now >= self._ends_at:
            reason = f"it took longer than {self._spec.timeout_seconds} seconds"
            return Verdict("timeout", "timeout", reason)
        if now < self.due_at:
            return None
        return self._look(now)

    def _look(self, now: float) -> Verdict | None:
        """The first look only remembers, the next ones compare. Less than before means that somebody has finished."""
        computed, before = self._cpu_seconds(), self._looked
        self._looked = (now, computed)
        if before is None or abs(computed - before[1]) > (now - before[0]) * _BUSY_SHARE:
            return None
        silent = f"it said nothing for {now - self._heard_at:.0f} seconds"
        return Verdict("stuck", "timeout", f"{silent}, used no tool and did not compute")

    def _count(self, step: tuple[str, int, int, bool]) -> Verdict | None:
        self._repeats = self._repeats + 1 if step == self._last_step else 1
        self._last_step = step
        if not 0 < self._spec.repeat_limit <= self._repeats:
            return None
        reason = f"it used {step[0]} {self._repeats} times in a row with the same arguments and the same result"
        return Verdict("stuck", "timeout", reason)
