"""The forecast before a fan-out: from what earlier efforts used, and compared with the budgets."""

import pytest
from tests.agents import fake_agent
from tests.cli.command_line import CommandLine
from tests.cli.family import says, uses


@pytest.mark.requirement("R397")
def test_a_run_says_before_it_starts_what_it_will_probably_use(shop: CommandLine) -> None:
    program = fake_agent.program([says("done"), uses(2000, 0.02)])
    drivers = {"default": "fake", "profiles": {"fake": {"driver": "command", "program": program, "output": "jsonl"}}}
    shop.configure({"drivers": drivers, "budget": {"daily_usd": 0.07}})
    (shop.cwd / "tasks.md").write_text("- [ ] One\n- [ ] Two\n- [ ] Three\n")
    shop.ok("ps")  # a home without history
    none = shop.ok("run", "tasks.md", "--dry-run", "--parallel", "2")
    assert "forecast: no history of do yet, so the use of 3 efforts is unknown" in none
    assert "forecast: no history of do yet" in shop("run", "tasks.md", "--parallel", "3").stdout
    known = shop.ok("run", "tasks.md", "--dry-run", "--parallel", "3", "--max-cost", "0.05")
    said = "forecast: 3 efforts, ~$0.06 (90%: $0.06), ~6k tokens (90%: 6k); from 3 efforts: do of this project\n"
    assert said in known
    assert "the budget budget.daily_usd has $0.01 left, and the forecast may need more\n" in known
    assert "--max-cost is $0.05, and the forecast may need more\n" in known
    forecast = shop.json("run", "tasks.md", "--dry-run")["forecast"]
    assert forecast["cost_usd"]["median"] == pytest.approx(0.06)
    assert forecast["items"][0]["history"] == 3
