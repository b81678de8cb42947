"""A fleet to look at: agents of the queue that run, one with a child, a failed effort, one that waits for it, and two
agents that a person started. Everything starts in turn, so that the ids are the same each time.
"""

import json
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

from tests.agents import fake_agent
from tests.cli.command_line import CommandLine
from tests.cli.waits import wait_for

CLAUDE = "2f1c0c4e-0000-4000-8000-000000000001"
CODEX = "2f1c0c4e-0000-4000-8000-000000000002"


@contextmanager
def fleet(shop: CommandLine) -> Iterator[CommandLine]:
    """The fleet, as long as it is looked at; then its agents end."""
    prepare(shop)
    workers: list[subprocess.Popen[bytes]] = []
    try:
        for effort, shown in (("e1", {"e1", "e8"}), ("e3", {"e3"}), ("e4", {"e4"})):
            workers.append(_work(shop, effort))
            wait_for(partial(_are_active, shop, shown))
        yield shop
    finally:
        (shop.home / "gate").touch()
        for worker in workers:
            worker.wait(60)


def prepare(shop: CommandLine) -> None:
    """Everything but the agents that keep running."""
    profile = {"driver": "command", "program": fake_agent.program(), "output": "jsonl"}
    drivers = {"default": "builder", "profiles": {"builder": profile, "critic": profile}}
    shop.configure({"drivers": drivers})
    waits = {"run": ["timeout", "300", "sh", "-c", f"until [ -e {shop.home}/gate ]; do sleep 0.1; done"]}
    greps = calls("Bash", command="cd /w/e1 && grep -rn round shop")
    child = fake_agent.prompt([greps, uses(0.02), waits], "Find every place that rounds a price")
    edits = calls("Edit", file_path="/home/dev/worktrees/e1/shop/cart.py")
    spawns = {"run": [shop.program, "spawn", child]}
    _add(shop, "Round prices to the cent in the cart, in invoices and in the mails", edits, uses(0.31), spawns)
    _add(shop, "Write the migration", {"exit": 3})
    tests = calls("Bash", command="make test")
    _add(shop, "Find out why checkout is slow on the first order of the day", tests, uses(1.2), waits)
    searches = calls("Grep", pattern="def total")
    _add(shop, "Review the discount rules", searches, waits, skill="review", driver="critic")
    _add(shop, "Deploy the migration to the staging server", {"exit": 0}, depends_on="e2")
    _start_by_hand(shop)
    shop("work", "e2")


def _start_by_hand(shop: CommandLine) -> None:
    for vendor, window, prompts in (
        ("claude", CLAUDE, ["Look around", "Rename the column total to amount in all reports"]),
        ("codex", CODEX, ["Look at the cart", "Which of the two ways is faster?"]),
    ):
        tell(shop, vendor, window, hook_event_name="SessionStart", source="startup")
        for prompt in prompts:
            tell(shop, vendor, window, hook_event_name="UserPromptSubmit", prompt=prompt)
    full = {"context_window_size": 200_000, "used_percentage": 42}
    tell(shop, "claude", CLAUDE, cost={"total_cost_usd": 0.46}, context_window=full)
    given = json.dumps({"file_path": str(shop.cwd / "reports" / "daily.py")})
    shop.ok("session", "say", "s1", "assistant", given, "--tool-name", "Read")
    shop.ok("session", "say", "s2", "assistant", "The first one is faster.")


def tell(shop: CommandLine, vendor: str, window: str, **said: object) -> None:
    """What an agent that a person started reports by its hooks, or by its status line."""
    payload = json.dumps({"session_id": window, "cwd": str(shop.cwd), **said})
    shop.ok("rpc", "call", "hooks.event", json.dumps({"vendor": vendor, "payload": payload}))


def calls(tool: str, **given: str) -> dict[str, Any]:
    return {"event": {"kind": "tool_call", "name": tool, "input": given, "call_id": "c1"}}


def uses(cost_usd: float) -> dict[str, Any]:
    return {"event": {"kind": "usage", "key": "m1", "input_tokens": 12_400, "cost_usd": cost_usd}}


def _add(shop: CommandLine, text: str, *steps: dict[str, Any], **options: str) -> None:
    flags = [word for name, value in options.items() for word in (f"--{name.replace('_', '-')}", value)]
    shop.ok("add", fake_agent.prompt(list(steps), text), *flags)


def _work(shop: CommandLine, effort: str) -> "subprocess.Popen[bytes]":
    return subprocess.Popen([shop.program, "work", effort], cwd=shop.cwd, env=shop.environ, stdout=subprocess.DEVNULL)


def _are_active(shop: CommandLine, efforts: set[str]) -> bool:
    """Whether the agents of these efforts have called a tool and reported a cost; the critic reports none."""
    rows = [row for row in shop.json("ps")["items"] if row["tool"]]
    return efforts <= {f"e{row['effort_id']}" for row in rows if row["cost_usd"] or row["driver_name"] == "critic"}
