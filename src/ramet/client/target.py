"""Which daemon is meant."""

from typing import NamedTuple


class Target(NamedTuple):
    """Which daemon: where it listens, and what it is told when it has to be started."""

    socket: str
    settings: str
    """The settings as JSON."""
    places: str
    """The places as JSON."""

    def instructions(self) -> bytes:
        """What the daemon reads from its standard input."""
        return f'{{"settings": {self.settings}, "places": {self.places}}}\n'.encode()
