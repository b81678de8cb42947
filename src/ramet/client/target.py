"""Which daemon is meant."""

import os
from collections.abc import Mapping
from typing import NamedTuple


class Target(NamedTuple):
    """Which daemon: where it listens, and what it is told when it has to be started."""

    socket: str
    settings: str
    """The settings as JSON."""
    places: str
    """The places as JSON."""
    entrance: "Entrance | None" = None
    """How an agent's commands get in; None where they are the user's own."""

    @property
    def way(self) -> "tuple[str, str | None]":
        """Where to connect, and with which token."""
        return self.entrance or (self.socket, None)

    def instructions(self, order: str = "{}") -> bytes:
        """What the daemon reads from its standard input; `order` is what else a task needs, as JSON."""
        return f'{{"settings": {self.settings}, "places": {self.places}, "order": {order}}}\n'.encode()


class Entrance(NamedTuple):
    """Where an agent's commands connect, and the token that says for whom they speak."""

    socket: str
    token: str


def find_entrance(environ: Mapping[str, str], socket: str, agents_socket: str) -> Entrance | None:
    """The entrance of the agent that runs this; None where none does, or where another daemon is meant than its own.

    In a sandbox the configuration may be out of sight, and with it the name of the database; the agents' socket is the
    only one there.
    """
    given, token = environ.get("RAMET_SOCKET"), environ.get("RAMET_TOKEN")
    if not given or not token:
        return None
    is_alone = given.startswith(os.path.dirname(socket) + "/") and not os.path.exists(socket)  # noqa: PTH110, PTH120
    return Entrance(given, token) if given in (agents_socket, socket) or is_alone else None
