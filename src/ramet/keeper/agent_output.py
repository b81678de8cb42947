"""What the agent says: lines that its driver understands, as events in the spool, up to a bound."""

from collections import deque
from collections.abc import Callable

from msgspec.structs import replace

from ramet.keeper.log import Log
from ramet.keeper.spool import Spool
from ramet.keeper.time_limits import Verdict, Watch
from ramet.model.work.stream import (
    End,
    Limit,
    NativeId,
    Prompt,
    Refusal,
    Remark,
    StreamEvent,
    SubAgent,
    Usage,
)
from ramet.vendors.contract.driver_protocol import Looking, ProcessExit, Reader

_ERROR_LINES = 100
_ERROR_LINE_LENGTH = 1000
_LOOK_SECONDS = (0.5, 5.0)
"""How long after a line to look for what the program writes besides."""


class AgentOutput:
    """Reads the output of one agent to its end."""

    def __init__(
        self, reader: Reader, spool: Spool, watch: Watch, log: Log, *, max_bytes: int, is_structured: bool
    ) -> None:
        """`is_structured`: the output says more than what the agent said, so it is read to its end in any case."""
        self._reader = reader
        self._spool = spool
        self._watch = watch
        self._log = log
        self._max_bytes = max_bytes
        self._is_structured = is_structured
        self._heard_bytes = 0
        self._is_full = False
        self._errors: deque[str] = deque(maxlen=_ERROR_LINES)
        self._looks_at: list[float] = []
        self.verdict: Verdict | None = None
        """Set when what the agent does is a reason to end it."""
        self.over_at: float | None = None
        """Since when the agent's turn is over; None while it works, and if the driver cannot tell."""
        self.listener: Callable[[StreamEvent], None] | None = None
        """Called with each event that the agent prints. It must not wait for anything."""

    def hear(self, size: int, lines: list[str], now: float) -> None:
        """Lines of its standard output."""
        self._count(size, now)
        if self._is_full and not self._is_structured:
            return
        for line in lines:
            for event in self._read(line, self._reader.read):
                if self.listener is not None:
                    self.listener(event)
                if not self._is_full or isinstance(event, Usage | NativeId | Limit | Refusal):
                    self._spool.add(event, now)
                # A sub-agent that works is a sign of life, and one that repeats itself is stuck.
                heard = event.said if isinstance(event, SubAgent) else event
                self.verdict = self.verdict or (None if isinstance(heard, Prompt) else self._watch.note(heard))
            if not self._reader.is_turn_over:
                self.over_at = None
            elif self.over_at is None:
                self.over_at = now
        if isinstance(self._reader, Looking) and lines:
            self._looks_at = [now + pause for pause in _LOOK_SECONDS]

    @property
    def due_at(self) -> float:
        """When to look whether the program has written more than it printed."""
        return self._looks_at[0] if self._looks_at else float("inf")

    def look(self, now: float) -> None:
        """Look, if it is time to."""
        if now < self.due_at or not isinstance(self._reader, Looking):
            return
        del self._looks_at[0]
        try:
            events = self._reader.look()
        except Exception as error:  # noqa: BLE001 - nor must what a driver finds elsewhere
            self._log.write(f"the driver could not look: {type(error).__name__}")
            return
        for event in events:
            self._spool.add(event, now)

    def hear_errors(self, size: int, lines: list[str], now: float) -> None:
        """Lines of its standard error."""
        self._count(size, now)
        self._errors.extend(line[:_ERROR_LINE_LENGTH] for line in lines)
        if not self._is_full:
            for line in lines:
                for event in self._read(line, self._reader.read_error):
                    self._spool.add(event, now)

    def conclude(self, status: int | None, *, is_dismissed: bool = False) -> End:
        """What it all came to, as the driver sees it; `status` is as subprocess gives it. A program that was dismissed
        after its turn had nothing more to say, so how it exited says nothing about the turn.
        """
        process = ProcessExit(
            status=None if status is None or status < 0 else status,
            signal=None if status is None or status >= 0 else -status,
            errors="\n".join(self._errors),
        )
        try:
            end = self._reader.conclude(replace(process, status=0, signal=None) if is_dismissed else process)
        except Exception as error:  # noqa: BLE001 - whatever a driver does wrong, its agent gets an outcome
            self._log.write(f"the driver could not finish: {type(error).__name__}")
            reason = f"the driver could not determine the outcome: {type(error).__name__}"
            end = End(outcome="error", failure="infrastructure", reason=reason)
        return replace(end, exit_status=process.status, exit_signal=process.signal, is_cut=self._is_full)

    @property
    def errors(self) -> list[str]:
        """The last lines of its standard error."""
        return list(self._errors)

    def _count(self, size: int, now: float) -> None:
        self._watch.hear(now)
        if self._heard_bytes >= self._max_bytes and not self._is_full:
            self._is_full = True
            text = f"more than {self._max_bytes:,} bytes of output; the rest is not kept (work.output_max_bytes)"
            self._spool.add(Remark(text=text), now)
        self._heard_bytes += size

    def _read(self, line: str, read: Callable[[str], list[StreamEvent]]) -> list[StreamEvent]:
        try:
            return read(line)
        except Exception as error:  # noqa: BLE001 - one line that a driver fails at must not end the agent
            self._log.write(f"the driver could not read a line: {type(error).__name__}")
            return [Remark(text=line)]
