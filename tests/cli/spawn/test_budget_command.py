"""`ramet budget`: what sessions may use together with all below them."""

import pytest
from tests.cli import family
from tests.cli.command_line import CommandLine
from tests.cli.family import goal, says, uses


@pytest.fixture
def ramet(shop: CommandLine) -> CommandLine:
    return family.begin(shop)


def table(text: str) -> list[list[str]]:
    return [line.split() for line in text.splitlines()]


def test_without_a_bound_it_says_what_was_used(ramet: CommandLine) -> None:
    ramet.ok("spawn", goal("Look", says("done"), uses(1200, 0.03)), "--parent", "s1")
    assert ramet.ok("budget").splitlines() == [
        "s1 has no budget; used so far, with its children: 1,200 tokens, $0.03",
        "child s2 (e2, success) used 1,200 tokens, $0.03",
    ]


def test_a_bound_counts_what_is_below_and_what_is_promised(ramet: CommandLine) -> None:
    ramet.ok("spawn", goal("Look", says("done"), uses(1200, 0.03)), "--parent", "s1")
    ramet.ok("budget", "s1", "--tokens", "5000", "--cost", "2")
    ramet.ok("spawn", goal("Later", says("done")), "--parent", "s1", "--tokens", "3000", "--detach")
    assert table(ramet.ok("budget", "s3")) == [
        ["SESSION", "BOUND", "USED", "RESERVED", "LEFT", "OF"],
        ["s3", "tokens", "0", "-", "3,000", "3,000"],
        ["s1", "tokens", "1,200", "3,000", "800", "5,000"],
        ["s1", "cost", "$0.03", "-", "$1.97", "$2.00"],
    ]
    refused = ramet("spawn", "More", "--parent", "s1", "--tokens", "801")
    assert refused.returncode == 4
    assert "budget" in refused.stderr


def test_one_bound_is_set_without_losing_the_other(ramet: CommandLine) -> None:
    ramet.ok("budget", "s1", "--tokens", "5000")
    ramet.ok("budget", "s1", "--cost", "0.5")
    own = ramet.json("budget", "s1")["own"]
    assert (own["tokens"], own["cost_usd"]) == (5000, 0.5)
    ramet.ok("budget", "s1", "--clear")
    assert ramet.json("budget", "s1")["own"] is None


@pytest.mark.parametrize(
    "words", [["--tokens", "5"], ["--clear"], ["s1", "--clear", "--cost", "1"], ["s1", "--tokens", "0"]]
)
def test_what_makes_no_sense_is_refused(ramet: CommandLine, words: list[str]) -> None:
    assert ramet("budget", *words).returncode == 2


def test_an_agent_may_look_at_its_budget_and_not_change_it(ramet: CommandLine) -> None:
    looks, raises = ([ramet.program, "budget", *words] for words in ([], ["s2", "--tokens", "100000"]))
    steps = [{"run": looks}, {"run": ["sh", "-c", f"{' '.join(raises)} 2>&1"]}]
    said = ramet.ok("spawn", goal("Look", *steps), "--parent", "s1", "--tokens", "3000")
    assert "s2       tokens  0     -         3,000  3,000" in said
    assert "this command is not available to agents" in said
    assert ramet.json("budget", "s2")["own"]["tokens"] == 3000


def test_a_cost_that_no_agent_reports_is_unknown_and_not_nothing(ramet: CommandLine) -> None:
    assert ramet.ok("budget") == "s1 has no budget; used so far, with its children: -\n"
    ramet.ok("budget", "s1", "--cost", "2")
    assert table(ramet.ok("budget"))[1] == ["s1", "cost", "-", "-", "$2.00", "$2.00"]
    silent = {"event": {"kind": "usage", "key": "m1", "input_tokens": 1200}}
    ramet.ok("spawn", goal("Look", says("done"), silent), "--parent", "s1")
    assert table(ramet.ok("budget"))[1] == ["s1", "cost", "-", "-", "-", "$2.00"]
