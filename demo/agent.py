"""An agent without a model, for the demo: it turns the examples of a Python module into tests.

    agent.py plan        find examples in docstrings that no test covers, and write a plan
    agent.py implement   follow the plan in the prompt, one test at a time
    agent.py review      run the tests and give a verdict
    agent.py cover       write and run the one test that the prompt asks for

It reads its prompt from standard input and writes its answer to standard output, like any program under the `command`
driver. It derives everything it says from the files in its directory.
"""

import ast
import doctest
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

_MODULE = Path("shop.py")
_TESTS = Path("test_shop.py")
_HEAD = "import unittest\n\nimport shop\n\n\nclass Examples(unittest.TestCase):\n"
_STEP = re.compile(r"^- (\w+): `(.+)` returns `(.+)`$", re.MULTILINE)
_WANTED = re.compile(r"^Cover `(\w+)`", re.MULTILINE)
_SECONDS_PER_STEP = 0.5


def main() -> int:
    prompt = sys.stdin.read()
    match sys.argv[1:]:
        case ["plan"]:
            return plan()
        case ["implement"]:
            return implement(prompt)
        case ["review"]:
            return review()
        case ["cover"]:
            return cover(prompt)
        case _:
            print(__doc__, file=sys.stderr)
            return 2


def plan() -> int:
    written = _TESTS.read_text() if _TESTS.exists() else ""
    steps = [step for step in examples() if f"def test_{step[0]}(" not in written]
    print(f"No test covers {len(steps)} examples in {_MODULE}. Each becomes a test in {_TESTS}:\n")
    for name, call, expected in steps:
        print(f"- {name}: `{call}` returns `{expected}`")
    return 0


def implement(prompt: str) -> int:
    """One test for each step of the plan; those that an earlier attempt wrote are left as they are."""
    _, heading, rest = prompt.partition("## Plan to implement:\n")
    if not heading:
        print("the prompt has no plan", file=sys.stderr)
        return 1
    text = _TESTS.read_text() if _TESTS.exists() else _HEAD
    for name, call, expected in _STEP.findall(rest):
        if f"def test_{name}(" in text:
            print(f"test_{name} exists", flush=True)
            continue
        time.sleep(_SECONDS_PER_STEP)
        text += _method(name, call, expected)
        _TESTS.write_text(text)
        print(f"wrote test_{name}", flush=True)
    return 0


def review() -> int:
    tested = subprocess.run([sys.executable, "-m", "unittest", "-q"], capture_output=True, text=True, check=False)
    print(f"Verdict: {'APPROVED' if tested.returncode == 0 else 'CHANGES_REQUESTED'}")
    print("\nOutput of the tests:\n")
    print("\n".join(f"    {line}" for line in tested.stderr.strip().splitlines()))
    return 0


def cover(prompt: str) -> int:
    """The test of one function, in a file of its own, so that others can write theirs at the same time."""
    (wanted,) = _WANTED.findall(prompt)
    (name, call, expected) = next(example for example in examples() if example[0] == wanted)
    _tell(f"{call} should return {expected}")
    test = Path(f"test_{name}.py")
    test.write_text(_HEAD + _method(name, call, expected))
    _tell(f"wrote {test}")
    tested = subprocess.run([sys.executable, "-m", "unittest", "-q", test.stem], capture_output=True, check=False)
    _tell(f"{call} returns {expected}: tested" if tested.returncode == 0 else f"{test} fails")
    return tested.returncode


def examples() -> Iterator[tuple[str, str, str]]:
    """The name of each function with an example, the example's call and what it gives."""
    for node in ast.parse(_MODULE.read_text()).body:
        if isinstance(node, ast.FunctionDef):
            for example in doctest.DocTestParser().get_examples(ast.get_docstring(node) or ""):
                yield node.name, example.source.strip(), example.want.strip()


def _method(name: str, call: str, expected: str) -> str:
    return f"\n    def test_{name}(self) -> None:\n        self.assertEqual(shop.{call}, {expected})\n"


def _tell(text: str) -> None:
    """Say something, and take the time in which a model would think about it."""
    print(text, flush=True)
    time.sleep(_SECONDS_PER_STEP)


if __name__ == "__main__":
    sys.exit(main())
