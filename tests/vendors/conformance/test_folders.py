"""Every vendor's folder: what its parts are, what they may import, and that each part is recorded."""

import ast
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import pytest
from tests.vendors.fixtures import PARTS, VENDORS, files_of

import ramet.vendors
from ramet.vendors import registry
from ramet.vendors.contract.driver_protocol import Driver
from ramet.vendors.contract.hooks.protocol import Hooks
from ramet.vendors.contract.hooks.settings import Program
from ramet.vendors.contract.stored_files.session_sources import Sessions
from ramet.vendors.contract.tool_settings import JsonTools, TomlTools
from ramet.vendors.contract.transcript_lines import Transcripts
from ramet.vendors.contract.vendor_facts import Facts
from ramet.vendors.contract.vendor_state import State
from ramet.vendors.registry import Part

FOLDER = Path(ramet.vendors.__path__[0])
KINDS: dict[Part, tuple[type, ...]] = {
    "driver": (Driver,),
    "facts": (Facts,),
    "hooks": (Hooks,),
    "settings": (Program,),
    "sessions": (Sessions,),
    "state": (State,),
    "tools": (JsonTools, TomlTools),
    "transcript": (Transcripts,),
}
SHARED = "contract"

UNRECORDED = [(vendor, part) for part in ("facts", "state") for vendor in registry.names(part)]
"""Parts that are plain data: there is nothing of a program's to record."""

each_vendor = pytest.mark.parametrize("vendor", VENDORS)


def imported_vendors(folder: Path) -> Iterator[str]:
    """The first name below `ramet.vendors` of everything that a folder's modules import."""
    for path in folder.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("ramet.vendors."):
                yield (node.module or "").split(".")[2]
            elif isinstance(node, ast.ImportFrom) and node.module == "ramet.vendors":
                yield from (alias.name for alias in node.names)
            elif isinstance(node, ast.Import):
                yield from (alias.name for alias in node.names if alias.name.startswith("ramet.vendors"))


def test_every_folder_but_the_contract_is_a_vendor() -> None:
    folders = {path.parent.name for path in FOLDER.glob("*/__init__.py")}
    assert set(VENDORS) == folders - {SHARED}
    assert set(registry.PREFERRED) <= set(registry.names("driver"))


@pytest.mark.requirement("R321")
@pytest.mark.parametrize(("vendor", "part"), PARTS)
def test_a_part_has_recorded_fixtures(vendor: str, part: Part) -> None:
    assert files_of(vendor, part)


@pytest.mark.parametrize(("vendor", "part"), [*PARTS, *UNRECORDED])
def test_a_part_is_one_value_of_the_contract_s_kind_named_after_its_vendor(vendor: str, part: Part) -> None:
    value = getattr(import_module(f"ramet.vendors.{vendor}.{part}"), part.upper())
    assert isinstance(value, KINDS[part])
    assert getattr(value, "name", vendor) == vendor


@each_vendor
def test_a_vendor_s_folder_imports_itself_and_the_contract_only(vendor: str) -> None:
    assert set(imported_vendors(FOLDER / vendor)) <= {vendor, SHARED}


def test_the_contract_imports_no_vendor_and_no_registry() -> None:
    assert set(imported_vendors(FOLDER / SHARED)) <= {SHARED}


@pytest.mark.parametrize("vendor", registry.names("driver"))
def test_a_driver_s_stream_is_read_in_a_module_of_its_own(vendor: str) -> None:
    assert (FOLDER / vendor / "stream.py").is_file()


@each_vendor
def test_every_variable_that_names_a_session_is_kept_from_other_agents(vendor: str) -> None:
    facts = registry.facts()[vendor]
    telling = {*facts.session_variables, *filter(None, [facts.server_session_variable])}
    assert telling <= facts.own_variables
    assert facts.own_variables <= registry.own_variables()


@each_vendor
def test_facts_agree_with_the_other_parts(vendor: str) -> None:
    facts, hooks, settings = registry.facts()[vendor], registry.hooks().get(vendor), registry.settings().get(vendor)
    assert facts.shows_status_line == bool(settings and settings.status_line)
    assert facts.directive_file == (hooks.own_directives.name if hooks else None)
    assert facts.title not in [each.title for name, each in registry.facts().items() if name != vendor]


def test_settings_have_an_entry_for_every_hook_that_is_read() -> None:
    assert {name: each.events for name, each in registry.settings().items()} == {
        name: each.events for name, each in registry.hooks().items()
    }
