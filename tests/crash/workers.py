"""Workers beside clients that write: start them, and see what they and the clients have done."""

import threading
from contextlib import suppress

from tests.crash.daemons import Daemon, Home, ask
from tests.crash.hands import Crew

from ramet.client.connection import Connection
from ramet.errors import RametError, StoreError


def work(daemon: Daemon, ended: list[object]) -> threading.Thread:
    """Workers that stay, until they fail or are stopped."""

    def run() -> None:
        with daemon.connect() as connection:
            connection.set_timeout(None)
            try:
                ended.append(connection.call("work.run", {"workers": 1})["why"])
            except RametError as error:
                ended.append(error.code)

    thread = threading.Thread(target=run)
    thread.start()
    return thread


def has_logged(home: Home, line: str) -> bool:
    return line in home.places.log_file.read_text()


def have_succeeded(connection: Connection, count: int, skill: str = "%") -> bool:
    """Whether so many efforts of a skill ended well; not as long as the database cannot say so."""
    with suppress(StoreError):
        ended_well = "SELECT count(*) FROM efforts WHERE outcome = 'success' AND skill LIKE ?"
        return bool(ask(connection, ended_well, skill)[0][0] == count)
    return False


def crew_efforts(crew: Crew) -> int:
    """How many efforts were acknowledged, or may have been saved."""
    known = [*(each.sent for hand in crew.hands for each in hand.ledger), *crew.pending()]
    return sum(each.method == "db.effort.start" for each in known)


def count_efforts(connection: Connection) -> int:
    """How many of the crew's efforts there are."""
    return int(ask(connection, "SELECT count(*) FROM efforts WHERE skill = 'implement'")[0][0])
