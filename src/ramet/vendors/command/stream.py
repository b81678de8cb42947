"""The stream of a program of the user's own, with `output: jsonl`: stream events (`ramet.model.work.stream`) as JSON.

So the program can tell of tools, usage and limits; a line that is no event is plain text. Its exit status has the last
word: 0 is success, 75 (EX_TEMPFAIL) asks for another attempt, any other is final.
"""

import msgspec
from msgspec.structs import replace

from ramet.model.work.stream import End, Refusal, Started, StreamEvent, Text
from ramet.vendors.contract import json_lines
from ramet.vendors.contract.driver_protocol import ProcessExit
from ramet.vendors.contract.printed_text import PrintedReader


class EventReader(PrintedReader):
    """Reads a program that prints stream events."""

    def __init__(self) -> None:
        super().__init__()
        self._end: End | None = None

    @property
    def is_turn_over(self) -> bool:
        """Once the program has said how it ends."""
        return self._end is not None

    def read(self, line: str) -> list[StreamEvent]:
        """The event on a line. When and how the process began and ended is not for the program to say."""
        event = _decode(line)
        match event:
            case None:
                return super().read(line)
            case Started() | Refusal():
                return []
            case End():
                self._end = event
                return []
            case Text(is_partial=True):
                self._keep(event.text)
            case Text():
                self._printed.clear()
                self._length = 0
                self._keep(event.text)
        return [event]

    def conclude(self, process: ProcessExit) -> End:
        """What the program said of its end counts where its exit status agrees that it came to one."""
        end = super().conclude(process)
        if self._end is None:
            return end
        answer = self._end.answer or end.answer
        if process.status == 0 or self._end.outcome != "success":
            return replace(self._end, answer=answer, exit_status=None, exit_signal=None, ended=[])
        return replace(end, answer=answer)


def _decode(line: str) -> StreamEvent | None:
    parsed = json_lines.parse(line)
    try:
        event: StreamEvent | None = msgspec.convert(parsed, StreamEvent) if parsed is not None else None
    except (msgspec.ValidationError, UnicodeError):
        return None
    return event
