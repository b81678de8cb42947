"""Everything that the agent started, as one: how much it computes, and how it is ended.

psutil is only imported when somebody has to be looked at or ended: most agents leave nothing behind.
"""

from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from ramet.model.work.stream import EndedProcess
from ramet.protocol.work.keepers import KeeperSpec
from ramet.runner.processes import keepers

if TYPE_CHECKING:
    import psutil

    from ramet.runner.processes.process_tree import Ending


class Tree:
    """The agent's processes, which on Linux are all below the keeper, whoever their parents were."""

    def __init__(self, spec: KeeperSpec, root: int) -> None:
        self._spec = spec
        self._root = root
        self._ending: Ending | None = None
        self.spared: set[int] = set()
        """Processes of the keeper's own, which are not the agent's."""
        self.advance_at = float("inf")
        """When to call `advance`."""
        self.gone_at: float | None = None
        """When nothing was left of it."""

    @property
    def is_ending(self) -> bool:
        """Whether its end has begun."""
        return self._ending is not None or self.gone_at is not None

    @property
    def ended(self) -> list[EndedProcess]:
        """What had to be ended by force."""
        return self._ending.ended if self._ending else []

    @property
    def left(self) -> list[EndedProcess]:
        """What could not be ended."""
        return self._ending.left if self._ending else []

    def cpu_seconds(self) -> float:
        """How long it has computed so far."""
        from ramet.runner.processes import process_tree  # noqa: PLC0415  see above

        return process_tree.cpu_seconds(self._find())

    def end(self, group: int, grace_seconds: float, now: float) -> None:
        """Begin to end it: the group is asked, then everybody is told, then killed."""
        from ramet.runner.processes.process_tree import Ending  # noqa: PLC0415  see above

        self._ending = Ending(self._find, grace_seconds, group=group, sweep=self._sweep)
        self.advance(now)

    def advance(self, now: float) -> None:
        """Go on with what was begun."""
        assert self._ending is not None  # noqa: S101
        pause = self._ending.advance(now)
        if pause is None:
            self.vanish(now)
        else:
            self.advance_at = now + pause

    def vanish(self, now: float) -> None:
        """Nothing of it is left."""
        self.advance_at = float("inf")
        self.gone_at = now

    def _sweep(self) -> None:
        from ramet.runner.processes.process_sweep import sweep  # noqa: PLC0415  see above

        sweep(self._spec.instance, _daemon(self._spec.socket) | self.spared)

    def _find(self) -> "list[psutil.Process]":
        """All of it, but not a daemon that it started, nor what other keepers hold: these are everybody's."""
        from ramet.runner.processes.process_tree import find  # noqa: PLC0415  see above

        folder = Path(self._spec.folder)
        others = set(keepers.list_instances(folder.parent)) - {self._spec.instance}
        return find(
            self._spec.instance, root=self._root, spared=_daemon(self._spec.socket) | self.spared, others=others
        )


def _daemon(socket_path: str) -> set[int]:
    """The daemon's pid, from the file beside its socket."""
    with suppress(OSError, ValueError):
        return {int(Path(socket_path).with_suffix(".pid").read_text("ascii"))}
    return set()
