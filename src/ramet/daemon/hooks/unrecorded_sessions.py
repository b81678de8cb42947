"""Sessions that are not recorded, because they are outside every registered project.

Hooks in the user's own settings are called in every directory. What happens outside registered projects is none of our
business: nothing is written and nothing is answered, but for one hint, once in the life of a home.
"""

import os
import time
from pathlib import Path

from ramet.model.hooks.hook import HookEvent
from ramet.protocol.hooks.hooks import HookFacts

_REMEMBERED_SECONDS = 10.0
"""How long the tool calls of such a session are let through without asking the database. A project may be registered
meanwhile: its next prompt is asked about again.
"""
_MOST_REMEMBERED = 1000
_BRIEF = ("pre_tool_use", "post_tool_use", "post_tool_use_failure", "status_line")
_HINT = "Ramet does not record this project. To record it, run `ramet init` in it. This is shown once."


class UnrecordedSessions:
    """Which sessions were ignored a moment ago, and whether the hint was shown."""

    def __init__(self, home: Path) -> None:
        self._marker = home / "hinted"
        self._known: dict[tuple[str, str], float] = {}

    def is_known(self, event: HookEvent) -> bool:
        """Whether an event is one of many that need no answer."""
        until = self._known.get((event.vendor, event.native_id), 0.0)
        return event.moment in _BRIEF and time.monotonic() < until

    def note(self, event: HookEvent) -> None:
        """The session of an event was ignored."""
        if len(self._known) >= _MOST_REMEMBERED:
            self._known.clear()
        self._known[event.vendor, event.native_id] = time.monotonic() + _REMEMBERED_SECONDS

    def hint(self, event: HookEvent, facts: HookFacts) -> str | None:
        """What a person reads when a session starts in the first project that is not registered."""
        if event.moment != "session_start" or not facts.is_repository:
            return None
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        try:
            os.close(os.open(self._marker, flags, 0o600))
        except OSError:  # it was shown, or it cannot be noted and would be shown for ever
            return None
        return _HINT
