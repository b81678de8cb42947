"""The process that a driver asks for."""

from ramet.protocol.work.keepers import Launch
from ramet.vendors.contract.driver_protocol import Start

VENDOR_MARGIN_SECONDS = 60
"""How much longer than our own tools a program waits for their answers."""


def launch(start: Start, arguments: list[str], stdin: str) -> Launch:
    """The start's program with these arguments."""
    return Launch(
        arguments=[*start.program, *arguments], stdin=stdin, environment=start.environment, directory=start.directory
    )
