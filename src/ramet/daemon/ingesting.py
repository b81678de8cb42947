"""Transcripts read behind the hooks: what agents said gets into the store whether or not their hooks were heard.

A hook wakes it, and so does a clock, for a hook may be dropped. A file is read in small pieces on a thread, each of
which is a transaction of its own that also notes how far it was read; whoever else asks for something comes in
between. What is written already is not written again, so a file may be read twice, and a daemon killed at any point.
"""

import asyncio
import logging
import time
from collections import deque
from collections.abc import Awaitable, Callable, Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from msgspec.structs import replace

from ramet.daemon import gaps
from ramet.daemon.gaps import Gap
from ramet.daemon.vanishing import find_former_process
from ramet.errors import DaemonStopping, RametError
from ramet.model.hook import HookEvent
from ramet.protocol.hooks import AddEntries, HookFacts, HookReply, Ingested, Ingests, ListIngests, RecordHook
from ramet.protocol.requests import Request
from ramet.transcripts.files import Piece, Position, read_piece
from ramet.transcripts.registry import READERS, Reader

log = logging.getLogger(__name__)

_INTERVAL_SECONDS = 3.0
"""How long it takes at most until a file that grew is read, heard of or not."""
_PAUSE_SECONDS = 0.2
"""Hooks come in bursts, and one reading serves them all."""
_PATIENCE_SECONDS = 3.0
"""How long a hook may wait for a reading; its program waits for five."""
_QUIET_SECONDS = 3600.0
"""A file that has not grown for so long is read again only when a hook tells of it, or a daemon starts."""

Ask = Callable[[Request], Awaitable[Any]]
Gather = Callable[[HookEvent], HookFacts]
"""What the disk says about an event; called on a thread."""


class Transcript:
    """A file that is read, and whose it is."""

    def __init__(
        self, path: Path, session_id: int, reader: Reader, position: Position, agent_id: str | None = None
    ) -> None:
        """A sub-agent's file comes with its id, and with the session whose sub-agent it is, until its own is known."""
        self.path = path
        self.session_id = session_id
        self.reader = reader
        self.position = position
        self.agent_id = agent_id
        self.heard_at = 0.0
        self.lock = asyncio.Lock()


class _Heard(NamedTuple):
    """What a hook told of a transcript."""

    vendor: str
    session_id: int
    is_subagent: bool
    """Whether the session is that of a sub-agent, inside which the hook was called, and the transcript another's."""


class Ingesting:
    """Reads on in the transcripts of all sessions that are known."""

    def __init__(self, ask: Ask, gather: Gather, gaps_file: Path, host: str | None = None) -> None:
        self._ask = ask
        self._gather = gather
        self._gaps_file = gaps_file
        self._host = host
        self._known: dict[str, Transcript] = {}
        self._heard: dict[str, _Heard] = {}
        """What was told since the last reading, by path."""
        self._woken = asyncio.Event()

    def hear(self, event: HookEvent, reply: HookReply) -> None:
        """A hook was recorded, and the transcript may say more. Never waits."""
        if reply.wants_ingest and reply.session_id is not None and event.transcript_path and event.vendor in READERS:
            self._heard[event.transcript_path] = _Heard(event.vendor, reply.session_id, event.agent_id is not None)
            self._woken.set()

    async def read_now(self, event: HookEvent) -> None:
        """Read a transcript to its end, before its session's context changes; or as far as there is time for."""
        await self._safely(self._read_whole(event.transcript_path or ""))

    async def read_session(self, session_id: int) -> None:
        """Read a session's transcripts to their ends."""
        await self._meet(ListIngests(session_id=session_id))
        await self._read_on([each for each in self._known.values() if each.session_id == session_id])

    async def _read_whole(self, path: str) -> None:
        if path and path not in self._known:
            await self._meet(ListIngests(path=path))
        transcript, deadline = self._known.get(path), time.monotonic() + _PATIENCE_SECONDS
        while transcript is not None and await self._read(transcript):
            if time.monotonic() > deadline:
                log.warning("transcript is behind path=%s offset=%d", path, transcript.position.offset)
                return

    async def follow(self) -> None:
        """Read what there is and what comes, until it is cancelled."""
        await self._safely(self._begin())
        looked_at = time.monotonic()
        while True:
            with suppress(TimeoutError):
                async with asyncio.timeout(_INTERVAL_SECONDS):
                    await self._woken.wait()
            self._woken.clear()
            await self._safely(self._take_gaps())
            await self._safely(self._read_heard())
            if time.monotonic() >= looked_at + _INTERVAL_SECONDS:
                await self._safely(self._read_all())
                looked_at = time.monotonic()
            await asyncio.sleep(_PAUSE_SECONDS)

    async def _safely(self, work: Awaitable[None]) -> None:
        """What fails is tried again another time; nobody's work depends on it."""
        try:
            await work
        except DaemonStopping:
            pass
        except Exception as error:
            log.warning("transcripts could not be read error=%s", type(error).__name__, exc_info=error)

    async def _begin(self) -> None:
        """Whatever was written while no daemon was there."""
        await self._meet(ListIngests())
        await self._take_gaps()
        await self._read_all()

    async def _take_gaps(self) -> None:
        """Sessions that we may not know yet, because nothing of theirs has reached us."""
        for gap in await asyncio.to_thread(gaps.take, self._gaps_file):
            facts = await asyncio.to_thread(self._look, gap)
            try:
                self.hear(gap.event, await self._ask(RecordHook(event=gap.event, facts=facts)))
            except DaemonStopping:
                raise
            except RametError as error:
                log.warning("gap not filled path=%s reason=%s", gap.event.transcript_path, error.message)
        gaps.forget(self._gaps_file)

    def _look(self, gap: Gap) -> HookFacts:
        """What the machine says about where a hook was called. A session whose program is gone since is over."""
        process = None if gap.pid is None else find_former_process(gap.pid, gap.at + 1, self._host)
        return replace(self._gather(gap.event), process=process)

    async def _read_heard(self) -> None:
        heard, self._heard = self._heard, {}
        for path, told in heard.items():
            known = self._known.get(path)
            if known is not None and not told.is_subagent and known.session_id != told.session_id:
                del self._known[path]  # the database was emptied by another daemon
            if path not in self._known:
                await self._meet(ListIngests(session_id=told.session_id))
            if path not in self._known and told.is_subagent:
                await self._meet(ListIngests(path=path))
            if path not in self._known and not told.is_subagent:
                self._know(Transcript(Path(path), told.session_id, READERS[told.vendor], Position()))
        transcripts = [self._known[path] for path in heard if path in self._known]
        for transcript in transcripts:
            transcript.heard_at = time.time()
        await self._read_on(transcripts)

    async def _meet(self, request: ListIngests) -> None:
        """Transcripts of which the store says how far they were read."""
        found: Ingests = await self._ask(request)
        for row in found.items:
            if row.driver in READERS:
                position = Position(row.offset, row.inode)
                self._know(Transcript(Path(row.path), row.session_id, READERS[row.driver], position))

    def _know(self, transcript: Transcript) -> Transcript:
        return self._known.setdefault(str(transcript.path), transcript)

    async def _read_all(self) -> None:
        """Read what is known, and let go of what nobody writes any more; but not of sub-agents' that would be found
        again, and read from their beginning, as long as somebody writes above them.
        """
        within = {str(each.path) for each in await self._read_on([*self._known.values()])}
        for transcript in await asyncio.to_thread(_find_quiet, [*self._known.values()]):
            if str(transcript.path) not in within:
                self._known.pop(str(transcript.path), None)

    async def _read_on(self, transcripts: Sequence[Transcript]) -> list[Transcript]:
        """Read these to their ends, and those of their sub-agents that are new; all that their sub-agents have."""
        await self._read_to_end(transcripts)
        whole = [transcript for transcript in transcripts if transcript.agent_id is None]
        found = await asyncio.to_thread(_find_subagents, whole)
        fresh = [self._know(transcript) for transcript in found if str(transcript.path) not in self._known]
        await self._read_to_end(fresh)
        return found

    async def _read_to_end(self, transcripts: Iterable[Transcript]) -> None:
        """A piece of each in turn, so that a long one keeps no other waiting."""
        waiting = deque(transcripts)
        while waiting:
            transcript = waiting.popleft()
            if await self._read(transcript):
                waiting.append(transcript)

    async def _read(self, transcript: Transcript) -> bool:
        """Whether there is more. A piece that cannot be written is read again another time."""
        try:
            async with transcript.lock:
                piece = await asyncio.to_thread(read_piece, transcript.path, transcript.position, transcript.reader)
                if piece is not None and piece.position != transcript.position:
                    await self._add(transcript, piece)
        except DaemonStopping:
            raise
        except Exception as error:
            log.warning("transcript not read path=%s error=%s", transcript.path, type(error).__name__, exc_info=error)
            return False
        return piece is not None and not piece.is_last

    async def _add(self, transcript: Transcript, piece: Piece) -> None:
        """Write a piece, and remember where to go on."""
        request = AddEntries(
            session_id=transcript.session_id,
            path=str(transcript.path),
            offset=piece.position.offset,
            inode=piece.position.inode,
            entries=piece.reading.entries,
            agent_id=transcript.agent_id,
            counts_subagents=transcript.reader.COUNTS_SUBAGENTS,
        )
        added: Ingested = await self._ask(request)
        transcript.session_id, transcript.agent_id = added.session_id, None
        transcript.position = piece.position
        if piece.reading.skipped:
            log.warning("lines passed over path=%s lines=%d", transcript.path, piece.reading.skipped)


def _find_subagents(transcripts: Iterable[Transcript]) -> list[Transcript]:
    return [
        Transcript(subagent.path, known[subagent.above].session_id, reader, Position(), subagent.agent_id)
        for reader in READERS.values()
        if (known := {each.path: each for each in transcripts if each.reader is reader})
        for subagent in reader.find_subagents(list(known))
    ]


def _find_quiet(transcripts: Iterable[Transcript]) -> list[Transcript]:
    """Those that nobody has written to, or told of, for long."""
    before = time.time() - _QUIET_SECONDS
    return [each for each in transcripts if each.heard_at < before and _written_at(each.path) < before]


def _written_at(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except (OSError, ValueError):
        return 0.0
