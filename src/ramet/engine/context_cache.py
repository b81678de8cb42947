"""The contexts that were compiled before, so that one more commit costs one more commit.

A context is kept by the commit that it leads to, which never changes, and by a revision, which tells when annotations
changed or commits were deleted (whose ids and places may then name others). Losing what is kept costs only time.

What is kept is bounded in bytes, which are estimated. A context that is larger than the bound is not kept at all.
"""

import threading
from collections import OrderedDict
from sys import getsizeof
from typing import Generic, TypeVar

from msgspec import Struct

from ramet.model.history.branch import Point, Span
from ramet.model.history.compilation import Context
from ramet.model.history.content import TypeHints
from ramet.model.history.outline import Outline
from ramet.model.history.provider_messages import Renderer
from ramet.model.runs.window import Window

_MOST_BYTES = 40 * 2**20
"""Of contexts with their messages. It holds the context of 10,000 commits of 2 KB in one format."""
_MOST_WINDOW_BYTES = 16 * 2**20
_MOST_OUTLINE_BYTES = 8 * 2**20
PIECE_BYTES = 550
"""A piece and its place beside its text, measured with tracemalloc; as are the next two."""
_MESSAGE_BYTES = 700
"""A message beside its text. With a tool's call it has 750 bytes, without one 300."""
_SPECIAL_BYTES = 500

K = TypeVar("K")
V = TypeVar("V")


class Kept(Struct, frozen=True):
    """A context that leads to a commit, and its renderings."""

    point: Point
    revision: int
    hints: dict[str, TypeHints]
    context: Context
    renderers: dict[str, Renderer]
    text_bytes: int
    """The bytes of its texts."""

    @property
    def size(self) -> int:
        """About how many bytes it takes."""
        rendered = sum(
            renderer.count * _MESSAGE_BYTES + (self.text_bytes if renderer.copies_texts else 0)
            for renderer in self.renderers.values()
        )
        return self.text_bytes + len(self.context.pieces) * PIECE_BYTES + rendered


class KeptWindow(Struct, frozen=True):
    """The window of a run's conversation up to a commit."""

    point: Point
    revision: int
    hints: dict[str, TypeHints]
    window: Window


class KeptOutline(Struct):
    """What is visible of a history up to a commit."""

    commit_id: int
    revision: int
    hints: dict[str, TypeHints]
    outline: Outline
    tokens: int | None = None
    """Of all visible pieces, once somebody has asked for them."""


class Bounded(Generic[K, V]):
    """Values of known sizes, the most recently used last; those that were used longest ago make room."""

    def __init__(self, most_bytes: int) -> None:
        self._most_bytes = most_bytes
        self._kept: OrderedDict[K, tuple[int, V]] = OrderedDict()
        self._bytes = 0

    def __len__(self) -> int:
        return len(self._kept)

    @property
    def bytes(self) -> int:
        """About how many bytes they take."""
        return self._bytes

    def find(self, key: K) -> V | None:
        """A value, which is then the most recently used one."""
        kept = self._kept.get(key)
        if kept is None:
            return None
        self._kept.move_to_end(key)
        return kept[1]

    def values(self) -> list[V]:
        """All values."""
        return [value for _, value in self._kept.values()]

    def keep(self, key: K, value: V, size: int) -> None:
        """Keep a value, unless it is larger than all may be together."""
        before = self._kept.pop(key, None)
        if before is not None:
            self._bytes -= before[0]
        if size > self._most_bytes:
            return
        self._kept[key] = (size, value)
        self._bytes += size
        while self._bytes > self._most_bytes:
            _, (dropped, _) = self._kept.popitem(last=False)
            self._bytes -= dropped


class ContextCache:
    """Contexts by the commit that they lead to. Threads may share it."""

    def __init__(self) -> None:
        self.windows = WindowCache()
        self.outlines = OutlineCache()
        self._kept: Bounded[int, Kept] = Bounded(_MOST_BYTES)
        self._lock = threading.Lock()

    @property
    def bytes(self) -> int:
        """About how many bytes the contexts take."""
        return self._kept.bytes

    def find(self, commit_id: int, revision: int, hints: dict[str, TypeHints]) -> Kept | None:
        """The context that leads to a commit, if it is still as it was."""
        with self._lock:
            kept = self._kept.find(commit_id)
        return None if kept is None or (kept.revision, kept.hints) != (revision, hints) else kept

    def find_nearest(self, spans: list[Span], revision: int, hints: dict[str, TypeHints]) -> Kept | None:
        """The longest context that is kept and is a beginning of this one."""
        with self._lock:
            usable = [
                kept
                for kept in self._kept.values()
                if kept.revision == revision and kept.hints == hints and _is_within(kept.point, spans)
            ]
        return max(usable, key=lambda kept: kept.point.seq, default=None)

    def keep(self, kept: Kept) -> None:
        """Keep it with its renderings; without them if it is too large otherwise."""
        with self._lock:
            if kept.size > _MOST_BYTES:
                kept.renderers.clear()
            self._kept.keep(kept.point.commit_id, kept, kept.size)


class WindowCache:
    """Windows of runs, in the same way."""

    def __init__(self) -> None:
        self._kept: Bounded[tuple[int, int], KeptWindow] = Bounded(_MOST_WINDOW_BYTES)
        self._lock = threading.Lock()

    def list_beginnings(
        self, spans: list[Span], max_tokens: int, revision: int, hints: dict[str, TypeHints]
    ) -> list[KeptWindow]:
        """The windows of one size that are kept and are a beginning of this conversation, the longest first."""
        with self._lock:
            usable = [
                kept
                for kept in self._kept.values()
                if kept.window.max_tokens == max_tokens
                and (kept.revision, kept.hints) == (revision, hints)
                and _is_within(kept.point, spans)
            ]
        return sorted(usable, key=lambda kept: -kept.point.seq)

    def keep(self, kept: KeptWindow) -> None:
        """Keep it, and drop those that were kept longest ago."""
        with self._lock:
            size = sum(PIECE_BYTES + getsizeof(turn.content) for turn in kept.window.turns)
            size += len(kept.window.questions) * _MESSAGE_BYTES
            self._kept.keep((kept.point.commit_id, kept.window.max_tokens), kept, size)


class OutlineCache:
    """Outlines, in the same way."""

    def __init__(self) -> None:
        self._kept: Bounded[int, KeptOutline] = Bounded(_MOST_OUTLINE_BYTES)
        self._lock = threading.Lock()

    def find(self, commit_id: int, revision: int, hints: dict[str, TypeHints]) -> KeptOutline | None:
        """The outline up to a commit, if it is still as it was."""
        with self._lock:
            kept = self._kept.find(commit_id)
        return None if kept is None or (kept.revision, kept.hints) != (revision, hints) else kept

    def keep(self, kept: KeptOutline) -> None:
        """Keep it, and drop those that were used longest ago."""
        with self._lock:
            self._kept.keep(kept.commit_id, kept, (kept.outline.size + 1) * _SPECIAL_BYTES)


def _is_within(point: Point, spans: list[Span]) -> bool:
    return any(span.segment_id == point.segment_id and span.first <= point.seq <= span.last for span in spans)
