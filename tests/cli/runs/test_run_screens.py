"""Runs as a person sees them: golden screens, and what the live view shows while tasks finish."""

import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from tests.agents import fake_agent
from tests.cli.command_line import CommandLine
from tests.cli.runs.run_steps import Run, run, states, write
from tests.cli.screens.golden import WIDTHS, check_screen, set_age
from tests.cli.terminal import at_terminal
from tests.cli.waits import gate, wait_for

_TASKS = """\
- [ ] 1. Round prices to the cent in the cart, in invoices and in the mails
  - Agent: builder
- [ ] 2. Write the migration
  - Agent: breaker
- [ ] 3. Find out why checkout is slow on the first order of the day
  - Agent: critic
  - Depends: 1
- [ ] 4. Describe the discount rules in the README
  - Depends: 1, 3
"""


def event(kind: str, **facts: Any) -> dict[str, Any]:
    return {"event": {"kind": kind, **facts}}


def uses(cost_usd: float) -> dict[str, Any]:
    return event("usage", key="1", input_tokens=12_400, cost_usd=cost_usd)


@pytest.fixture
def half_done(shop: CommandLine, start: Callable[..., Run]) -> Iterator[CommandLine]:
    """A run of four tasks: one is completed, one has failed, one runs, one waits."""
    _, file = gate(shop)
    tests = event("tool_call", call_id="1", name="Bash", input={"command": "make test"})
    scripts = {
        "builder": [uses(0.31), {"write": "cart.py", "text": "cents = 2\n"}, event("text", text="Prices are rounded.")],
        "breaker": [{"exit": 3}],
        "critic": [tests, uses(1.2), {"wait_for": str(file)}],
    }
    profiles = {
        name: {"driver": "command", "program": fake_agent.program(script), "output": "jsonl"}
        for name, script in scripts.items()
    }
    shop.configure({"drivers": {"default": "builder", "profiles": profiles}})
    running = start(write(shop, _TASKS), "--parallel", "1")
    wait_for(lambda: any(row["tool"] and row["cost_usd"] for row in shop.json("ps")["items"]))
    yield shop
    file.touch()
    running.end()


@pytest.mark.requirement("R453")
@pytest.mark.parametrize("columns", WIDTHS)
def test_the_screens_of_a_run_that_is_half_done(half_done: CommandLine, columns: int) -> None:
    set_age(half_done, "runs", 1, minutes=90, column="started_at")
    for session, minutes in ((1, 80), (2, 74), (3, 62)):
        set_age(half_done, "sessions", session, minutes=minutes)
    for effort, minutes in ((1, 75), (2, 73)):
        set_age(half_done, "efforts", effort, minutes=minutes, column="finished_at")
    shown = check_screen(half_done, "runs-show", "runs", "show", "r1", columns=columns)
    for word, colour in (("completed", 32), ("failed", 31), ("in progress", 36)):
        assert f"\x1b[{colour}m{word}" in shown
    check_screen(half_done, "runs-list", "runs", "list", columns=columns)


def test_a_task_that_depends_on_others_says_so_in_every_state(shop: CommandLine) -> None:
    run(shop, "- [ ] 1. true\n- [ ] 2. true\n- [ ] 3. exit 3\n  - Depends: 1, 2\n", "--parallel", "2")
    shown = shop.ok("runs", "show", "r1").splitlines()
    assert "WAITS FOR" in shown[3]
    assert re.search(r"^3 +shell e3 +failed .+  1 2 ", shown[6])


def test_resuming_counts_the_tasks_that_are_retried(shop: CommandLine) -> None:
    flag = shop.home / "flag"
    run(shop, f"- [ ] 1. true\n- [ ] 2. test -e {flag}\n", "--parallel", "2")
    flag.touch()
    done = shop("run", "--resume", "r1", "--retry-failed")
    assert done.stdout.startswith("Resuming r1: 1 task to go\n")
    assert states(shop) == ["completed", "completed"]


def test_the_live_view_shows_the_result_of_a_task_and_never_contradicts_itself(shop: CommandLine) -> None:
    file = write(shop, "- [ ] 1. echo all; echo is well\n- [ ] 2. sleep 1; exit 3\n")
    seen = at_terminal(shop, "run", file, "--driver", "shell", columns=80)
    plain = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", seen.text)
    before, _, after = plain.partition("1 (shell e1) completed")
    assert re.search(r"^1 +shell e1 +in progress .+ echo all; echo is well", before, re.MULTILINE)
    rows = re.findall(r"^1 +shell e1 +(.+)$", after, re.MULTILINE)
    assert rows
    assert all(re.fullmatch(r"completed +\d+s .+  all\s*", row) for row in rows)
    assert re.search(r"^2 +shell e2 +failed .+ exit status 3$", after, re.MULTILINE)
    assert re.findall(r"^(\d/2) · \d+s", plain, re.MULTILINE)[-1] == "2/2"


def test_a_retried_task_waits_again_in_the_live_view(shop: CommandLine) -> None:
    flag = shop.home / "flag"
    text = f"- [ ] 1. test -e {flag}\n- [ ] 2. test -e {flag}\n"
    run(shop, text, "--parallel", "1")
    flag.touch()
    seen = at_terminal(shop, "run", "--resume", "r1", "--retry-failed", columns=80)
    plain = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", seen.text)
    assert "Resuming r1: 2 tasks to go" in plain
    after = plain.partition("Resuming r1")[2]
    assert re.search(r"^2 +shell e2 +pending ", after, re.MULTILINE)
    assert not re.search(r"^2 +shell e2 +failed ", after, re.MULTILINE)


@pytest.mark.requirement("R376")
def test_tasks_that_are_skipped_say_why_and_run_when_the_run_is_resumed(shop: CommandLine) -> None:
    flag = shop.home / "flag"
    text = f"- [ ] 1. test -e {flag}\n- [ ] 2. echo two\n  - Depends: 1\n- [ ] 3. echo three\n"
    done = run(shop, text, "--parallel", "2")
    assert done.returncode == 1
    assert re.search(r"^2 \(\S* ?e2\) skipped \(1 failed\)$", done.stdout, re.MULTILINE)
    assert "retry failed and skipped tasks: `ramet run --resume r1 --retry-failed`" in done.stdout
    assert "run the skipped tasks without them: `ramet run --resume r1 --keep-going`" in done.stdout
    assert re.search(r"^2 .+ skipped .+ 1 failed", shop.ok("runs", "show", "r1"), re.MULTILINE)
    flag.touch()
    again = shop("run", "--resume", "r1")
    assert again.stdout.startswith("Resuming r1: 2 tasks to go\n")
    assert (again.returncode, states(shop)) == (0, ["completed"] * 3)


@pytest.mark.requirement("R359")
def test_a_task_without_changes_is_named_and_is_no_failure(shop: CommandLine) -> None:
    done = run(shop, "- [ ] 1. echo nothing to do\n  - Skill: implement\n- [ ] 2. echo two\n")
    assert done.returncode == 0, done.stdout
    assert re.search(r"^1 \(shell e1\) no_change \d+s: no files were changed$", done.stdout, re.MULTILINE)
    assert "1 completed, 1 no change" in done.stdout
    assert re.search(r"^1 +shell e1 +no change .+ no files were changed", shop.ok("runs", "show", "r1"), re.MULTILINE)
