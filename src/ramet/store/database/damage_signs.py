"""Signs of damage: the first error of a database that says that its file or its tables are damaged.

Every connection of a store has the store's signs. So whatever reads or writes, the first sign is seen in one place,
also if whoever asked handles the error itself.
"""

from collections.abc import Callable

from ramet.errors import DatabaseDamaged


class DamageSigns:
    """What was seen first, and who is told of it. Any thread may note a sign."""

    def __init__(self) -> None:
        self.first: DatabaseDamaged | None = None
        self.tell: Callable[[DatabaseDamaged], None] = lambda _: None

    def note(self, error: DatabaseDamaged) -> None:
        """Remember the first sign and tell of it. Later ones say nothing new."""
        if self.first is None:
            self.first = error
            self.tell(error)
