"""The stream of a program that only prints: its text is the answer, and its exit status says how it went."""

import os
from collections import deque

from ramet.model.work.stream import End, Remark, StreamEvent, Text
from ramet.vendors.contract.driver_protocol import ProcessExit
from ramet.vendors.contract.failures import describe, fail

_LONGEST_ANSWER = 1024 * 1024


class PrintedReader:
    """Reads a program that only prints: all that it prints is its answer."""

    def __init__(self) -> None:
        self._printed: deque[str] = deque()
        self._length = 0

    @property
    def is_turn_over(self) -> bool:
        """It may print more as long as it runs."""
        return False

    def read(self, line: str) -> list[StreamEvent]:
        """A line of the answer."""
        text = line.rstrip("\r\n") + "\n"
        self._keep(text)
        return [Text(text=text, is_partial=True)]

    def _keep(self, text: str) -> None:
        """Remember it for the answer, of which the end counts: a program that prints without end has none in whole."""
        self._printed.append(text)
        self._length += len(text)
        while self._length > _LONGEST_ANSWER and len(self._printed) > 1:
            self._length -= len(self._printed.popleft())

    def read_error(self, line: str) -> list[StreamEvent]:
        """What it complains about."""
        return [Remark(text=line)]

    def conclude(self, process: ProcessExit) -> End:
        """Success or failure by the exit status."""
        answer = "".join(self._printed).strip() or None
        if process.status == 0:
            return End(outcome="success", answer=answer)
        if process.signal is not None:
            return fail("unknown", describe(process), answer)
        return fail("transient" if process.status == os.EX_TEMPFAIL else "permanent", describe(process), answer)
