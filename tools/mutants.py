"""Change one thing in the code, run the tests that should notice, and report which changes nobody noticed.

    python tools/mutants.py                        20 mutants of the engine, with the current commit as the seed
    python tools/mutants.py --seed 7 --count 40    another sample
    python tools/mutants.py src/ramet/model/work   of these files or folders

Each mutant is one line of one file: a comparison turned around, a condition negated, `and` for `or`, a number off by
one, a statement left out. Everything happens in a temporary copy, so that the checkout never changes. The script stops
before a new mutant if its time is over (`--minutes`), and stops a test run that takes too long, which counts as killed:
an endless loop is noticed. Exits with 1 if a mutant survived.
"""

import argparse
import ast
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
DEFAULT_SOURCES = ("src/ramet/engine", "src/ramet/model/work", "src/ramet/model/record")
COPIED = ("src", "tests", "tools", "docs", "pyproject.toml", "README.md", "mkdocs.yml", "Makefile")

OPPOSITES: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Lt: ast.GtE,
    ast.GtE: ast.Lt,
    ast.Gt: ast.LtE,
    ast.LtE: ast.Gt,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}


class Mutant(NamedTuple):
    """One changed place: which node of the file's tree, and what becomes of it."""

    path: str
    line: int
    place: int
    what: str


def list_mutants(path: Path) -> Iterator[Mutant]:
    """Every place of a file that can be changed, in the order of its tree."""
    name = path.relative_to(ROOT).as_posix()
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for index, node in enumerate(ast.walk(tree)):
        what = _describe(node)
        if what is not None:
            yield Mutant(name, getattr(node, "lineno", 0), index, what)


def _describe(node: ast.AST) -> str | None:
    match node:
        case ast.Compare(ops=[operator]) if type(operator) in OPPOSITES:
            return f"{type(operator).__name__} -> {OPPOSITES[type(operator)].__name__}"
        case ast.BoolOp(op=operator):
            return "and -> or" if isinstance(operator, ast.And) else "or -> and"
        case ast.UnaryOp(op=ast.Not()):
            return "drop not"
        case ast.Constant(value=bool(value)):
            return f"{value} -> {not value}"
        case ast.Constant(value=int(value)):
            return f"{value} -> {value + 1}"
        case ast.Expr(value=ast.Call()):
            return "drop the call"
        case ast.If() | ast.IfExp():
            return "negate the condition"
    return None


def mutate(source: str, mutant: Mutant) -> str:
    """The source with this one change."""
    tree = ast.parse(source)
    node = next(each for index, each in enumerate(ast.walk(tree)) if index == mutant.place)
    match node:
        case ast.Compare():
            node.ops = [OPPOSITES[type(node.ops[0])]()]
        case ast.BoolOp():
            node.op = ast.Or() if isinstance(node.op, ast.And) else ast.And()
        case ast.UnaryOp():
            node.op = ast.Not()
            node.operand = ast.UnaryOp(op=ast.Not(), operand=node.operand)
        case ast.Constant(value=bool(value)):
            node.value = not value
        case ast.Constant(value=int(value)):
            node.value = value + 1
        case ast.Expr():
            node.value = ast.Constant(value=None)
        case ast.If() | ast.IfExp():
            node.test = ast.UnaryOp(op=ast.Not(), operand=node.test)
    return ast.unparse(ast.fix_missing_locations(tree)) + "\n"


def sample(sources: list[str], count: int, seed: int) -> list[Mutant]:
    """A reproducible choice: at most one mutant of a line, spread over the files."""
    files = [
        path
        for source in sources
        for path in ([ROOT / source] if source.endswith(".py") else sorted((ROOT / source).rglob("*.py")))
    ]
    by_line = {(each.path, each.line): each for path in files for each in list_mutants(path)}
    chosen = random.Random(seed)  # noqa: S311 - a sample, no secret
    return chosen.sample(sorted(by_line.values()), min(count, len(by_line)))


def find_tests(path: str) -> list[str]:
    """The tests of a module's subject: the folders that mirror it, and the laws of all events."""
    parts = Path(path).relative_to("src/ramet").parts
    subject = parts[1] if len(parts) > 2 else ""
    mirrors = [f"tests/{parts[0]}/{subject}", f"tests/conformance/{subject}", "tests/conformance/test_events.py"]
    found = [each for each in mirrors if (ROOT / each).exists() and each != "tests/conformance/"]
    return found or ["tests/conformance"]


class Result(NamedTuple):
    """What became of a mutant."""

    mutant: Mutant
    is_killed: bool
    seconds: float


class Copy:
    """A copy of the project in which files change and are restored."""

    def __init__(self, folder: Path, timeout_seconds: float) -> None:
        self.folder = folder
        self._timeout_seconds = timeout_seconds
        for name in COPIED:
            source, target = ROOT / name, folder / name
            if source.is_dir():
                shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__"))
            elif source.exists():
                shutil.copy2(source, target)

    def passes(self, tests: list[str]) -> bool:
        """Whether the tests pass on the code of the copy. A run that takes too long does not."""
        environ = {**os.environ, "PYTHONPATH": str(self.folder / "src"), "PYTHONDONTWRITEBYTECODE": "1"}
        command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", "-k", "not postgres", *tests]
        process = subprocess.Popen(
            command, cwd=self.folder, env=environ, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        try:
            return process.wait(self._timeout_seconds) == 0
        except subprocess.TimeoutExpired:
            return False
        finally:
            process.kill()
            process.wait()

    def try_out(self, mutant: Mutant, tests: list[str]) -> Result:
        """Change the file, run the tests, and restore the file, however that ends."""
        path = self.folder / mutant.path
        original = path.read_text(encoding="utf-8")
        started = time.monotonic()
        try:
            path.write_text(mutate(original, mutant), encoding="utf-8")
            return Result(mutant, not self.passes(tests), time.monotonic() - started)
        finally:
            path.write_text(original, encoding="utf-8")


def _seed_of_commit() -> int:
    done = subprocess.run(
        ["/usr/bin/env", "git", "rev-parse", "--short=8", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    return int(done.stdout.strip() or "0", 16)


def run(arguments: argparse.Namespace) -> int:
    """Try the sample, as far as the time allows, and print what survived."""
    chosen = sample(arguments.sources or list(DEFAULT_SOURCES), arguments.count, arguments.seed)
    deadline = time.monotonic() + arguments.minutes * 60
    print(f"{len(chosen)} mutants, seed {arguments.seed}")
    results: list[Result] = []
    with tempfile.TemporaryDirectory(prefix="ramet-mutants-") as folder:
        copy = Copy(Path(folder), arguments.timeout)
        for mutant in chosen:
            if time.monotonic() > deadline:
                print(f"{arguments.minutes} minutes are over: {len(chosen) - len(results)} mutants were not tried")
                break
            result = copy.try_out(mutant, arguments.tests or find_tests(mutant.path))
            results.append(result)
            verdict = "killed  " if result.is_killed else "SURVIVED"
            print(f"{verdict} {mutant.path}:{mutant.line}  {mutant.what}  ({result.seconds:.0f} s)", flush=True)
    survived = [result for result in results if not result.is_killed]
    print(f"{len(results) - len(survived)} of {len(results)} killed")
    return 1 if survived else 0


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sources", nargs="*", help="files or folders (default: the engine, and the model of work)")
    parser.add_argument("--seed", type=int, default=None, help="which sample (default: from the current commit)")
    parser.add_argument("--count", type=int, default=20, help="number of mutants (default: 20)")
    parser.add_argument("--minutes", type=float, default=30, help="start no mutant after this time (default: 30)")
    parser.add_argument("--timeout", type=float, default=300, help="seconds for the tests of one mutant (default: 300)")
    parser.add_argument("--tests", action="append", help="run these tests instead of the subject's (repeatable)")
    parser.add_argument("--list", action="store_true", help="print the sample and try nothing")
    arguments = parser.parse_args(argv)
    if arguments.seed is None:
        arguments.seed = _seed_of_commit()
    if arguments.list:
        chosen = sample(arguments.sources or list(DEFAULT_SOURCES), arguments.count, arguments.seed)
        print(*(f"{each.path}:{each.line}  {each.what}" for each in chosen), sep="\n")
        return 0
    return run(arguments)


if __name__ == "__main__":
    sys.exit(main())
