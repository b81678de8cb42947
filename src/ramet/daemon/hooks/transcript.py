"""A transcript, and reading it further: in small pieces on a thread, each of which is a transaction of its own that
also notes how far it was read; other requests run in between. Nothing is written twice, so a file may be read twice,
and a daemon killed at any point.
"""

import asyncio
import logging
from collections import deque
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from ramet.errors import DaemonStopping
from ramet.protocol.hooks.transcripts import AddEntries
from ramet.protocol.operation import AsyncAsk
from ramet.vendors.contract.transcript_files import Piece, Position, read_piece
from ramet.vendors.contract.transcript_lines import Transcripts

log = logging.getLogger(__name__)


class Owner(NamedTuple):
    """Whose transcript it is: a session's, or that of a sub-agent of a session, whose own is not known yet."""

    session_id: int
    agent_id: str | None = None


class Transcript:
    """A file that is read, whose it is, and how far it was read."""

    def __init__(self, path: Path, owner: Owner, reader: Transcripts, position: Position) -> None:
        self.path = path
        self.owner = owner
        self.reader = reader
        self.position = position
        self.heard_at = 0.0
        """When a hook last told of it."""
        self.lock = asyncio.Lock()


async def read_to_end(ask: AsyncAsk, transcripts: Iterable[Transcript]) -> None:
    """A piece of each in turn, so that a long one keeps no other waiting."""
    waiting = deque(transcripts)
    while waiting:
        transcript = waiting.popleft()
        if await read_on(ask, transcript):
            waiting.append(transcript)


async def read_on(ask: AsyncAsk, transcript: Transcript) -> bool:
    """Read one piece. Whether there is more; a piece that cannot be written is read again another time."""
    try:
        async with transcript.lock:
            piece = await asyncio.to_thread(read_piece, transcript.path, transcript.position, transcript.reader)
            if piece is not None and piece.position != transcript.position:
                await _add(ask, transcript, piece)
    except DaemonStopping:
        raise
    except Exception as error:
        log.warning("transcript not read path=%s error=%s", transcript.path, type(error).__name__, exc_info=error)
        return False
    return piece is not None and not piece.is_last


async def _add(ask: AsyncAsk, transcript: Transcript, piece: Piece) -> None:
    """Write a piece, and remember where to continue."""
    request = AddEntries(
        session_id=transcript.owner.session_id,
        agent_id=transcript.owner.agent_id,
        path=str(transcript.path),
        offset=piece.position.offset,
        inode=piece.position.inode,
        entries=piece.reading.entries,
        counts_subagents=transcript.reader.counts_subagents,
    )
    added = await ask(request)
    transcript.owner = Owner(added.session_id)
    transcript.position = piece.position
    if piece.reading.skipped:
        log.warning("lines skipped path=%s lines=%d", transcript.path, piece.reading.skipped)
