"""What a stopped read leaves behind: the unfinished file of a backup or an export."""

from contextlib import suppress
from pathlib import Path
from typing import Any

from ramet.protocol.memory.archives import Export
from ramet.protocol.operation import Request
from ramet.protocol.system.backups import BackUpDaily
from ramet.protocol.system.database import BackUpDatabase

_ENDS = ("", "-journal", "-wal", "-shm")


def remove_partial(request: Request[Any]) -> None:
    """Remove the unfinished file of a backup or an export, after its process has ended."""
    if isinstance(request, BackUpDatabase | BackUpDaily | Export):
        for end in _ENDS:
            with suppress(OSError, ValueError):
                Path(f"{request.path}.partial{end}").unlink(missing_ok=True)
