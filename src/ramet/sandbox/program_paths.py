"""Where the agent's own program is inside a sandbox, and what has to be mounted for it to run."""

import os
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from ramet.sandbox.plan import Mount

_PACKAGES = "node_modules"


class ProgramPath(NamedTuple):
    """A program as it is called inside."""

    path: str
    mounts: tuple[Mount, ...] = ()


def find(program: str, home: str, covered: Iterable[Mount]) -> ProgramPath:
    """The program behind its links, because the links are absent inside; what the other mounts have is left as it is.

    A program of npm's needs the packages beside it, and the interpreter that is installed with them.
    """
    mounts = tuple(covered)
    real = os.path.realpath(program)
    if _is_covered(real, mounts):
        return ProgramPath(program if _is_covered(program, mounts) else real)
    root = _package_root(Path(real), Path(home))
    return ProgramPath(real, (Mount(str(root), str(root)),))


def _package_root(real: Path, home: Path) -> Path:
    if _PACKAGES not in real.parts:
        return real
    packages = Path(*real.parts[: real.parts.index(_PACKAGES) + 1])
    prefix = packages.parent.parent
    has_interpreter = packages.parent.name == "lib" and (prefix / "bin" / "node").exists()
    return prefix if has_interpreter and not home.is_relative_to(prefix) else packages


def _is_covered(path: str, mounts: tuple[Mount, ...]) -> bool:
    return any(Path(path).is_relative_to(mount.path) for mount in mounts)
