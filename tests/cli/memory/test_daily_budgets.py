"""Daily and project budgets: no more work starts when one is used up, and it starts again when there is room."""

import pytest
from tests.cli.command_line import CommandLine
from tests.cli.family import configure_budget, goal, says, uses


@pytest.mark.requirement("R397")
def test_a_used_up_day_keeps_efforts_queued_with_one_notice_until_the_budget_is_raised(shop: CommandLine) -> None:
    configure_budget(shop, daily_usd=0.05)
    for number in range(3):
        shop.ok("add", goal(f"Task {number}", says("done"), uses(1000, 0.06, f"m{number}")))
    assert "no new work starts" not in shop.ok("queue")
    shop.ok("work", "--once")
    rows = {row["id"]: row["lifecycle"] for row in shop.json("queue", "--all")["items"]}
    assert rows == {1: "finished", 2: "queued", 3: "queued"}
    why = "no new work starts: the daily budget is used up: $0.06 of $0.05; wait until "
    for command in ("queue", "ps", "next"):
        assert why in shop.ok(command), command
    assert "the daily budget is used up" in shop("doctor").stdout
    notices = [row for row in shop.json("notices")["items"] if row["kind"] == "budget"]
    assert [row["text"].partition(";")[0] for row in notices] == [
        "the daily budget is used up: $0.06 of $0.05 (budget.daily_usd)"
    ]
    shop.ok("work", "--once")
    shop.ok("work", "e2")
    assert len([row for row in shop.json("notices")["items"] if row["kind"] == "budget"]) == 1
    configure_budget(shop, daily_usd=1)
    shop.ok("work", "--once")
    assert {row["outcome"] for row in shop.json("queue", "--all")["items"]} == {"no_change"}


@pytest.mark.requirement("R397")
def test_a_project_file_may_only_lower_the_budget_of_its_project(shop: CommandLine) -> None:
    configure_budget(shop, project_daily_tokens=5000)
    (shop.cwd / "ramet.yaml").write_text("budget:\n  project_daily_tokens: 1000\n")
    for number in range(2):
        shop.ok("add", goal(f"Task {number}", says("done"), uses(1000, 0.01, f"m{number}")))
    shop.ok("work", "--once")
    assert "the daily budget of site is used up: 1,000 tokens of 1,000 tokens" in shop.ok("queue")
    (shop.cwd / "ramet.yaml").write_text("budget:\n  project_daily_tokens: 9000\n")
    ignored = shop("queue")
    assert "cannot set budget.project_daily_tokens" in ignored.stderr
    assert "no new work starts" not in ignored.stdout
    assert shop("work", "--once").returncode == 0
    (shop.cwd / "ramet.yaml").unlink()
    assert len(shop.json("queue", "--state", "finished")["items"]) == 2


@pytest.mark.requirement("R397")
def test_an_agent_asks_what_is_left_and_is_refused_children_when_the_day_is_used_up(shop: CommandLine) -> None:
    configure_budget(shop, daily_usd=0.1)
    ask = {"run": [shop.program, "budget"]}
    asks = {"run": ["sh", "-c", f"{shop.program} spawn 'More' --detach 2>&1"]}
    shop.ok("add", goal("Ask", uses(1000, 0.04), ask, uses(1000, 0.12, "m2"), asks), "--max-tokens", "9000")
    shop.ok("work", "--once")
    said = shop.ok("show", "e1", "--output") + shop.ok("session", "log", "s1")
    assert "all projects today: $0.04 of $0.10 used, $0.06 left" in said
    assert "s1       tokens  1,000  -         8,000  9,000" in said
    assert "the daily budget is used up: $0.16 of $0.10 (budget.daily_usd)" in said
