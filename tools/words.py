"""Find phrases that readers stumble over: `python tools/words.py [PATH...]` lists them; exits with 1 if it finds any.

It reads what people and agents read: the pages outside code blocks, and the texts in `src/`: every string literal, and
the docstrings that become help, error messages and the reference. It reads no other docstring and no name.
"""

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]

PHRASES = {
    r"(?:go|goes|going|went|gone) on\b(?! (?:stderr|disk))": "continue, run, keep",
    r"mend(?:s|ed|ing)?\b": "fix",
    r"heed(?:s|ed|ing)?\b": "follow, read, use",
    r"(?-i:[Bb]eg[iau]n(?:s|ning|nings)?)\b": "start",
    r"(?:stand|stands|stood|standing)\b": "is, appears; replaces",
    r"(?:tend|tends|tended|lend|lends|lent)\b": "run; give",
    r"look(?:s|ed|ing)? at\b": "show, check",
    r"let(?:s|ting)? go\b": "release",
    r"anew\b": "again",
    r"in vain\b": "without success, failed",
    r"where (?:none|no|not|nothing|nobody|there is|there are|something|one is|it is not|that is)\b": "if",
    r"(?:some|any|no)body\b": "a person, another agent; passive",
    r"who(?:m|so)?ever\b": "the caller, the owner",
    r"whatever\b": "anything; regardless of",
    r"(?:is|are|was|were|be|been|being|get|gets) told\b": "receives, sees, is notified",
    r"(?:hears?|heard)\b": "receives, records",
    r"may be repeated\b": "(repeatable)",
    r"the higher, the\b": "higher runs first",
    r"in the place of\b": "replace",
    r"(?:what|which) comes of it\b": "the result",
    r"as there may be\b": "the limit",
    r"at work\b": "running, working",
    r"be it\b": "whether",
    r"without a word\b": "silently",
    r"to look at\b": "warnings",
    r"works? off\b": "run",
    r"is at, in\b": "progress",
    r"one too many\b": "give only one of",
    r"be of the same version\b": "have the same version",
    r"as hard as can be\b": "with SIGKILL",
}
"""What not to write, and what to write instead. The start of a phrase is the start of a word."""

_PATTERN = re.compile("|".join(rf"(?P<p{index}>\b{phrase})" for index, phrase in enumerate(PHRASES)), re.IGNORECASE)
_INSTEAD = list(PHRASES.values())
_BLOCK = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
_CODE = re.compile(r"`[^`\n]*`")

SPOKEN = ("src/ramet/errors.py", "src/ramet/protocol", "src/ramet/cli/commands", "src/ramet/config", "src/ramet/mcp")
"""Where docstrings are messages, help or reference."""


class Finding(NamedTuple):
    """One phrase in one line."""

    place: str
    line: int
    phrase: str
    instead: str


def check(paths: list[Path]) -> Iterator[Finding]:
    """The findings in files and folders."""
    for path in paths:
        files = sorted(path.rglob("*")) if path.is_dir() else [path]
        for file in files:
            if file.suffix in (".md", ".py"):
                yield from _check_file(file)


def list_texts(file: Path) -> Iterator[tuple[int, str]]:
    """The texts of a file that people read, each with its first line."""
    source = file.read_text(encoding="utf-8")
    if file.suffix == ".md":
        blanked = _BLOCK.sub(lambda block: "\n" * block[0].count("\n"), source)
        yield 1, _CODE.sub("", blanked)
        return
    tree = ast.parse(source)
    name = file.relative_to(ROOT).as_posix() if file.is_relative_to(ROOT) else file.name
    silent = set() if name.startswith(SPOKEN) else _docstrings(tree)
    for node in ast.walk(tree):
        if not isinstance(node, ast.Constant) or not isinstance(node.value, str) or id(node) in silent:
            continue
        if " " in node.value:  # a single word is a name, such as that of an operation
            yield node.lineno, _CODE.sub("", node.value)


def _docstrings(tree: ast.Module) -> set[int]:
    """The docstrings of modules, classes and functions, and the strings below attributes."""
    return {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}


def _check_file(file: Path) -> Iterator[Finding]:
    for first, text in list_texts(file):
        for match in _PATTERN.finditer(text):
            line = first + text.count("\n", 0, match.start())
            place = str(file.relative_to(ROOT)) if file.is_relative_to(ROOT) else str(file)
            yield Finding(place, line, match[0], _INSTEAD[int((match.lastgroup or "p0")[1:])])


def main(arguments: list[str]) -> int:
    """Print the findings; the exit status."""
    paths = [Path(argument).resolve() for argument in arguments] or [*ROOT.glob("*.md"), ROOT / "docs", ROOT / "src"]
    findings = list(check(paths))
    for found in findings:
        print(f"{found.place}:{found.line}: {found.phrase!r}; write: {found.instead}")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
