"""Transcripts read behind the hooks: what agents said gets into the store whether or not their hooks were heard.

This is about which files are read, and when; `transcript` is about reading one. A hook wakes it, and so does a clock,
for a hook may be dropped.
"""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from msgspec.structs import replace

from ramet.daemon.hooks import gaps
from ramet.daemon.hooks.disk_lookups import DiskLookups
from ramet.daemon.hooks.gaps import Gap
from ramet.daemon.hooks.transcript import (
    Owner,
    Transcript,
    read_on,
    read_to_end,
)
from ramet.daemon.hooks.vanished_agents import find_former_process
from ramet.errors import DaemonStopping, DatabaseDamaged, RametError
from ramet.model.hooks.hook import HookEvent
from ramet.protocol.hooks.hooks import HookFacts, HookReply, RecordHook
from ramet.protocol.hooks.transcripts import ListIngests
from ramet.protocol.operation import AsyncAsk
from ramet.vendors import registry
from ramet.vendors.contract.transcript_files import Position

log = logging.getLogger(__name__)

_INTERVAL_SECONDS = 3.0
"""How long it takes at most until a file that grew is read, heard of or not."""
_PAUSE_SECONDS = 0.2
"""Hooks come in bursts, and one reading serves them all."""
_QUIET_SECONDS = 3600.0
"""A file that has not grown for so long is read again only when a hook tells of it, or a daemon starts."""

Gather = Callable[[HookEvent], HookFacts]
"""What the disk says about an event; called on a thread."""


class _Heard(NamedTuple):
    """What a hook told of a transcript."""

    vendor: str
    session_id: int
    is_subagent: bool
    """Whether the session is that of a sub-agent, inside which the hook was called, and the transcript another's."""


class TranscriptFeed:
    """Reads on in the transcripts of all sessions that are known."""

    def __init__(
        self,
        ask: AsyncAsk,
        gather: Gather,
        lookers: DiskLookups,
        gaps_file: Path,
        patience_seconds: float,
        host: str | None = None,
        are_gaps_ours: Callable[[], bool] = lambda: True,
        *,
        only_registered: bool = False,
    ) -> None:
        """`patience_seconds`: how long a hook may wait for a reading. All daemons of a home share its file of gaps.
        `only_registered`: whether sessions outside registered projects are ignored.
        """
        self._ask = ask
        self._gather = gather
        self._lookers = lookers
        self._gaps_file = gaps_file
        self._patience_seconds = patience_seconds
        self._host = host
        self._are_gaps_ours = are_gaps_ours
        self._only_registered = only_registered
        self._readers = registry.transcripts()
        self._known: dict[str, Transcript] = {}
        self._heard: dict[str, _Heard] = {}
        """What was told since the last reading, by path."""
        self._woken = asyncio.Event()

    def hear(self, event: HookEvent, reply: HookReply) -> None:
        """A hook was recorded, and the transcript may say more. Never waits."""
        is_readable = event.vendor in self._readers
        if reply.wants_ingest and reply.session_id is not None and event.transcript_path and is_readable:
            self._heard[event.transcript_path] = _Heard(event.vendor, reply.session_id, event.agent_id is not None)
            self._woken.set()

    async def read_now(self, event: HookEvent) -> None:
        """Read a transcript to its end, before its session's context changes; or as far as there is time for."""
        path = event.transcript_path or ""
        try:
            async with asyncio.timeout(self._patience_seconds):
                await self._safely(self._read_known(path))
        except TimeoutError:
            log.warning("transcript is behind path=%s", path)

    async def read_session(self, session_id: int) -> None:
        """Read a session's transcripts to their ends."""
        await self._meet(ListIngests(session_id=session_id))
        await self._read_with_subagents([each for each in self._known.values() if each.owner.session_id == session_id])

    async def follow(self) -> None:
        """Read what there is and what comes, until it is cancelled."""
        await self._safely(self._catch_up())
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

    async def _safely(self, work: Awaitable[None]) -> bool:
        """Whether it could be done. What fails is tried again another time; nobody's work depends on it."""
        try:
            await work
        except (DaemonStopping, DatabaseDamaged):  # which is logged once, and not at each try
            return False
        except Exception as error:
            log.warning("transcripts could not be read error=%s", type(error).__name__, exc_info=error)
            return False
        return True

    # What is read, and when.

    async def _catch_up(self) -> None:
        """Whatever was written while no daemon was there."""
        await self._meet(ListIngests())
        await self._take_gaps()
        await self._read_all()

    async def _read_known(self, path: str) -> None:
        if path and path not in self._known:
            await self._meet(ListIngests(path=path))
        transcript = self._known.get(path)
        while transcript is not None and await read_on(self._ask, transcript):
            pass

    async def _read_heard(self) -> None:
        """What hooks told of. One that cannot be found keeps no other from being read."""
        heard, self._heard = self._heard, {}
        transcripts: list[Transcript] = []
        for path, told in heard.items():
            try:
                found = await self._find(path, told)
            except DaemonStopping:
                raise
            except Exception as error:
                if _may_pass(error):
                    log.warning("transcript not found yet path=%s error=%s", path, type(error).__name__)
                    self._heard.setdefault(path, told)
                    continue
                log.warning("transcript not found path=%s error=%s", path, type(error).__name__, exc_info=error)
            else:
                transcripts += found
        for transcript in transcripts:
            transcript.heard_at = time.time()
        await self._read_with_subagents(transcripts)

    async def _read_all(self) -> None:
        """Read what is known, and let go of what nobody writes any more; but not of sub-agents' as long as somebody
        writes above them, because they would be found again.
        """
        within = {str(each.path) for each in await self._read_with_subagents([*self._known.values()])}
        for transcript in await asyncio.to_thread(_find_quiet, [*self._known.values()]):
            if str(transcript.path) not in within:
                self._known.pop(str(transcript.path), None)

    async def _read_with_subagents(self, transcripts: Sequence[Transcript]) -> list[Transcript]:
        """Read these to their ends, and those of their sub-agents that are new; all that their sub-agents have."""
        await read_to_end(self._ask, transcripts)
        whole = [transcript for transcript in transcripts if transcript.owner.agent_id is None]
        found = await asyncio.to_thread(_find_subagents, whole)
        fresh = [each for each in found if str(each.path) not in self._known]
        met = [each for each in fresh if await self._safely(self._meet(ListIngests(path=str(each.path))))]
        await read_to_end(self._ask, [self._know(each) for each in met])
        return found

    # Which files are known.

    async def _find(self, path: str, told: _Heard) -> list[Transcript]:
        """The transcript that a hook told of; none where it is that of a sub-agent which is not known."""
        known = self._known.get(path)
        if known is not None and not told.is_subagent and known.owner.session_id != told.session_id:
            del self._known[path]  # it was handed on, or the database was emptied by another daemon
        if path not in self._known:
            await self._meet(ListIngests(path=path))
        if path not in self._known and not told.is_subagent:
            self._know(Transcript(Path(path), Owner(told.session_id), self._readers[told.vendor], Position()))
        return [self._known[path]] if path in self._known else []

    async def _meet(self, request: ListIngests) -> None:
        """Transcripts of which the store says how far they were read."""
        for row in (await self._ask(request)).items:
            reader = self._readers.get(row.driver or "")
            if reader is not None:
                self._know(Transcript(Path(row.path), Owner(row.session_id), reader, Position(row.offset, row.inode)))

    def _know(self, transcript: Transcript) -> Transcript:
        return self._known.setdefault(str(transcript.path), transcript)

    # Sessions that we may not know yet, because nothing of theirs has reached us.

    async def _take_gaps(self) -> None:
        """What is not recorded because of something that passes is taken again, with all that came with it."""
        if not await asyncio.to_thread(self._have_gaps):
            return
        for gap in await asyncio.to_thread(gaps.take, self._gaps_file):
            try:
                facts = await self._look(gap)
                record = RecordHook(event=gap.event, facts=facts, only_registered=self._only_registered)
                self.hear(gap.event, await self._ask(record))
            except DaemonStopping:
                raise
            except Exception as error:
                if _may_pass(error):
                    raise
                path = gap.event.transcript_path
                log.warning("gap not filled path=%s error=%s", path, type(error).__name__, exc_info=error)
        gaps.forget(self._gaps_file)

    def _have_gaps(self) -> bool:
        """Asked at every hook, so what is nearly always so is found out first: that there are none."""
        return gaps.are_there(self._gaps_file) and self._are_gaps_ours()

    async def _look(self, gap: Gap) -> HookFacts:
        """What the machine says about where a hook was called. A session whose program is gone since is over."""
        facts = await self._lookers.look(gap.event, lambda: self._gather(gap.event))
        process = None if gap.pid is None else find_former_process(gap.pid, gap.at + 1, self._host)
        return replace(facts or HookFacts(project=gap.event.cwd), process=process)


def _find_subagents(transcripts: Iterable[Transcript]) -> list[Transcript]:
    return [
        Transcript(subagent.path, Owner(known[subagent.above].owner.session_id, subagent.agent_id), reader, Position())
        for reader in registry.transcripts().values()
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


def _may_pass(error: Exception) -> bool:
    """Whether it may be over when it is tried again."""
    return isinstance(error, RametError) and error.is_transient
