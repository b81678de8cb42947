"""A disk that forgets: what was not flushed when the power went may be there, in part, or not at all.

SQLite works on real files; beside them this disk keeps, for each file, the bytes that are surely on the platter and the
writes that came after the last flush. At any moment `cut` makes files as they might be found after a power cut: each
write that was not flushed is there, missing, or torn at a sector, by the choice of a seeded generator.
"""

import itertools
import random
from collections.abc import Callable
from pathlib import Path

import apsw

SECTOR = 512

_names = itertools.count()


class Platter:
    """One file: what is surely there, and what was written since the last flush."""

    def __init__(self) -> None:
        self.content = bytearray()
        self.unflushed: list[tuple[int, bytes] | int] = []

    def flush(self) -> None:
        for change in self.unflushed:
            apply(self.content, change)
        self.unflushed.clear()

    def after_power_cut(self, chance: random.Random) -> bytes:
        found = bytearray(self.content)
        survival = chance.choice([0.0, 0.3, 0.7, 1.0])
        for change in self.unflushed:
            if chance.random() < survival:
                apply(found, tear(change, chance))
        return bytes(found)


def apply(content: bytearray, change: tuple[int, bytes] | int) -> None:
    """Write at an offset, or truncate to a size."""
    if isinstance(change, int):
        del content[change:]
        content.extend(bytes(change - len(content)))
        return
    offset, data = change
    content.extend(bytes(max(0, offset - len(content))))
    content[offset : offset + len(data)] = data


def tear(change: tuple[int, bytes] | int, chance: random.Random) -> tuple[int, bytes] | int:
    """Sometimes only the first sectors of a write have arrived."""
    if isinstance(change, int) or len(change[1]) <= SECTOR or chance.random() < 0.7:
        return change
    return change[0], change[1][: SECTOR * chance.randrange(1, -(-len(change[1]) // SECTOR))]


class Disk(apsw.VFS):
    """The usual disk, with a record of what is on the platter; `on_change` is called before every change."""

    def __init__(self, on_change: Callable[[], None]) -> None:
        self.name = f"forgetful-disk-{next(_names)}"
        self.platters: dict[str, Platter] = {}
        self._on_change = on_change
        super().__init__(self.name, "")

    def xOpen(self, name: apsw.URIFilename | str | None, flags: list[int]) -> apsw.VFSFile:  # noqa: N802
        return DiskFile(self, name, flags)

    def xDelete(self, filename: str, syncdir: bool) -> None:  # noqa: N802
        super().xDelete(filename, syncdir)
        self.platters.pop(Path(filename).name, None)

    def changing(self) -> None:
        self._on_change()

    def cut(self, folder: Path, chance: random.Random) -> None:
        """Leave in `folder` what would be found if the power went now."""
        folder.mkdir()
        for name, platter in self.platters.items():
            (folder / name).write_bytes(platter.after_power_cut(chance))


class DiskFile(apsw.VFSFile):
    """A file on that disk."""

    def __init__(self, disk: Disk, name: apsw.URIFilename | str | None, flags: list[int]) -> None:
        filename = name.filename() if isinstance(name, apsw.URIFilename) else str(name)
        self._disk = disk
        self._platter = disk.platters.setdefault(Path(filename).name, Platter())
        super().__init__("", name, flags)

    def xWrite(self, data: bytes, offset: int) -> None:  # noqa: N802
        self._disk.changing()
        super().xWrite(data, offset)
        self._platter.unflushed.append((offset, bytes(data)))

    def xTruncate(self, size: int) -> None:  # noqa: N802
        self._disk.changing()
        super().xTruncate(size)
        self._platter.unflushed.append(size)

    def xSync(self, flags: int) -> None:  # noqa: N802
        self._disk.changing()
        super().xSync(flags)
        self._platter.flush()
