"""The list of promised behaviours and the tests agree, in both directions."""

import ast
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from tests.requirements import REQUIREMENTS

TESTS = Path(__file__).parent


def _marked(path: Path) -> Iterator[str]:
    """The numbers of every `pytest.mark.requirement(...)` in a file."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "requirement":
            for argument in node.args:
                assert isinstance(argument, ast.Constant), f"{path}:{node.lineno}: write the number as a string"
                yield str(argument.value)


@cache
def proved() -> dict[str, list[str]]:
    """Which files prove which number."""
    found: dict[str, list[str]] = defaultdict(list)
    for path in sorted(TESTS.rglob("*.py")):
        for number in _marked(path):
            found[number].append(str(path.relative_to(TESTS)))
    return found


def missing() -> list[str]:
    """The numbers that are due and have neither a test nor a reason."""
    tested = proved()
    return [
        number
        for number, requirement in REQUIREMENTS.items()
        if requirement.is_due and requirement.reason is None and number not in tested
    ]


def test_the_list_is_whole_and_in_order() -> None:
    """The numbers of the second release, from 318 on, are added with the work that brings them."""
    numbers = [int(number.removeprefix("R")) for number in REQUIREMENTS]
    assert numbers == sorted(set(numbers))
    assert numbers[:317] == list(range(1, 318))


def test_every_due_requirement_has_a_test_or_a_reason() -> None:
    assert missing() == []


def test_no_test_carries_a_number_that_does_not_exist() -> None:
    unknown = {number: files for number, files in proved().items() if number not in REQUIREMENTS}
    assert unknown == {}


@pytest.mark.requirement("R103")
def test_conversations_are_tested_in_parts_joined_and_from_the_command_line() -> None:
    levels = {
        "the accumulator and its JSON, alone": "model/runs/test_conversation.py",
        "sequential tasks, and with a daemon": "library/test_sequential.py",
        "resuming, with the database": "runner/runs/test_run_prompts.py",
        "the whole workflow, as a user types it": "cli/runs/test_run_options.py",
        "the whole workflow, with every process killed": "crash/test_runs.py",
    }
    assert set(levels.values()) <= set(proved()["R103"])


def test_nothing_is_proved_that_the_list_calls_later() -> None:
    early = {
        number: files
        for number, files in proved().items()
        if number in REQUIREMENTS and not REQUIREMENTS[number].is_due
    }
    assert early == {}


def test_later_work_is_called_by_one_of_its_names() -> None:
    works = {requirement.later for requirement in REQUIREMENTS.values() if requirement.later}
    assert works <= {"memory", "outcomes"}
