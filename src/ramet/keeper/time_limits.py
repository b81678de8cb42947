"""How long an agent may take, be silent or repeat itself. Every instant here is one of the monotonic clock.

Silence means something only if the driver's program reports its tools; and even then not while a tool is running, nor
while the agent or a process that it started uses the processor.
"""

from collections.abc import Callable

from msgspec import Struct

from ramet.model.record.effort import Failure, Outcome
from ramet.model.work.stream import (
    StreamEvent,
    Stuck,
    StuckReason,
    Text,
    ToolCall,
    ToolResult,
)
from ramet.protocol.work.keepers import KeeperSpec

_BUSY_SHARE = 0.01
"""A process that uses less than this share of the time only waits: idle runtimes check their timers."""
_NOTED_REPEATS = 3
"""How often the same step in a row is reported; `repeat_limit` is when the agent is stopped for it."""
_MOST_OF_THE_TIME = 0.8
_ARGUMENTS = 2000
"""How much of a tool's input is remembered: enough to remove secrets from it and cut it."""


class Verdict(Struct, frozen=True):
    """Why an agent is ended."""

    outcome: Outcome
    failure: Failure | None
    reason: str


class Watch:
    """Watches one agent."""

    def __init__(
        self,
        spec: KeeperSpec,
        now: float,
        cpu_seconds: Callable[[], float],
        tell: Callable[[Stuck], None],
        *,
        is_talkative: bool,
    ) -> None:
        """`is_talkative` says whether the agent's silence means something; `tell` is called when it is stuck."""
        self._spec = spec
        self._tell = tell
        self._is_talkative = is_talkative
        self._ends_at = now + spec.timeout_seconds if spec.timeout_seconds else float("inf")
        self._warns_at = now + spec.timeout_seconds * _MOST_OF_THE_TIME if spec.timeout_seconds else float("inf")
        self._cpu_seconds = cpu_seconds
        self._watches_silence = is_talkative and spec.stuck_seconds > 0
        self._look_seconds = min(spec.silent_seconds, spec.stuck_seconds / 2)
        self._heard_at = now
        self._looked: tuple[float, float] | None = None
        """When the silent agent was checked, and how much processor time it had used by then."""
        self._tools: dict[str, _Call] = {}
        self._last_step: tuple[str, int, int, bool] | None = None
        self._repeats = 0
        self._turns = 0
        self._has_used_tools = False

    @property
    def due_at(self) -> float:
        """When to check the agent next."""
        ends_at = min(self._ends_at, self._warns_at)
        if not self._watches_silence or self._tools:
            return ends_at
        if self._looked is None:
            return min(ends_at, self._heard_at + self._look_seconds)
        return min(ends_at, self._looked[0] + self._spec.stuck_seconds - self._look_seconds)

    def hear(self, now: float) -> None:
        """The program has given a sign of life."""
        self._heard_at = now
        self._looked = None

    def note(self, event: StreamEvent) -> Verdict | None:
        """Follow which tools are running; a verdict if the agent does the same again and again."""
        if isinstance(event, Text):
            self._turns += not event.is_partial
        elif isinstance(event, ToolCall):
            self._turns += 1
            self._tools[event.call_id] = _Call.of(event)
        elif isinstance(event, ToolResult):
            self._has_used_tools = True
            call = self._tools.pop(event.call_id, None) or _Call(event.name or "?")
            return self._count(call, (call.name, call.fingerprint, hash(event.output), event.is_error))
        return None

    def check(self, now: float) -> Verdict | None:
        """Check the agent, if it is time to."""
        if now >= self._ends_at:
            reason = f"it took longer than {self._spec.timeout_seconds} seconds"
            return Verdict("timeout", "timeout", reason)
        if now >= self._warns_at:
            self._warn()
        if now < self.due_at:
            return None
        return self._look(now)

    def _warn(self) -> None:
        """Most of the time is over. Only of some is it known that they have done nothing with it."""
        self._warns_at = float("inf")
        text = f"{_MOST_OF_THE_TIME:.0%} of its {self._spec.timeout_seconds} seconds have passed"
        if self._is_talkative and not self._has_used_tools:
            self._say("no_progress", f"{text}, and it has used no tool")
        else:
            self._say("time", text)

    def _look(self, now: float) -> Verdict | None:
        """The first check only remembers, the next ones compare. Less than before means that a process has ended."""
        computed, before = self._cpu_seconds(), self._looked
        self._looked = (now, computed)
        if before is None or abs(computed - before[1]) > (now - before[0]) * _BUSY_SHARE:
            return None
        text = f"it said nothing for {now - self._heard_at:.0f} seconds, used no tool and used no processor time"
        self._say("silence", text)
        return Verdict("stuck", "timeout", text)

    def _count(self, call: "_Call", step: tuple[str, int, int, bool]) -> Verdict | None:
        self._repeats = self._repeats + 1 if step == self._last_step else 1
        self._last_step = step
        is_over = 0 < self._spec.repeat_limit <= self._repeats
        if not is_over and self._repeats != _NOTED_REPEATS:
            return None
        text = f"it used {call.name} {self._repeats} times in a row with the same arguments and the same result"
        self._say("repetition", text, call)
        return Verdict("stuck", "timeout", text) if is_over else None

    def _say(self, reason: StuckReason, text: str, call: "_Call | None" = None) -> None:
        tool, arguments = (call.name, call.arguments) if call else (None, None)
        self._tell(Stuck(reason=reason, text=text, tool=tool, arguments=arguments, turns=self._turns))


class _Call(Struct, frozen=True):
    """A running tool: its input, as far as it tells two calls apart, and how that starts."""

    name: str
    fingerprint: int = 0
    arguments: str | None = None

    @classmethod
    def of(cls, event: ToolCall) -> "_Call":
        given = repr(event.input)
        return cls(event.name, hash(given), given[:_ARGUMENTS])
