"""How long things take that have to be quick: of each kind the latest, from which the percentiles are told."""

from collections import deque

from ramet.protocol.hooks.hooks import HookTiming, HookTimings

_KEPT = 500
_MOST_KINDS = 200
"""A program that makes up names for its hooks fills nothing."""


class Timings:
    """The hooks that were answered since the daemon started."""

    def __init__(self) -> None:
        self._kinds: dict[tuple[str, str], _Kind] = {}

    def add(self, vendor: str, event: str, seconds: float, *, has_failed: bool) -> None:
        """One more was answered."""
        if (vendor, event) not in self._kinds and len(self._kinds) >= _MOST_KINDS:
            vendor, event = "other", "other"
        kind = self._kinds.setdefault((vendor, event), _Kind())
        kind.count += 1
        kind.failed += has_failed
        kind.latest.append(seconds * 1000)

    def show(self) -> HookTimings:
        """All of it, the most frequent first."""
        rows = [kind.row(vendor, event) for (vendor, event), kind in self._kinds.items()]
        return HookTimings(items=sorted(rows, key=lambda row: (-row.count, row.vendor, row.event)))


class _Kind:
    """One hook of one vendor."""

    def __init__(self) -> None:
        self.count = 0
        self.failed = 0
        self.latest: deque[float] = deque(maxlen=_KEPT)

    def row(self, vendor: str, event: str) -> HookTiming:
        ordered = sorted(self.latest)
        return HookTiming(
            vendor=vendor,
            event=event,
            count=self.count,
            failed=self.failed,
            p50_ms=round(ordered[len(ordered) // 2], 3),
            p95_ms=round(_percentile(ordered, 0.95), 3),
            p99_ms=round(_percentile(ordered, 0.99), 3),
        )


def _percentile(ordered: list[float], share: float) -> float:
    return ordered[min(len(ordered) - 1, int(len(ordered) * share))]
