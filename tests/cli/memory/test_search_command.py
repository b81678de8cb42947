"""`ramet search`: what a person sees of a hit, and what a program gets."""

import json
from pathlib import Path

import pytest
from tests.cli.command_line import CommandLine

PROMPT = "Please make the walrus retry policy wait longer, because the harbour closes its connections at night."


@pytest.mark.requirement("R386", "R454")
def test_a_hit_is_shown_with_its_words_its_place_and_the_command_that_opens_it(shop: CommandLine, home: Path) -> None:
    shop.ok("add", PROMPT, "--driver", "shell", "--skill", "plan")
    reply = shop.json("search", "walrus", "harbour")
    (hit, *_) = reply["items"]
    assert (hit["rung"], hit["kind"]) == ("all", "goal")
    assert hit["snippet"] == PROMPT
    assert [PROMPT[first:last] for first, last in hit["highlights"]] == ["walrus", "harbour"]
    shown = shop.ok("search", "walrus", "harbour")
    assert hit["place"] in shown
    assert "all words" in shown
    assert hit["open_with"] in shown
    assert max(map(len, shown.splitlines())) <= 80
    assert PROMPT in shop.ok("search", "walrus", "--open")
    assert (home / "ramet" / "search.db").exists()
    nothing = shop.ok("search", "zeppelin")
    assert nothing.startswith("nothing was found")
    assert shop.json("search", "walrsu")["suggestion"] == "walrus"
    refused = shop("search", "colour:red", "walrus")
    assert (refused.returncode, "colour" in refused.stderr, "kind:" in refused.stderr) == (2, True, True)
    assert json.loads(shop("search", "--json", "?!").stdout or shop("search", "--json", "?!").stderr)["error"]
    assert shop("search", "walrus", "--kind", "fish").returncode == 2
