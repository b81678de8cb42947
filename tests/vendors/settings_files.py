"""Our hooks in a settings file of an agent program."""

from pathlib import Path

from ramet.hooks import installation
from ramet.installer.changes import Change, apply
from ramet.vendors.contract.hooks.settings import Program


def install(program: Program, file: Path, *, status_line: bool = False) -> Change:
    change = installation.plan_install(program, file, file.parent, status_line=status_line)
    apply(change)
    return change


def remove(program: Program, file: Path) -> Change:
    change = installation.plan_remove(program, file, file.parent)
    apply(change)
    return change


def write(file: Path, text: str) -> None:
    file.parent.mkdir(exist_ok=True)
    file.write_bytes(text.encode())
