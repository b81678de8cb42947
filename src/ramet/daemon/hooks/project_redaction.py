"""The patterns that a project adds, applied to what hooks and transcripts tell of it before the engine is asked.

The engine knows the owner's patterns only. Which project a transcript belongs to is remembered from its hooks, and
asked for if no hook came since the daemon started.
"""

import asyncio
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from ramet.daemon.executors.requester import Requester
from ramet.errors import RametError
from ramet.model.principal import RUNNER
from ramet.model.redaction import Redactor
from ramet.model.redaction.structs import StructRedactor
from ramet.protocol.hooks.hooks import RecordHook
from ramet.protocol.hooks.transcripts import AddEntries
from ramet.protocol.operation import R, Request
from ramet.protocol.record.sessions import GetSession

_FRESH_SECONDS = 5.0
"""How long a project's file counts as read: hooks come with every tool call."""
_MOST = 1000
_THREADS = 2


class ProjectRedaction:
    """Asks the engine, with requests about a project redacted by that project's patterns."""

    def __init__(self, asker: Requester, redactor_in: Callable[[str], Redactor], own: Redactor) -> None:
        self._asker = asker
        self._redactor_in = redactor_in
        self._own = own
        self._structs = StructRedactor()
        self._folders: dict[int, str] = {}
        """The folders of sessions."""
        self._found: dict[str, tuple[float, Redactor]] = {}
        # Not those of the runner, which wait for git: a hook would wait with them.
        self._threads = ThreadPoolExecutor(_THREADS, thread_name_prefix="patterns")

    async def ask(self, request: Request[R], principal: str = RUNNER) -> R:
        """The reply to a request, which holds nothing that the project's patterns match."""
        folder = await self._folder(request)
        redactor = self._own if folder is None else await self._find(folder)
        clean = request if redactor is self._own else self._structs.redact(request, redactor)
        reply = await self._asker.ask(clean, principal)
        session_id: Any = getattr(reply, "session_id", None)
        if isinstance(session_id, int) and folder is not None:
            _make_room(self._folders)
            self._folders[session_id] = folder
        return reply

    async def _folder(self, request: Request[Any]) -> str | None:
        match request:
            case RecordHook():
                return request.event.cwd or request.facts.project
            case AddEntries(session_id=int(session_id)):
                return self._folders.get(session_id) or await self._ask_for_folder(session_id)
        return None

    async def _ask_for_folder(self, session_id: int) -> str | None:
        try:
            return (await self._asker.ask(GetSession(session_id=session_id))).task_id
        except RametError:
            return None

    async def _find(self, folder: str) -> Redactor:
        found = self._found.get(folder)
        if found is None or found[0] < time.monotonic() - _FRESH_SECONDS:
            _make_room(self._found)
            loop = asyncio.get_running_loop()
            found = (time.monotonic(), await loop.run_in_executor(self._threads, self._redactor_in, folder))
            self._found[folder] = found
        return found[1]


def _make_room(known: dict[Any, Any]) -> None:
    if len(known) >= _MOST:
        known.clear()
