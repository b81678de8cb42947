"""`ramet diff`, from the queue to the terminal."""

import subprocess
from pathlib import Path

import pytest
from tests.cli.command_line import CommandLine
from tests.cli.terminal import at_terminal

HOSTILE = "printf 'a\\033]0;owned\\007\\342\\200\\256b\\n\\377\\n' > \"$(printf 'x\\033[2J\\nname')\""


@pytest.mark.requirement("R400")
def test_the_change_of_an_effort_is_shown_in_every_form(shop: CommandLine) -> None:
    shop.ok("add", "echo one > cart.txt; echo two > basket.txt", "--skill", "implement", "--driver", "shell")
    shop.ok("work", "--once")
    patch = shop.ok("diff", "e1")
    heading, first = patch.splitlines()[:2]
    assert heading.startswith("e1 on ramet/e1 since ")
    assert heading.endswith(": 2 files, +2 -0")
    assert first == "diff --git a/basket.txt b/basket.txt"
    applied = subprocess.run(["git", "apply"], input=patch, cwd=shop.cwd, text=True, check=True)
    assert (applied.returncode, (shop.cwd / "cart.txt").read_text()) == (0, "one\n")
    assert shop.ok("diff", "e1", "--stat").splitlines()[1:] == ["basket.txt | 1 +", "cart.txt   | 1 +"]
    assert shop.ok("diff", "e1", "--name-only") == "basket.txt\ncart.txt\n"
    [item] = shop.json("diff", "e1")["items"]
    [branch] = item["branches"]
    assert (item["effort_id"], branch["branch"], len(branch["files"])) == (1, "ramet/e1", 2)
    assert "\x1b[32m" in at_terminal(shop, "diff", "e1").text
    assert shop("diff", "main").returncode == 2
    assert shop("diff", "e9").returncode == 3
    assert shop("diff", "e1", "--stat", "--name-only").returncode == 2


@pytest.mark.requirement("R400")
def test_nothing_hostile_reaches_the_terminal_and_nothing_is_hidden(shop: CommandLine) -> None:
    shop.ok("add", HOSTILE, "--skill", "implement", "--driver", "shell")
    shop.ok("work", "--once")
    for options in ([], ["--stat"], ["--name-only"]):
        shown = at_terminal(shop, "diff", "e1", *options).text
        assert "\x1b]" not in shown
        assert "\x1b[2J" not in shown
        assert "\u202e" not in shown
        assert "x\\x1b[2J\\x0aname" in shown or r"x\033[2J\nname" in shown
    assert "+a\\x1b]0;owned\\x07\\u202eb" in at_terminal(shop, "diff", "e1").text


@pytest.mark.requirement("R400")
def test_a_long_patch_goes_to_the_pager(shop: CommandLine, tmp_path: Path) -> None:
    shop.ok("add", "seq 1000 > cart.txt", "--skill", "implement", "--driver", "shell")
    shop.ok("work", "--once")
    pager = tmp_path / "pager"
    pager.write_text("#!/bin/sh\nhead -n 1\n")
    pager.chmod(0o755)
    seen = at_terminal(shop, "diff", "e1", environ={"RAMET_PAGER": str(pager)})
    assert (seen.status, "on ramet/e1 since" in seen.text, "+999" in seen.text) == (0, True, False)
