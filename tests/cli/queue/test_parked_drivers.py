"""An agent program that is logged out, or at its limit: what is queued waits for it, and people are told once."""

import json
from pathlib import Path

import pytest
from tests.cli.command_line import CommandLine

STREAMS = Path(__file__).parents[2] / "vendors" / "streams" / "claude"


def pretend(shop: CommandLine, name: str) -> None:
    """Let `claude` be a program that says what Claude Code once said, and so exits."""
    status = json.loads((STREAMS / f"{name}.exit.json").read_text())["status"]
    install(shop, f"cat > /dev/null; cat {STREAMS / name}.jsonl; exit {status}")


def install(shop: CommandLine, script: str) -> None:
    program = shop.home / "claude"
    program.write_text(f"#!/bin/sh\n{script}\n")
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


@pytest.mark.requirement("R301", "R364")
def test_a_program_that_is_logged_out_fails_no_effort_and_is_started_once(shop: CommandLine) -> None:
    pretend(shop, "bad-key")
    for number in range(5):
        shop.ok("add", f"mend the cart {number}")
    assert parked(shop) is None
    shop("work", "--once", "--workers", "1")
    assert outcomes(shop) == ["queued"] * 5
    until = parked(shop)
    assert until is not None
    first, *others = sorted(shop.json("queue")["items"], key=lambda row: -row["attempts"])
    assert (first["attempts"], {row["attempts"] for row in others}) == (1, {0})
    assert "401 invalid key" in first["reason"]
    assert all(until in row["reason"] and until in row["blocked_status"] for row in others)
    assert f"claude: not used until {until}" in shop.ok("drivers")
    assert [row["kind"] for row in shop.json("notices")["items"]] == ["parked"]


@pytest.mark.requirement("R301", "R364")
def test_a_parked_program_is_released_by_hand_and_what_waited_runs(shop: CommandLine) -> None:
    pretend(shop, "bad-key")
    for number in range(2):
        shop.ok("add", f"mend the cart {number}", "--skill", "do")
    shop("work", "--once", "--workers", "1")
    assert "to use it now: `ramet drivers release claude`" in shop.ok("drivers")
    pretend(shop, "answer")
    assert shop.ok("drivers", "release", "claude") == "claude is used again; can start: e1 e2\n"
    assert parked(shop) is None
    shop.ok("work", "--once")
    assert outcomes(shop) == ["success", "success"]
    assert shop.ok("drivers", "release", "claude") == "claude is not parked\n"
    assert shop("drivers", "release", "telepathy").returncode == 2


@pytest.mark.requirement("R301")
def test_a_program_that_cannot_start_fails_three_efforts_and_not_all_of_them(shop: CommandLine) -> None:
    install(shop, "echo \"error: unknown option '--print'\" >&2; exit 1")
    for number in range(5):
        shop.ok("add", f"mend the cart {number}")
    assert shop("work", "--once").returncode == 1
    assert outcomes(shop) == ["error", "error", "error", "queued", "queued"]
    waiting = [row for row in shop.json("queue")["items"] if row["lifecycle"] == "queued"]
    assert {row["attempts"] for row in waiting} == {0}
    assert [row["kind"] for row in shop.json("notices")["items"]].count("parked") == 1


@pytest.mark.requirement("R301")
def test_a_limit_is_waited_for_and_what_runs_otherwise_goes_on(shop: CommandLine) -> None:
    pretend(shop, "usage-limit")
    for number in range(3):
        shop.ok("add", f"mend the cart {number}")
    shop.ok("add", "echo mended", "--driver", "shell", "--skill", "do")
    shop("work", "--once")
    assert outcomes(shop) == ["queued", "queued", "queued", "success"]
    assert [row["attempts"] for row in shop.json("queue")["items"]].count(1) == 1
