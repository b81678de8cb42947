"""The files in which vendors' programs are told of our MCP server, in a project of their own."""

import json
import tomllib
from pathlib import Path
from typing import Any

from ramet.installer.changes import Change, apply
from ramet.mcp import installation
from ramet.vendors import registry


def install(name: str, project: Path, command: str = "ramet") -> Change:
    change = installation.plan_install(name, installation.find_place(name, project), command)
    apply(change)
    return change


def remove(name: str, project: Path) -> Change:
    change = installation.plan_remove(name, installation.find_place(name, project))
    apply(change)
    return change


def file_of(name: str, project: Path) -> Path:
    """The file that is made if there is none."""
    return project / registry.tools()[name].files[0]


def write(project: Path, name: str, text: str) -> Path:
    file = file_of(name, project)
    file.parent.mkdir(exist_ok=True)
    file.write_bytes(text.encode())
    return file


def parse(name: str, text: str) -> dict[str, Any]:
    is_toml = registry.tools()[name].files[0].endswith(".toml")
    return tomllib.loads(text) if is_toml else dict(json.loads(text.removeprefix("\ufeff")))


def servers(name: str, text: str) -> dict[str, Any]:
    found: dict[str, Any] = parse(name, text)[registry.tools()[name].table]
    return found
