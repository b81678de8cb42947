"""Who waits for a read, and how its reply can be given."""

from collections.abc import Callable, Hashable
from typing import Any, NamedTuple

Done = Callable[[Any], None]
"""Called once, on the event loop's thread, with the reply or with a `RametError`. A reply that is encoded already is a
`Raw`; a long one for an asker that takes pieces is a `StreamedReply`.
"""


class Asker(NamedTuple):
    """Who waits for a read."""

    client: Hashable | None = None
    """Whose turn it takes; None for what the daemon needs itself, which hooks may wait for."""
    takes_pieces: bool = False
    most_bytes: int | None = None
    """The largest reply that can be held, if it is not taken in pieces."""
    is_gone: Callable[[], bool] | None = None
    """Whether the client is gone, which is not noticed by itself while requests of it wait. None for what is no
    connection.
    """


OWN = Asker()
