"""Telling agent programs of the server, in the files that a project has for them; and taking it back."""

from functools import partial
from pathlib import Path

from ramet.errors import ConfigError
from ramet.installer import changes, json_entries, toml_block
from ramet.installer.changes import Change, State
from ramet.vendors.tool_registry import VENDORS, Vendor, codex_block


def plan_install(name: str, project: Path, command: str) -> Change:
    """The change that adds our entry, or brings it up to date. Somebody else's entry of our name is left alone."""
    vendor = VENDORS[name]
    file, before = _read(vendor, project)
    state = _look(vendor, file, before, command)
    after = before
    if state == "absent":
        after = _install(vendor, before, command)
    elif state == "outdated" and before is not None:
        after = _install(vendor, _remove(vendor, before), command)
    return Change(name, file, before, after, state)


def plan_remove(name: str, project: Path) -> Change:
    """The change that takes our entry out, and nothing else."""
    vendor = VENDORS[name]
    file, before = _read(vendor, project)
    state = _look(vendor, file, before, command="")
    is_ours = before is not None and state in ("installed", "outdated")
    return Change(name, file, before, _remove(vendor, before) if is_ours and before is not None else before, state)


def _read(vendor: Vendor, project: Path) -> tuple[Path, str | None]:
    """The file that the program reads, and its text as it is, line ends included."""
    paths = [project / name for name in vendor.files]
    file = next((path for path in paths if path.exists()), paths[0])
    return file, changes.read(file)


def _look(vendor: Vendor, file: Path, text: str | None, command: str) -> State:
    if text is None:
        return "absent"
    try:
        return _state(vendor, text, command)
    except ConfigError as error:
        raise ConfigError(f"{file}: {error.message}", fix=error.fix) from error


def _state(vendor: Vendor, text: str, command: str) -> State:
    if vendor.json_entry is None:
        return _toml_state(vendor, text, command)
    entry = json_entries.find(text, vendor.table)
    if entry is None:
        return "absent"
    if (made := json_entries.made(entry)) is None:
        return "foreign"
    return "installed" if entry == vendor.json_entry(command, made) else "outdated"


def _toml_state(vendor: Vendor, text: str, command: str) -> State:
    if "ramet" in toml_block.read(text).get(vendor.table, {}):
        return "foreign"
    block = toml_block.find(text)
    if block is None:
        return "absent"
    return "installed" if block == codex_block(command) else "outdated"


def _install(vendor: Vendor, text: str | None, command: str) -> str:
    if vendor.json_entry is None:
        return toml_block.install(text, codex_block(command))
    return json_entries.install(text, vendor.table, partial(vendor.json_entry, command))


def _remove(vendor: Vendor, text: str) -> str | None:
    return toml_block.remove(text) if vendor.json_entry is None else json_entries.remove(text, vendor.table)
