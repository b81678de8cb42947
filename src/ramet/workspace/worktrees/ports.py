"""Ports of worktrees: each has ten that no other live worktree has, so that agents can start servers side by side."""

import fcntl
import hashlib
import os
import socket
from collections.abc import Iterator
from pathlib import Path

from msgspec.structs import replace

from ramet.errors import WorktreeError
from ramet.workspace.worktrees import labels

VARIABLE = "RAMET_PORT_BASE"
BLOCK = 10
_FIRST, _LAST = 20_000, 32_000
"""Below the ports that Linux gives to outgoing connections."""


def read(top: Path) -> int | None:
    """The first port of a worktree; None if it has none."""
    label = labels.read(top.parent, top.name)
    return label.port_base if label else None


def reserve(folder: Path, top: Path) -> int | None:
    """The first port of a worktree below `folder`, chosen now if it has none; None if it is not one of ours."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)  # held for milliseconds
        label = labels.read(top.parent, top.name)
        if label is None or label.port_base is not None:
            return label.port_base if label else None
        taken = set(_list_taken(folder))
        found = next((base for base in _candidates(folder) if base not in taken and _is_free(base)), None)
        if found is None:
            raise WorktreeError(
                f"no {BLOCK} ports in a row are free between {_FIRST} and {_LAST}",
                fix="remove old worktrees with `ramet worktree clean`",
            )
        labels.write(top.parent, top.name, replace(label, port_base=found))
        return found
    finally:
        os.close(descriptor)


def _list_taken(folder: Path) -> Iterator[int]:
    """The blocks of the worktrees that are there."""
    for place in (entry for entry in folder.iterdir() if entry.is_dir()):
        for name in labels.labelled(place):
            label = labels.read(place, name) if (place / name).is_dir() else None
            if label is not None and label.port_base is not None:
                yield label.port_base


def _candidates(folder: Path) -> Iterator[int]:
    """Every block once. Folders of worktrees begin at different ones: another Ramet's blocks are not known here."""
    blocks = (_LAST - _FIRST) // BLOCK
    first = int(hashlib.sha256(os.fsencode(folder)).hexdigest()[:8], 16)
    return (_FIRST + (first + number) % blocks * BLOCK for number in range(blocks))


def _is_free(base: int) -> bool:
    for port in range(base, base + BLOCK):
        with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind(("", port))
            except OSError:
                return False
    return True
