"""The structure of the repository, as DESIGN promises it."""

import ast
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import ramet
from ramet.protocol.operations import OPERATIONS

TESTS = Path(__file__).parent
ROOT = TESTS.parent
SOURCE = Path(ramet.__file__).parent
SUBJECTS = ["history", "record", "runs", "spawn", "work", "landing", "hooks", "memory"]
"""In the order of their dependencies: each may import those before it."""
BY_SUBJECT = ["engine", "store", "store/sql/queries", "model", "protocol"]
MOST_ENTRIES = 15
CROWDED = {
    SOURCE: "the layers themselves, and the few modules below all of them",
    **{
        SOURCE / layer: "a folder for each subject, and what serves all of them"
        for layer in ("engine", "model", "protocol")
    },
    SOURCE / "store/sql/migrations/sqlite": "one file for each step of the schema",
    SOURCE / "store/sql/migrations/postgres": "one file for each step of the schema",
}
"""Folders that may have more entries, and why."""


def imported_names(path: Path) -> Iterator[str]:
    """The dotted name of everything that a file imports, wherever in it."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            module = node.module or ""
            yield module
            yield from (f"{module}.{alias.name}" for alias in node.names)


def is_test_module(name: str) -> bool:
    return name.rpartition(".")[2].startswith("test_")


def test_no_file_imports_a_test_module() -> None:
    """Test modules share code through a helper module beside them, which has no tests of its own."""
    found = {
        f"{path.relative_to(TESTS)}: {name}"
        for path in TESTS.rglob("*.py")
        for name in imported_names(path)
        if is_test_module(name)
    }
    assert found == set()


def entries(folder: Path) -> list[str]:
    return [each.name for each in folder.iterdir() if each.name not in ("__init__.py", "__pycache__")]


def contracts(kind: str) -> list[dict[str, Any]]:
    configuration = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"]
    return [contract for contract in configuration["contracts"] if contract["type"] == kind]


@pytest.mark.requirement("R318")
@pytest.mark.parametrize("layer", [SOURCE / layer for layer in BY_SUBJECT] + [TESTS / "conformance"], ids=str)
def test_a_layer_has_the_folder_of_every_subject(layer: Path) -> None:
    assert set(SUBJECTS) <= {each.name for each in layer.iterdir() if each.is_dir()}
    assert all(entries(layer / subject) for subject in SUBJECTS)


@pytest.mark.requirement("R318")
def test_the_command_line_the_daemon_and_the_runner_are_grouped_by_what_they_do() -> None:
    assert {"commands", "screens"} <= set(entries(SOURCE / "cli"))
    assert {"wire", "executors", "hooks"} <= set(entries(SOURCE / "daemon"))
    assert {"attempts", "processes", "settlement", "runs", "spawn"} <= set(entries(SOURCE / "runner"))


@pytest.mark.requirement("R318")
@pytest.mark.parametrize("layer", ["engine", "store", "model", "protocol"])
def test_a_contract_orders_the_subjects_of_each_layer(layer: str) -> None:
    (contract,) = [each for each in contracts("layers") if each["containers"] == [f"ramet.{layer}"]]
    assert contract["exhaustive"]
    assert [name for name in contract["layers"] if name in SUBJECTS] == SUBJECTS[::-1]


@pytest.mark.requirement("R318")
def test_a_contract_forbids_cycles_between_siblings() -> None:
    (contract,) = contracts("acyclic_siblings")
    assert contract["ancestors"] == ["ramet"]


@pytest.mark.requirement("R318")
def test_no_folder_is_crowded() -> None:
    folders = [SOURCE, *(path for path in SOURCE.rglob("*") if path.is_dir() and path.name != "__pycache__")]
    crowded = {folder: len(entries(folder)) for folder in folders if len(entries(folder)) > MOST_ENTRIES}
    assert {folder: count for folder, count in crowded.items() if folder not in CROWDED} == {}


NAMED_ON_PURPOSE = {
    "client/": "imports only the standard library, so it cannot import the requests",
    "hooks/shim.py": "imports nothing at all: an agent waits for it",
    "keeper/daemon_reports.py": "one keeper runs for each agent, and importing requests is a tenth of its start",
}
"""Where operations are called by their wire names."""


def operation_names(path: Path) -> Iterator[tuple[int, str]]:
    """The names of operations that a module has as strings of their own."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value in OPERATIONS:
            yield node.lineno, node.value


@pytest.mark.requirement("R320")
def test_no_operation_is_called_by_string() -> None:
    events = set(re.findall(r'"([a-z_]+\.[a-z_]+)"', (SOURCE / "model" / "event.py").read_text(encoding="utf-8")))
    found = [
        f"{path.relative_to(SOURCE)}:{line}: {name}"
        for path in SOURCE.rglob("*.py")
        for line, name in operation_names(path)
        if path.relative_to(SOURCE).parts[0] != "protocol"
        and not str(path.relative_to(SOURCE)).startswith(tuple(NAMED_ON_PURPOSE))
        and name not in events
    ]
    assert found == []


@pytest.mark.requirement("R320")
def test_the_search_for_calls_by_string_finds_some() -> None:
    assert {name for _, name in operation_names(SOURCE / "client" / "connection.py")} >= {"events.subscribe"}


ASKING = """
from ramet.cli.invocation import Invocation
from ramet.daemon.executors.requester import Requester
from ramet.protocol.work.queue import GetWork


def show(invocation: Invocation) -> str | None:
    return invocation.ask(GetWork(effort_id=1)).{field}


async def look(requester: Requester) -> str | None:
    return (await requester.ask(GetWork(effort_id=1))).{field}
"""


def check_types(module: str, folder: Path) -> str:
    """What the type checker says of a module."""
    (folder / "asking.py").write_text(module, encoding="utf-8")
    command = [sys.executable, "-m", "mypy", "--strict", "--follow-imports=silent", "--cache-dir", "cache", "asking.py"]
    return subprocess.run(command, capture_output=True, text=True, check=False, cwd=folder).stdout


@pytest.mark.requirement("R320")
@pytest.mark.timeout(900)
def test_a_misspelt_field_of_a_reply_fails_type_checking(tmp_path: Path) -> None:
    assert "Success" in check_types(ASKING.format(field="prompt"), tmp_path)
    assert check_types(ASKING.format(field="promt"), tmp_path).count('has no attribute "promt"') == 2


PLAIN_NOUNS = set(
    """
    branch byte channel child commit compiler composition compression connection content context
    conversation daemon database effort engine event exit feed file garbage identity json kernel kill lifecycle limit
    line listener log loop machine merge model name operation output pid prompt preparation process result review
    secret server service setup socket start subscription sweep text thread time timing tree undo usage work
    calling repeated unrecorded
    checkout fact made redacted why call move partial snapshot memory
    """.split()  # noqa: SIM905
)
"""Words of module names that mean what every programmer takes them for."""


def glossary_words() -> set[str]:
    """Every word of a defined term."""
    rows = re.findall(
        r"^\| ([a-z][a-z ]*) \|", (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8"), re.MULTILINE
    )
    bold = re.findall(r"\*\*([a-z ]+)\*\*", (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8"))
    return {word for term in [*rows, *bold] for word in [term, *term.split()]}


def singular(word: str) -> str:
    if word == "children":
        return "child"
    if word.endswith("ies"):
        return f"{word[:-3]}y"
    return word[:-2] if word.endswith(("ches", "shes", "sses")) else word.removesuffix("s")


@pytest.mark.requirement("R322")
@pytest.mark.parametrize("layer", ["engine", "runner", "daemon", "keeper"])
def test_every_module_is_named_by_words_that_are_defined_or_plain(layer: str) -> None:
    known = glossary_words() | PLAIN_NOUNS
    modules = {path.stem for path in (SOURCE / layer).rglob("[a-z]*.py")}
    unknown = {
        module
        for module in modules
        if not {module, singular(module)} & known
        and not all({word, singular(word)} & known for word in module.split("_"))
    }
    assert unknown == set()


@pytest.mark.requirement("R322")
def test_no_module_is_named_by_an_activity() -> None:
    activities = {path.stem for path in SOURCE.rglob("[a-z]*.py") if path.stem.endswith("ing")}
    assert activities <= {"briefing", "landing"}, "name the thing, not what is done with it"


@pytest.mark.requirement("R322")
def test_no_plain_noun_is_kept_for_a_module_that_is_gone() -> None:
    layers = ("engine", "runner", "daemon", "keeper")
    used = {word for layer in layers for path in (SOURCE / layer).rglob("[a-z]*.py") for word in path.stem.split("_")}
    assert {word for word in PLAIN_NOUNS if word not in {singular(each) for each in used} | used} == set()
