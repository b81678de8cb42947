"""The part of the demo in which agents delegate: a parent, children side by side, a grandchild; one fails, and one uses
more than it may.

As a program, this file is also the agent: it finds its goal in the prompt, and does it with the files in front of it.

    Survey FILE     let others describe it, check it, find a file that is not there, and ponder it; wait for all of them
    Describe FILE   say what is in it
    Check FILE      let another agent try its examples
    Try FILE        try its examples
    Ponder FILE     use up tokens
"""

import ast
import doctest
import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

_GOAL = re.compile(r"\b(Survey|Describe|Check|Try|Ponder) (\S+)")
_MOST_TOKENS = 1000
_PONDERS = 600


def show(project: Path) -> None:
    """Let an agent delegate."""
    from demo.stage import RAMET, run, say  # noqa: PLC0415 - the agent has no need of it

    _make_project(project)
    os.chdir(project)
    os.environ["PATH"] = f"{RAMET.parent}:{os.environ['PATH']}"

    say("An agent that delegates: four children at once, each with a limit. One of them delegates further.")
    run("ramet add 'Survey shop.py' --skill do")
    run("ramet work --once --workers 3")

    say("Who spawned whom, how each ended, and what it cost: alone, and with everything below it.")
    run("ramet tree e1")

    say("The parent receives the results as data: if a child fails, its parent does not.")
    run("ramet show e1 --output")


def _make_project(project: Path) -> None:
    project.mkdir(parents=True)
    shutil.copy(Path(__file__).with_name("shop.py"), project)
    profile = {"driver": "command", "program": [sys.executable, __file__], "output": "jsonl"}
    (project / "ramet.yaml").write_text(json.dumps({"drivers": {"default": "helper", "profiles": {"helper": profile}}}))
    subprocess.run(
        [Path(sys.executable).parent / "ramet", "trust", "--yes"], cwd=project, check=True, capture_output=True
    )
    for words in (["init", "-q", "-b", "main"], ["add", "."], ["commit", "-q", "-m", "A shop"]):
        git = [shutil.which("git") or "git", "-c", "user.name=Demo", "-c", "user.email=demo@localhost"]
        subprocess.run([*git, *words], cwd=project, check=True)


# The agent.


def main() -> int:
    goal = _GOAL.search(sys.stdin.read())
    if goal is None:
        print("the prompt has no goal", file=sys.stderr)
        return 2
    return _DEEDS[goal[1]](goal[2])


def survey(file: str) -> int:
    _use(400)
    found = _spawn(f"Describe {file}", "Describe till.py", f"Check {file}", f"Ponder {file}", tokens=_MOST_TOKENS)
    _say("\n".join(f"- {result['outcome']}: {result['notes'].splitlines()[0]}" for result in found))
    return 0


def describe(file: str) -> int:
    path = Path(file)
    if not path.exists():
        print(f"{file} does not exist", file=sys.stderr)
        return 1
    names = [node.name for node in ast.parse(path.read_text()).body if isinstance(node, ast.FunctionDef)]
    _use(300)
    _say(f"{file} has {len(names)} functions: {', '.join(names)}")
    return 0


def check(file: str) -> int:
    _use(200)
    (found,) = _spawn(f"Try {file}", tokens=_MOST_TOKENS // 2)
    _say(f"another agent tried it: {found['notes']}")
    return 0 if found["outcome"] == "success" else 1


def try_examples(file: str) -> int:
    sys.dont_write_bytecode = True  # what is left in the folder would count as changed
    spec = importlib.util.spec_from_file_location("tried", file)
    assert spec is not None  # noqa: S101
    assert spec.loader is not None  # noqa: S101
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    tried = doctest.testmod(module)
    _use(200)
    _say(f"{tried.attempted} examples, {tried.failed} failed")
    return int(tried.failed > 0)


def ponder(file: str) -> int:
    """Think, call after call, until somebody says that it is enough."""
    for number in range(_PONDERS):
        _use(_MOST_TOKENS // 4, f"call {number}")
        _say(f"{file} could mean {number + 1} things")
        time.sleep(0.4)
    return 0


_DEEDS: dict[str, Callable[[str], int]] = {
    "Survey": survey,
    "Describe": describe,
    "Check": check,
    "Try": try_examples,
    "Ponder": ponder,
}


def _spawn(*goals: str, tokens: int) -> list[dict[str, str]]:
    """What became of children. The command knows by its environment whose they are."""
    command = ["ramet", "spawn", *goals, "--tokens", str(tokens), "--json"]
    reply = json.loads(subprocess.run(command, check=False, capture_output=True, text=True).stdout)
    results: list[dict[str, str]] = reply.get("results", [reply])
    return results


def _say(text: str) -> None:
    _print({"kind": "text", "text": text})


def _use(tokens: int, call: str = "call") -> None:
    _print({"kind": "usage", "key": call, "output_tokens": tokens, "cost_usd": tokens / 10_000})


def _print(event: dict[str, object]) -> None:
    print(json.dumps(event), flush=True)


if __name__ == "__main__":
    sys.exit(main())
