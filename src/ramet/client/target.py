"""Which daemon is meant."""

from collections.abc import Mapping
from typing import NamedTuple


class Target(NamedTuple):
    """Which daemon: where it listens, and what it is told when it has to be started."""

    socket: str
    settings: str
    """The settings as JSON."""
    places: str
    """The places as JSON."""
    token: str | None = None
    """What an agent's commands say for whom they speak; None where they are the user's own."""

    def instructions(self) -> bytes:
        """What the daemon reads from its standard input."""
        return f'{{"settings": {self.settings}, "places": {self.places}}}\n'.encode()


def find_token(environ: Mapping[str, str], socket: str) -> str | None:
    """The token of the agent that runs this; None where none does, or where another daemon is meant than its own."""
    return environ.get("RAMET_TOKEN") if environ.get("RAMET_SOCKET") == socket else None
