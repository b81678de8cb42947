"""How the server gets an operation done. One implementation per kind of database stands behind this seam:
`writer` (SQLite: one thread, group commit) and `pool` (PostgreSQL: one transaction per operation); before either
stands `model_executor`, which asks a model first if a change needs one.
"""

from collections.abc import Hashable
from typing import Any, Protocol

from ramet.daemon.readers.call import OWN, Asker, Done
from ramet.daemon.stalls import Pauses
from ramet.protocol.operation import Request
from ramet.protocol.operations import Operation

__all__ = ["OWN", "Asker", "Done", "Executor"]


class Executor(Protocol):
    """Runs operations against the database. Every method is called on the event loop's thread."""

    keeps_order: bool
    """Whether changes submitted one after the other take effect in that order without waiting in between."""

    @property
    def transactions(self) -> int:
        """How many transactions have been committed."""

    @property
    def pauses(self) -> Pauses:
        """How long changes had to wait for one another."""

    def submit(self, operation: Operation, request: Request[Any], principal: str, done: Done) -> None:
        """Run a change; `done` is called when it is durable, or with the error. Never raises."""

    def read(self, operation: Operation, request: Request[Any], principal: str, done: Done, asker: Asker = OWN) -> None:
        """Run an operation that only reads. A short one may call `done` before returning."""

    def stop_reads(self, client: Hashable) -> None:
        """Stop the long reads of a client that is gone."""

    def interrupt_reads(self) -> None:
        """Stop the long reads of all clients: the daemon stops."""

    def last_event(self, done: Done) -> None:
        """The id of the newest event that `events.list` shows, or 0: where a subscription from now on begins."""

    def pending(self) -> int:
        """How many submitted requests have not been answered."""

    def close(self) -> None:
        """Finish what is queued, then let go of the database. Blocks; called after the last answer."""
