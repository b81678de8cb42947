"""An agent program that is logged out, or at its limit: what is queued waits for it, and people are told once."""

import json
from pathlib import Path

import pytest
from tests.cli.command_line import CommandLine

STREAMS = Path(__file__).parents[2] / "vendors" / "streams" / "claude"


def pretend(shop: CommandLine, name: str) -> None:
    """Let `claude` be a program that says what Claude Code once said, and so exits."""
    status = json.loads((STREAMS / f"{name}.exit.json").read_text())["status"]
    program = shop.home / "claude"
    program.write_text(f"#!/bin/sh\ncat > /dev/null; cat {STREAMS / name}.jsonl; exit {status}\n")
    program.chmod(0o755)
    configured = {
        "work": {"backoff_max_seconds": 5},
        "drivers": {"default": "claude", "profiles": {"claude": {"program": [str(program)]}}},
    }
    shop.configure(configured)


def outcomes(shop: CommandLine) -> list[str]:
    return sorted(row["outcome"] or row["lifecycle"] for row in shop.json("queue", "--all")["items"])


def parked(shop: CommandLine) -> str | None:
    (row,) = (row for row in shop.json("drivers")["items"] if row["name"] == "claude")
    until: str | None = row["parked_until"]
    return until


@pytest.mark.requirement("R301")
def test_a_program_that_is_logged_out_fails_three_efforts_and_not_all_of_them(shop: CommandLine) -> None:
    pretend(shop, "bad-key")
    for number in range(5):
        shop.ok("add", f"mend the cart {number}")
    assert parked(shop) is None
    assert shop("work", "--once").returncode == 1
    assert outcomes(shop) == ["error", "error", "error", "queued", "queued"]
    until = parked(shop)
    assert until is not None
    waiting = [row for row in shop.json("queue")["items"] if row["lifecycle"] == "queued"]
    assert {row["attempts"] for row in waiting} == {0}
    assert all(until in row["reason"] and until in row["blocked_status"] for row in waiting)
    assert f"claude: not used until {until}" in shop.ok("drivers")
    assert [row["kind"] for row in shop.json("notices")["items"]].count("parked") == 1


def test_a_parked_program_is_released_by_hand_and_what_waited_runs(shop: CommandLine) -> None:
    pretend(shop, "bad-key")
    for number in range(4):
        shop.ok("add", f"mend the cart {number}")
    shop("work", "--once")
    assert "to use it now: `ramet drivers release claude`" in shop.ok("drivers")
    (waiting,) = shop.json("queue")["items"]
    assert shop.ok("drivers", "release", "claude") == f"claude is used again; can start: e{waiting['id']}\n"
    assert parked(shop) is None
    shop("work", "--once")
    assert outcomes(shop) == ["error", "error", "error", "error"]
    assert shop.ok("drivers", "release", "claude") == "claude is not parked\n"
    assert shop("drivers", "release", "telepathy").returncode == 2


@pytest.mark.requirement("R301")
def test_a_limit_is_waited_for_and_what_runs_otherwise_goes_on(shop: CommandLine) -> None:
    pretend(shop, "usage-limit")
    for number in range(3):
        shop.ok("add", f"mend the cart {number}")
    shop.ok("add", "echo mended", "--driver", "shell")
    shop("work", "--once")
    assert outcomes(shop) == ["queued", "queued", "queued", "success"]
    assert [row["attempts"] for row in shop.json("queue")["items"]].count(1) == 1
