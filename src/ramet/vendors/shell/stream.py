"""The stream of a shell command: whatever it prints is the answer, and any other exit status than 0 is final."""

from ramet.model.work.stream import End
from ramet.vendors.contract.driver_protocol import ProcessExit
from ramet.vendors.contract.failures import describe, fail
from ramet.vendors.contract.printed_text import PrintedReader


class ShellReader(PrintedReader):
    """Reads one command."""

    def conclude(self, process: ProcessExit) -> End:
        """A command that failed will fail again; so nothing is tried twice."""
        end = super().conclude(process)
        return fail("permanent", describe(process), end.answer) if process.status else end
