"""The table of layers in AGENTS.md is what the code does."""

import ast
import re
from pathlib import Path

from tests.docs.pages import ROOT

SOURCE = ROOT / "src" / "ramet"
LAYERS = {folder.name for folder in SOURCE.iterdir() if (folder / "__init__.py").exists()}


def read_table() -> dict[str, set[str]]:
    """For each layer the others that it may import."""
    rows = re.findall(r"^\| (`.+?) \| (.+) \|$", (ROOT / "AGENTS.md").read_text(encoding="utf-8"), re.MULTILINE)
    table: dict[str, set[str]] = {}
    for layers, others in reversed(rows):
        allowed = set(table) if "everything below" in others else {*re.findall(r"`(\w+)`", others)}
        table |= dict.fromkeys(re.findall(r"`(\w+)`", layers), allowed)
    return table


def list_imports(file: Path) -> set[str]:
    """The parts of Ramet that a file imports, wherever in it."""
    names = []
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module == "ramet":
            names += [f"ramet.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names.append(node.module or "")
        elif isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
    return {name.split(".")[1] for name in names if name.startswith("ramet.")}


def test_every_layer_has_a_row_and_imports_only_what_it_says() -> None:
    table = read_table()
    assert set(table) == LAYERS
    found = {
        f"{file.relative_to(SOURCE)}: {other}"
        for layer in LAYERS
        for file in (SOURCE / layer).rglob("*.py")
        for other in (list_imports(file) & LAYERS) - table[layer] - {layer}
    }
    assert found == set()
