"""A session and the children that it is given, by real processes: the agent is a small program that does as its goal
says.
"""

from typing import Any

from tests.agents import fake_agent
from tests.cli.command_line import CommandLine


def begin(shop: CommandLine) -> CommandLine:
    """The session s1 at work on e1 of tasks/cart, and the driver `fake`, which its program is as well."""
    profile = {"driver": "command", "program": fake_agent.program(), "output": "jsonl"}
    drivers = {"default": "fake", "profiles": {"fake": profile, "claude": profile}}
    shop.configure({"drivers": drivers})
    shop.ok("project", "add", ".")
    shop.ok("task", "add", "tasks/cart")
    shop.begin_effort("tasks/cart", "plan")
    shop.ok("session", "start", "tasks/cart", "e1", "--agent", "planner", "--native", "claude:2f1c")
    return shop


def goal(text: str, *steps: dict[str, Any]) -> str:
    """What an agent is to do, and how."""
    return fake_agent.prompt(list(steps), text)


def says(text: str) -> dict[str, Any]:
    return {"event": {"kind": "text", "text": text}}


def uses(tokens: int, cost_usd: float | None = None, key: str = "m1") -> dict[str, Any]:
    return {"event": {"kind": "usage", "key": key, "input_tokens": tokens, "cost_usd": cost_usd}}


def configure_budget(shop: CommandLine, **budget: Any) -> None:
    """The driver `fake`, and the daily and project budgets."""
    profile = {"driver": "command", "program": fake_agent.program(), "output": "jsonl"}
    shop.configure({"drivers": {"default": "fake", "profiles": {"fake": profile}}, "budget": budget})
