"""`command`: starts any program that reads a prompt and prints an answer, or events (`stream`)."""

from collections.abc import Mapping

from ramet.config.settings import ProfileSettings
from ramet.model.work.driver import Abilities
from ramet.protocol.work.keepers import Launch
from ramet.vendors.command.stream import EventReader
from ramet.vendors.contract.driver_protocol import NO_VARIABLES, Driver, Reader, Start
from ramet.vendors.contract.launches import launch
from ramet.vendors.contract.printed_text import PrintedReader


class Command(Driver):
    """Any program."""

    name = "command"
    programs = ()
    bundled = None
    tells_version = False
    abilities = Abilities(usage=True, cost=True, limits=True)
    names_sessions = False
    fix = "name your program in drivers.profiles, such as drivers.profiles.command.program: [my-agent]"

    def launch(self, start: Start) -> Launch:
        """The program of the profile, with the prompt on its standard input."""
        return launch(start, start.profile.arguments, start.prompt)

    def reader(
        self,
        profile: ProfileSettings,
        environment: Mapping[str, str] = NO_VARIABLES,  # noqa: ARG002 - it has no files of its own
    ) -> Reader:
        """A reader of text, or of events."""
        return EventReader() if profile.output == "jsonl" else PrintedReader()


DRIVER = Command()
