"""The pages, and the blocks of code in them.

A `sh` block is run by the tests, a `python` block too; what is only to be read is a `text`, `json`, `sql` or `mermaid`
block.
"""

import re
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]

PAGES = sorted(
    path
    for path in [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]
    if path.relative_to(ROOT).parts[:2] != ("docs", "reference")
)
"""Every page that is written by hand."""

EVERY_PAGE = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])

_BLOCK = re.compile(r"^```(?P<language>\w*)\n(?P<code>.*?)^```$", re.MULTILINE | re.DOTALL)

LANGUAGES = {"sh", "python", "text", "json", "sql", "mermaid", "yaml"}


class Block(NamedTuple):
    """One fenced block."""

    language: str
    code: str


def blocks(page: Path) -> list[Block]:
    """The fenced blocks of a page, in order."""
    found = _BLOCK.finditer(page.read_text(encoding="utf-8"))
    return [Block(match["language"], match["code"]) for match in found]


def code(page: Path, language: str) -> str:
    """All blocks of one language as one program: what a reader types from top to bottom."""
    return "\n".join(block.code for block in blocks(page) if block.language == language)


def prose(page: Path) -> str:
    """The page without its blocks."""
    return _BLOCK.sub("", page.read_text(encoding="utf-8"))


def name(page: Path) -> str:
    return str(page.relative_to(ROOT))


def pages_with(language: str) -> list[Path]:
    return [page for page in PAGES if code(page, language)]
