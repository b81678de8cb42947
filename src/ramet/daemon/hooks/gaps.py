"""Gaps: what hooks left behind that reached no daemon. Each line names a session whose transcript says the rest."""

import os
import stat
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
from msgspec.structs import replace

from ramet.model.hooks.hook import GAP, HookEvent, Source
from ramet.vendors import registry
from ramet.vendors.contract import json_lines

_MOST_BYTES = 2 * 1024 * 1024
"""Hooks write half as much."""
_TOLD = ("hook_event_name", "session_id", "transcript_path", "cwd", "agent_id", "source")
"""What a line has of a hook's payload."""
_APPEND = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK


class Gap(NamedTuple):
    """What a hook would have told: that a session is there, or that it has ended."""

    event: HookEvent
    pid: int | None
    """The program's own."""
    at: float
    """When the hook was called, in seconds since 1970."""
    was_late: bool = False
    """Whether a daemon heard the hook, and answered when its program waited no more."""


def are_there(file: Path) -> bool:
    """Whether there is anything to take."""
    return _is_file(file) or _is_file(_taken(file))


def take(file: Path) -> list[Gap]:
    """The sessions that the file tells of, each once, and once more where it has ended. `forget` them when recorded."""
    taken = _taken(file)
    if not _is_file(taken):
        if not _is_file(file):
            return []
        try:
            file.rename(taken)
        except OSError:
            return []
    gaps: dict[tuple[str, str], list[Gap]] = {}
    for gap in _read(taken):
        gaps.setdefault((gap.event.vendor, gap.event.native_id), []).append(gap)
    return [gap for told in gaps.values() for gap in _sum_up(told)]


def add(file: Path, vendor: str, payload: Mapping[str, Any], pid: int | None) -> None:
    """Leave the line that the hook's program leaves if no daemon answers: this one could not write the hook down."""
    told = {name: payload[name] for name in _TOLD if isinstance(payload.get(name), str)}
    line = {"at": int(time.time()), "vendor": vendor, "why": "damaged", **({"pid": pid} if pid else {}), **told}
    with suppress(OSError):
        descriptor = os.open(file, _APPEND, 0o600)
        with os.fdopen(descriptor, "ab") as opened:
            if os.fstat(descriptor).st_size < _MOST_BYTES // 2:
                opened.write(msgspec.json.encode(line) + b"\n")


def forget(file: Path) -> None:
    """They are recorded."""
    if _is_file(_taken(file)):
        _taken(file).unlink(missing_ok=True)


def _is_file(path: Path) -> bool:
    """Whether it is what a hook writes: no link, no pipe, no folder."""
    try:
        return stat.S_ISREG(path.lstat().st_mode)
    except OSError:
        return False


def _taken(file: Path) -> Path:
    """Where the lines wait meanwhile: hooks go on writing to the file, and we may be killed."""
    return file.with_suffix(".taken")


def _read(file: Path) -> Iterator[Gap]:
    with suppress(OSError), file.open("rb") as lines_of_hooks:
        for line in lines_of_hooks.read(_MOST_BYTES).splitlines():
            try:
                told = msgspec.json.decode(line, type=dict)
            except (msgspec.DecodeError, UnicodeDecodeError):
                continue
            vendor = registry.hooks().get(str(told.get("vendor")))
            event = None if vendor is None else vendor.read(told)
            if event is not None and event.native_id and event.transcript_path:
                at, was_late = json_lines.count(told, "at"), told.get("why") == "slow"
                yield Gap(event, json_lines.count(told, "pid") or None, at, was_late)


def _sum_up(told: list[Gap]) -> Iterator[Gap]:
    """That a session is there is all that its hooks can still say; what they would have counted is past."""
    last = told[-1]
    known = replace(told[0].event, moment="other", name=GAP, agent_id=None, agent_type=None, source=_missed(told))
    yield last._replace(event=known)
    if last.event.moment == "session_end":
        yield last


def _missed(told: list[Gap]) -> Source | None:
    """How a context window began whose agent got no answer, if its next hook does not show that by itself: it would
    show a session that is new, or is open in another process than before.
    """
    starts = [gap for gap in told if gap.event.moment == "session_start"]
    missed = [gap.event.source for gap in starts if gap.was_late or gap.event.source == "compact"]
    return missed[-1] if missed else None
