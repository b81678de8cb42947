"""`ramet usage`: what agents used, in a table that fits the terminal."""

import re
from datetime import UTC, datetime

import pytest
from tests.cli import family
from tests.cli.command_line import CommandLine
from tests.cli.family import goal, says, uses
from tests.cli.terminal import at_terminal


@pytest.mark.requirement("R396")
def test_usage_is_shown_in_groups_with_its_total_and_fits_80_columns(shop: CommandLine) -> None:
    assert shop.ok("usage", "--since", "all") == "nothing was used\n"
    ramet = family.begin(shop)
    ramet.ok("spawn", goal("Look", says("done"), uses(1200, 0.03)), "--parent", "s1")
    ramet.ok("spawn", goal("Look again", says("done"), uses(800)), "--parent", "s1")
    utc = {"TZ": "UTC"}
    today = datetime.now(UTC).date().isoformat()
    lines = ramet.ok("usage").splitlines()
    assert lines[0].split() == ["DAY", "CALLS", "INPUT", "OUTPUT", "READ", "WRITE", "CACHE", "COST", "TIME"]
    assert lines[1].split()[1:8] == ["2", "2k", "0", "0", "0", "0%", "$0.03"]
    assert lines[2].split()[:8] == ["total", "2", "2k", "0", "0", "0", "0%", "$0.03"]
    assert lines[3].startswith("days of ")
    efforts = ramet.ok("usage", "--by", "effort,skill,agent").splitlines()
    assert efforts[1].split()[:5] == ["e2", "do", "command", "1", "1.2k"]
    assert efforts[2].split()[8:10] == ["0%", "-"]
    assert efforts[-1] == "- unknown"
    seen = at_terminal(ramet, "usage", "--by", "day,project,model,agent,skill,effort", columns=80, environ=utc)
    shown = [re.sub(r"\x1b\[[0-9;]*m", "", line).rstrip() for line in seen.text.splitlines()]
    assert max(map(len, shown)) <= 80
    assert today in shown[1] or shown[1].startswith(today[:7])
    document = ramet.json("usage", "--by", "effort", "--limit", "1")
    assert [row["effort_id"] for row in document["items"]] == [2]
    # The session of which they are children has run without using anything.
    assert (document["left_out"], document["total"]["input_tokens"]) == (2, 2000)
    assert ramet.ok("usage", "--since", "today", "-A", "--by", "project").splitlines()[1].split()[0] == "site"


@pytest.mark.requirement("R396")
@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--by", "colour"], "'colour' is no group; choose from day, project, model, agent, skill, effort"),
        (["--by", ","], "give at least one group"),
        (["--since", "tomorrow"], "'tomorrow' is not a time"),
        (["--since", "2026-13-01"], "'2026-13-01' is not a time"),
        (["--since", "2999-01-01"], "'2999-01-01' is in the future"),
        (["--since", "999999w"], "'999999w' is not a time"),
        (["--since", "-3d"], "'-3d' is not a time"),
        (["--limit", "0"], "0 is not in the range"),
    ],
)
def test_bad_periods_and_groups_are_refused_with_what_to_write(
    offline: CommandLine, words: list[str], said: str
) -> None:
    done = offline("usage", *words)
    assert (done.returncode, said in done.stderr) == (2, True), done.stderr
