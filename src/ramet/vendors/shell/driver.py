"""`shell`: the prompt is the command. What the chain puts around it comes on standard input."""

from ramet.config.settings import ProfileSettings
from ramet.model.work.driver import Abilities
from ramet.model.work.stream import End
from ramet.protocol.keeping import Launch
from ramet.vendors.command.driver import PrintedReader
from ramet.vendors.contract.driver_protocol import ProcessExit, Start
from ramet.vendors.contract.failures import describe, fail
from ramet.vendors.contract.launches import launch


class _Reader(PrintedReader):
    def conclude(self, process: ProcessExit) -> End:
        """A command that failed will fail again; so nothing is tried twice."""
        end = super().conclude(process)
        return fail("permanent", describe(process), end.answer) if process.status else end


class Shell:
    """The system's shell."""

    name = "shell"
    programs = ("/bin/sh",)
    bundled = None
    tells_version = False
    abilities = Abilities()
    names_sessions = False
    fix = "every system has /bin/sh"

    def launch(self, start: Start) -> Launch:
        """`sh -c INSTRUCTION`."""
        return launch(start, [*start.profile.arguments, "-c", start.instruction], start.context)

    def reader(self, profile: ProfileSettings) -> _Reader:  # noqa: ARG002 - a shell only prints
        """What it prints is what it says."""
        return _Reader()


DRIVER = Shell()
