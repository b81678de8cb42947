"""Replace a daemon of an older build, which an upgrade leaves running.

A client that may start a daemon may also replace one. It replaces only a daemon that is older than itself; the order of
builds is strict (`ramet.build`), so two installations that share a home never replace each other's daemons in turn: the
newer one's daemon stays, and serves both. The agents of the old daemon keep running, and the new one adopts them.
"""

from collections.abc import Callable

from ramet.build import Build, compare, own_build
from ramet.client.connection import Connection
from ramet.client.stop import stop_over
from ramet.errors import DaemonError, DaemonNewer, DaemonOlder, DaemonStopping, DaemonUnreachable, Forbidden

_TRIES = 2
"""A client of the older build may start its daemon once while none is running; if it does so again, it has to be found
by a person.
"""


def replace_older(connection: Connection, connect: Callable[[], Connection], timeout_seconds: float) -> Connection:
    """A connection to a daemon that is not older than we are; `connect` starts it."""
    former = connection.build
    for _ in range(_TRIES):
        if compare(connection.build, own_build()) != "older":
            return connection
        # Over this connection: at the same path, a daemon that another client has started meanwhile may answer by now.
        with connection:
            _stop(connection, timeout_seconds)
        connection = connect()
    if compare(connection.build, own_build()) != "older":
        return connection
    connection.close()
    raise DaemonOlder(
        f"the daemon ({former}) was stopped because it is older than this ramet ({own_build()}), but another older one "
        f"({connection.build}) was started",
        fix="look for a program that starts it, such as a `ramet` in another environment, and upgrade that",
    )


def _stop(connection: Connection, timeout_seconds: float) -> None:
    build = connection.build
    try:
        stop_over(connection, timeout_seconds, is_replaced=bool(build.revision))
    except (DaemonStopping, DaemonUnreachable):
        return  # another client was faster
    except (DaemonError, Forbidden) as error:
        difference = explain(build)
        raise DaemonOlder(f"{difference.message}, and could not be replaced: {error.message}", fix=error.fix) from error


def explain(theirs: Build) -> DaemonError:
    """How the daemon's build differs from ours, and what to do about it."""
    ours = own_build()
    match compare(theirs, ours):
        case "newer":
            return DaemonNewer(f"this ramet ({ours}) is older than the daemon ({theirs})")
        case "older":
            return DaemonOlder(f"the daemon ({theirs}) is older than this ramet ({ours})")
        case _:
            return DaemonOlder(f"the daemon ({theirs}) is another build than this ramet ({ours})")
