"""The object that `ramet.open` and `ramet.connect` give: the operations as methods, and an end."""

from types import TracebackType
from typing import Self

from ramet.library.operations import Operations


class Ramet(Operations):
    """Every operation as a typed method: `r.db.effort.start(task_id, skill)` is `db.effort.start`.

    Use it as a context manager, or call `close`. One object may be shared by threads.
    """

    def close(self) -> None:
        """Let go: in process the database is closed and unlocked, else the connection ends. Twice does nothing."""
        self._transport.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
