"""`command`: any program that reads a prompt and prints an answer.

With `output: jsonl` its lines may be stream events (`ramet.model.work.stream`) as JSON, and so tell of tools, usage and
limits; a line that is none is plain text. Its exit status has the last word: 0 is success, 75 (EX_TEMPFAIL) asks for
another attempt, any other is for good.
"""

import os
from collections import deque

import msgspec
from msgspec.structs import replace

from ramet.config.settings import ProfileSettings
from ramet.model.work.driver import Abilities
from ramet.model.work.stream import (
    End,
    Started,
    StreamEvent,
    Text,
)
from ramet.protocol.keeping import Launch
from ramet.vendors.contract import json_lines
from ramet.vendors.contract.driver_protocol import ProcessExit, Reader, Start
from ramet.vendors.contract.failures import describe, fail
from ramet.vendors.contract.launches import launch

_LONGEST_ANSWER = 1024 * 1024


class PrintedReader:
    """Reads a program that only prints: all that it prints is its answer."""

    def __init__(self) -> None:
        self._printed: deque[str] = deque()
        self._length = 0

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

    def conclude(self, process: ProcessExit) -> End:
        """Success or failure by the exit status."""
        answer = "".join(self._printed).strip() or None
        if process.status == 0:
            return End(outcome="success", answer=answer)
        if process.signal is not None:
            return fail("unknown", describe(process), answer)
        return fail("transient" if process.status == os.EX_TEMPFAIL else "permanent", describe(process), answer)


class EventReader(PrintedReader):
    """Reads a program that prints stream events."""

    def __init__(self) -> None:
        super().__init__()
        self._end: End | None = None

    def read(self, line: str) -> list[StreamEvent]:
        """The event on a line. When and how the process began and ended is not for the program to say."""
        event = _decode(line)
        match event:
            case None:
                return super().read(line)
            case Started():
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


class Command:
    """Any program."""

    name = "command"
    programs = ()
    bundled = None
    tells_version = False
    abilities = Abilities(usage=True, limits=True)
    names_sessions = False
    fix = "say which program in drivers.profiles, e.g. drivers.profiles.command.program: [my-agent]"

    def launch(self, start: Start) -> Launch:
        """The program of the profile, with the prompt on its standard input."""
        return launch(start, start.profile.arguments, start.prompt)

    def reader(self, profile: ProfileSettings) -> Reader:
        """A reader of text, or of events."""
        return EventReader() if profile.output == "jsonl" else PrintedReader()


DRIVER = Command()
