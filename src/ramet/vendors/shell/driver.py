"""`shell`: the prompt is the command. The chain's context comes on standard input."""

from collections.abc import Mapping

from ramet.config.settings import ProfileSettings
from ramet.model.work.driver import Abilities
from ramet.protocol.work.keepers import Launch
from ramet.vendors.contract.driver_protocol import NO_VARIABLES, Driver, Start
from ramet.vendors.contract.launches import launch
from ramet.vendors.shell.stream import ShellReader


class Shell(Driver):
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

    def reader(
        self,
        profile: ProfileSettings,  # noqa: ARG002 - it speaks one language
        environment: Mapping[str, str] = NO_VARIABLES,  # noqa: ARG002 - it has no files of its own
    ) -> ShellReader:
        """What it prints is what it says."""
        return ShellReader()


DRIVER = Shell()
