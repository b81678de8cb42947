"""Hooks that come twice, because two settings files of one program have them: the user's own and a project's.

A program starts both at once, with the same payload. Only the first one counts.
"""

import time
from collections import OrderedDict
from typing import Any

from ramet.model.hooks.hook import HookEvent

_SECONDS = 2.0
_MOST = 500
_TOOL_MOMENTS = ("pre_tool_use", "post_tool_use", "post_tool_use_failure")

_Key = tuple[str, str, int]


class RepeatedCalls:
    """The payloads of the last seconds, each with the process that brought it."""

    def __init__(self) -> None:
        self._seen: OrderedDict[_Key, tuple[int, float]] = OrderedDict()

    def is_repeated(self, event: HookEvent, payload: Any, caller: int | None) -> bool:
        """Whether another process has just brought the same payload of a session."""
        if caller is None or not event.native_id or not isinstance(payload, str) or not _can_be_repeated(event):
            return False
        now, key = time.monotonic(), (event.vendor, event.native_id, hash(payload))
        found = self._seen.get(key)
        if found is not None and now - found[1] < _SECONDS:
            return found[0] != caller
        self._seen[key] = (caller, now)
        self._seen.move_to_end(key)
        while len(self._seen) > _MOST or next(iter(self._seen.values()))[1] < now - _SECONDS:
            self._seen.popitem(last=False)
        return False


def _can_be_repeated(event: HookEvent) -> bool:
    """A status line is asked for again and again. Two calls of a tool differ in their ids; without ids they may be two
    equal calls, each of which has to be checked.
    """
    return event.moment != "status_line" and (event.moment not in _TOOL_MOMENTS or event.tool_use_id is not None)
