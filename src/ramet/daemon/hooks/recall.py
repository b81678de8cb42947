"""What earlier sessions know about a prompt, or about the work that a context window continues, for a hook's answer.

A hook waits for it only a moment: a slow index, or none, gives the agent nothing, and the hook is answered as if there
were no history. A place that an agent was given once is not given again.
"""

import asyncio
import logging
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Protocol

from msgspec.structs import replace

from ramet.config.settings import RecallSettings
from ramet.errors import RametError
from ramet.model.history.commit import estimate_tokens
from ramet.model.hooks.hook import HookAnswer, HookEvent, RecallWish
from ramet.model.memory.recollection import Recollection, inject
from ramet.model.principal import RUNNER
from ramet.protocol.hooks.hooks import HookReply, NoteInjected, RecordHook
from ramet.protocol.memory.recall import Recall
from ramet.protocol.operation import R, Request

log = logging.getLogger(__name__)

_WAIT_SECONDS = 0.15
_FRESH_SECONDS = 5.0
_MOST_SESSIONS = 1000
_LEAST_BYTES = 100


class Asker(Protocol):
    """Who asks the engine."""

    async def ask(self, request: Request[R], principal: str = RUNNER) -> R:
        """The reply."""


class RecalledHistory:
    """Asks the engine, and adds to the answers of hooks what earlier sessions know. Runs on the event loop's thread."""

    def __init__(
        self,
        asker: Asker,
        own: RecallSettings,
        settings_in: Callable[[str], RecallSettings],
        loop: asyncio.AbstractEventLoop,
    ) -> None:
        """`own`: the owner's settings; `settings_in`: the settings in a directory, read from the disk."""
        self._asker = asker
        self._own = own
        self._settings_in = settings_in
        self._loop = loop
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="recall settings")
        self._settings: dict[str, tuple[float, RecallSettings]] = {}
        self._told: dict[int, set[str]] = {}
        """The places that each session was given."""
        self._noting: set[asyncio.Task[None]] = set()

    async def ask(self, request: Request[R], principal: str = RUNNER) -> R:
        """The reply to a request. That to a hook may have more for its agent to read."""
        reply = await self._asker.ask(request, principal)
        if isinstance(request, RecordHook) and isinstance(reply, HookReply):
            return replace(reply, answer=await self._add(request.event, reply.session_id, reply.answer))
        return reply

    async def _add(self, event: HookEvent, session_id: int | None, answer: HookAnswer) -> HookAnswer:
        """The answer, with what is known; the same answer if nothing is, or not in time."""
        wish = answer.recall
        if wish is None or session_id is None:
            return answer
        try:
            async with asyncio.timeout(_WAIT_SECONDS):
                text, places = await self._find(event, session_id, wish)
        except TimeoutError:
            log.info("no recall in time session=%s", session_id)
            return answer
        except RametError as error:
            log.info("no recall session=%s reason=%s", session_id, error.message)
            return answer
        if not text:
            return answer
        self._note(event, session_id, text, places)
        return replace(answer, context="\n\n".join(part for part in (answer.context, text) if part))

    async def _find(self, event: HookEvent, session_id: int, wish: RecallWish) -> tuple[str, list[str]]:
        settings = await self._read_settings(event.cwd)
        most = settings.start_bytes - wish.spent_bytes if wish.is_start else settings.prompt_bytes
        if most < _LEAST_BYTES:
            return "", []
        found = await self._asker.ask(Recall(query=wish.query, session_id=session_id, is_hint=True))
        told = self._told.get(session_id, set())
        new = [each for each in found.items if each.place not in told]
        text = inject(new, most)
        return text, [each.place for each in new if _is_in(text, each)]

    async def _read_settings(self, cwd: str | None) -> RecallSettings:
        if cwd is None:
            return self._own
        known = self._settings.get(cwd)
        if known is None or known[0] < time.monotonic() - _FRESH_SECONDS:
            if len(self._settings) >= _MOST_SESSIONS:
                self._settings.clear()
            read = await self._loop.run_in_executor(self._thread, self._settings_in, cwd)
            known = self._settings[cwd] = (time.monotonic(), read)
        return known[1]

    def _note(self, event: HookEvent, session_id: int, text: str, places: list[str]) -> None:
        """Remember what the agent was given, and write down what it costs, while the hook is answered."""
        if len(self._told) >= _MOST_SESSIONS:
            self._told.clear()
        self._told.setdefault(session_id, set()).update(places)
        size = len(text.encode(errors="replace"))
        note = NoteInjected(
            session_id=session_id,
            moment=event.moment,
            size=size,
            tokens=estimate_tokens(text),
            places=places,
        )
        task = self._loop.create_task(self._write(note))
        self._noting.add(task)
        task.add_done_callback(self._noting.discard)

    async def _write(self, note: NoteInjected) -> None:
        try:
            await self._asker.ask(note)
        except RametError as error:
            log.warning("injected text was not counted session=%s reason=%s", note.session_id, error.message)


def _is_in(text: str, each: Recollection) -> bool:
    return f"\n{each.place} " in text
