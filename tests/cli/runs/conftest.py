"""Runs in the background, none of which outlives its test."""

from collections.abc import Callable, Iterator

import pytest
from tests.cli.command_line import CommandLine
from tests.cli.runs.run_steps import Run


@pytest.fixture
def start(shop: CommandLine) -> Iterator[Callable[..., Run]]:
    """Starts `ramet run`; none is left when the test ends, and nothing that it runs."""
    started: list[Run] = []

    def begin(*arguments: str, command: str = "run") -> Run:
        started.append(Run(shop, command, *arguments))
        return started[-1]

    yield begin
    for run in started:
        run.process.kill()
        run.process.communicate()
    for row in shop.json("queue", "--state", "active")["items"]:
        shop("kill", f"e{row['id']}")
