"""`--max-cost` and `--max-tokens`: a bound ends the running agent, and one that cannot be measured is refused."""

from typing import Any

import pytest
from tests.agents import fake_agent
from tests.cli.command_line import CommandLine
from tests.cli.family import configure_budget, goal, says, uses


def waits() -> dict[str, Any]:
    return {"sleep": 600}


@pytest.mark.requirement("R397")
def test_an_effort_ends_with_budget_when_its_cost_passes_its_bound(shop: CommandLine) -> None:
    configure_budget(shop)
    shop.ok("add", goal("Spend", says("thinking"), uses(1000, 0.04), waits()), "--max-cost", "0.03")
    shop.ok("add", goal("Read", says("thinking"), uses(5000, None), waits()), "--max-tokens", "4000")
    shop.ok("add", goal("Save", says("done"), uses(1000, 0.01)), "--max-cost", "$0.50", "--max-tokens", "2000")
    assert shop("work", "--once", "--workers", "3").returncode == 1
    rows = {row["id"]: row for row in shop.json("queue", "--all")["items"]}
    assert [rows[number]["outcome"] for number in (1, 2, 3)] == ["budget", "budget", "no_change"]
    assert "have used $0.0400 of $0.0300" in rows[1]["reason"]
    assert "have used 5,000 tokens of 4,000 tokens" in rows[2]["reason"]


@pytest.mark.requirement("R397")
def test_the_bound_of_a_run_ends_its_running_agents(shop: CommandLine) -> None:
    profile = {"driver": "command", "program": fake_agent.program([uses(1000, 0.04), waits()]), "output": "jsonl"}
    shop.configure({"drivers": {"default": "fake", "profiles": {"fake": profile}}})
    (shop.cwd / "tasks.md").write_text("- [ ] Spend\n- [ ] Never\n")
    assert shop("run", "tasks.md", "--max-cost", "0.03", "--yes").returncode != 0
    lines = shop.json("runs", "show", "r1")["lines"]
    assert [line["outcome"] for line in lines] == ["budget", "budget"]


@pytest.mark.requirement("R397")
def test_a_bound_that_cannot_be_measured_is_refused_with_what_to_do(shop: CommandLine) -> None:
    profile = {"driver": "command", "program": fake_agent.program(), "output": "text"}
    codex = {"program": fake_agent.program(), "model": "home-made"}
    shop.configure({"drivers": {"default": "mute", "profiles": {"mute": profile, "codex": codex}}})
    silent = shop("add", "Fix it", "--max-tokens", "100")
    assert (silent.returncode, "mute does not report what it uses" in silent.stderr) == (2, True), silent.stderr
    shell = shop("add", "make test", "--skill", "shell", "--max-cost", "1")
    assert (shell.returncode, "shell does not report what it uses" in shell.stderr) == (2, True)
    unknown = shop("chain", "Fix it", "--driver", "codex", "--max-cost", "1")
    assert unknown.returncode == 2
    assert "codex does not report its cost, and the price of home-made is unknown" in unknown.stderr
    assert "fix: add prices.input and prices.output for home-made to your configuration, or use --max-tokens" in (
        unknown.stderr
    )
    assert shop("add", "Fix it", "--driver", "codex", "--max-tokens", "100").returncode == 0
    assert shop("add", "Fix it", "--driver", "codex", "--model", "gpt-5", "--max-cost", "1").returncode == 0
    assert len(shop.json("queue")["items"]) == 2


@pytest.mark.requirement("R397")
@pytest.mark.parametrize(
    ("command", "words", "said"),
    [
        (["add", "x"], ["--max-cost", "-1"], "is not an amount above 0"),
        (["chain", "x"], ["--max-cost", "nan"], "is not an amount above 0"),
        (["spawn", "x", "--parent", "s1"], ["--max-cost", "1e400"], "is not an amount above 0"),
        (["run", "x.md"], ["--max-cost", "cheap"], "'cheap' is not an amount"),
        (["add", "x"], ["--max-tokens", "0"], "0 is not in the range"),
        (["budget", "s1"], ["--max-tokens", "99999999999999999999"], "is not in the range"),
    ],
)
def test_amounts_that_make_no_sense_are_refused(
    offline: CommandLine, command: list[str], words: list[str], said: str
) -> None:
    done = offline(*command, *words)
    assert (done.returncode, said in done.stderr) == (2, True), done.stderr
