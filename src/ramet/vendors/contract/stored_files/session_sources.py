"""Where an agent program keeps its sessions, and how they are read: the part `sessions` of a vendor.

Reading never writes: not to the file, not beside it. Nothing that a file says is taken for granted; what cannot be read
is counted and skipped.
"""

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from ramet.model.memory.stored_session import Piece, Source


class Surroundings(NamedTuple):
    """Where to look: the user's home and environment, and the folders of the projects that Ramet knows."""

    home: Path
    environ: Mapping[str, str]
    projects: tuple[Path, ...] = ()


class Sessions(NamedTuple):
    """One vendor's sessions on the disk."""

    find: Callable[[Surroundings], Iterator[Source]]
    """Every session, parents before their sub-agents. No session is read for this."""
    recognise: Callable[[Path], Iterator[Source]]
    """The sessions in a file or folder that a person named; none if it is not this vendor's."""
    read: Callable[[Source, str | None], Iterator[Piece]]
    """A session from a position on, or from its beginning. It ends where the file ends; a torn last line is left for
    the next time. If the position no longer fits (the file was rewritten), it reads from the beginning. A file with no
    session in it gives no piece. Raises OSError if the file cannot be read, and ValueError if it is none of this
    vendor's.
    """
