"""Our block in a repository's `info/exclude`: names of files that git ignores in this clone, and for nobody else.

What is around the block keeps every byte. Names are added to a block that is there; it is removed as a whole.
"""

import re
from collections.abc import Iterable
from pathlib import Path

from ramet.installer import scoped_files
from ramet.installer.changes import Change, State

OWNER = "git"
"""The program whose file it is, in changes and in the record of installations."""
_BEGIN = "# >>> ramet init --scope local; `ramet init --remove` takes this block away"
_END = "# <<< ramet init"
_BLOCK = re.compile(rf"\n{re.escape(_BEGIN)}\n(?P<names>[^<]*?){re.escape(_END)}\n")


def plan_install(common: Path, names: Iterable[str]) -> Change:
    """The change that excludes some files: names from the top of the checkout. `common` is the repository's folder."""
    file, before = _read(common)
    known = _names(before)
    wanted = list(dict.fromkeys([*known, *(f"/{_escape(name)}" for name in names)]))
    if wanted == known:
        return Change(OWNER, file, before, before, "installed", common)
    block = "".join(f"{line}\n" for line in ("", _BEGIN, *wanted, _END))
    state: State = "outdated" if known else "absent"
    return Change(OWNER, file, before, f"{_without(before)}{block}", state, common)


def plan_remove(common: Path) -> Change:
    """The change that takes our block out; the file too, if the block is all that it has."""
    file, before = _read(common)
    if not _names(before):
        return Change(OWNER, file, before, before, "absent", common)
    return Change(OWNER, file, before, _without(before) or None, "installed", common)


def _read(common: Path) -> tuple[Path, str | None]:
    file = common / "info" / "exclude"
    return file, scoped_files.read(file, common)


def _names(text: str | None) -> list[str]:
    found = _BLOCK.search(text or "")
    return found["names"].splitlines() if found else []


def _without(text: str | None) -> str:
    return _BLOCK.sub("", text or "")


def _escape(name: str) -> str:
    """As a pattern that matches this name alone."""
    return re.sub(r"([\\*?\[ ])", r"\\\1", name)
