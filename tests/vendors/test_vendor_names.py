"""All knowledge of a vendor is in its folder: outside of it nothing in the package even names it."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import ramet
from ramet.vendors import registry

PACKAGE = Path(ramet.__path__[0])
GENERIC = {"command", "cursor", "shell"}
"""Folders whose names are words that mean other things, too."""
REGISTRY = "vendors/registry.py"
EXCEPTIONS = {
    "hooks/shim.py": (
        "imports nothing, because an agent waits for it at every tool call; so it cannot ask which variable has the "
        "program's pid"
    ),
    "config/prices/prices.json": "names models, and some models are called like the program of their provider",
}
"""Files that name a vendor for a reason that is written here."""


def words_of(vendor: str) -> list[str]:
    """What a vendor is called: its folder, and the name of its program."""
    return [vendor, registry.facts()[vendor].title]


def named_vendors(text: str) -> list[str]:
    """The vendors that a text names, in any case and inside any other word."""
    vendors = [vendor for vendor in registry.names("facts") if vendor not in GENERIC]
    return [
        vendor
        for vendor in vendors
        if any(re.search(re.escape(word), text, re.IGNORECASE) for word in words_of(vendor))
    ]


def source_files() -> Iterator[tuple[str, str]]:
    """Every file of the package, its path from there and what it says."""
    for path in sorted(PACKAGE.rglob("*")):
        if path.is_file() and "__pycache__" not in path.parts:
            yield path.relative_to(PACKAGE).as_posix(), path.read_bytes().decode(errors="replace")


def find_names() -> dict[str, list[str]]:
    """The files that name a vendor outside of its own folder, and whom they name."""
    found = {}
    for name, text in source_files():
        foreign = [vendor for vendor in named_vendors(text) if not name.startswith(f"vendors/{vendor}/")]
        if foreign:
            found[name] = foreign
    return found


@pytest.mark.requirement("R321")
def test_no_file_but_the_registry_names_a_vendor_outside_of_its_folder() -> None:
    found = find_names()
    assert {name: vendors for name, vendors in found.items() if name not in {REGISTRY, *EXCEPTIONS}} == {}


@pytest.mark.requirement("R321")
def test_every_exception_is_one_and_has_its_reason() -> None:
    assert {REGISTRY, *EXCEPTIONS} <= find_names().keys()
    assert all(reason for reason in EXCEPTIONS.values())


@pytest.mark.requirement("R321")
def test_the_registry_names_only_the_preferred_vendors() -> None:
    assert tuple(find_names()[REGISTRY]) == registry.PREFERRED


def test_a_vendor_is_found_by_its_folder_and_by_its_title() -> None:
    assert named_vendors("CODEX_HOME and a Claude Code session") == ["claude", "codex"]
    assert named_vendors("a shell command") == []
