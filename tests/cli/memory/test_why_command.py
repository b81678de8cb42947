"""`ramet why` from the queue to the terminal: a real daemon, a real agent program, real git."""

import subprocess

import pytest
from tests.cli import family
from tests.cli.command_line import CommandLine

TEXT = "def total(cart):\n    amount = sum(item.price for item in cart)\n    return round(amount, 2)\n"


def _call(tool: str, given: dict[str, object]) -> list[dict[str, object]]:
    return [
        {"event": {"kind": "tool_call", "call_id": tool, "name": tool, "input": given}},
        {"event": {"kind": "tool_result", "call_id": tool, "name": tool, "output": "ok"}},
    ]


def _git(shop: CommandLine, *words: str) -> str:
    identity = ("-c", "user.name=P", "-c", "user.email=p@example.com")
    environ = {**shop.environ, "GIT_CONFIG_GLOBAL": "/dev/null"}
    done = subprocess.run(
        ["git", *identity, *words], cwd=shop.cwd, env=environ, capture_output=True, text=True, check=True
    )
    return done.stdout.strip()


@pytest.mark.requirement("R395")
def test_a_line_of_a_queued_agent_is_explained_after_a_squash(shop: CommandLine) -> None:
    family.begin(shop)
    writes = {"write": "cart.py", "text": TEXT}
    told = _call("write", {"path": "cart.py", "content": TEXT, "is_new": True})
    prompt = family.goal("Add up the cart.", writes, *told, family.says("done"))
    shop.ok("add", prompt, "--skill", "do", "--task", "tasks/cart")
    shop.ok("work", "--once")
    effort = shop.json("queue", "--all")["items"][-1]["id"]
    branch = shop.json("show", f"e{effort}")["git_branch"]
    _git(shop, "merge", "-q", "--squash", branch)
    _git(shop, "commit", "-q", "-m", "a cart")
    said = shop.ok("why", "cart.py:2")
    assert f"e{effort} do" in said
    assert "Add up the cart." in said
    assert "write by" in said
    assert f"ramet show e{effort}" in said
    assert max(map(len, said.splitlines())) <= 80
    table = shop.ok("why", "cart.py")
    assert "cart.py: 3 lines, 3 by agents (100 %), 0 unknown" in table
    reply = shop.json("why", "cart.py:1-2")
    assert [(each["first"], each["last"], each["certainty"]) for each in reply["ranges"]] == [(1, 2, "edit")]
    assert "wrote 1 note" in shop.ok("why", "--export-notes")
    assert f"e{effort}" in _git(shop, "notes", "--ref=ramet", "show", "HEAD")
    missing = shop("why", "nothing.py")
    assert (missing.returncode, "there is no file" in missing.stderr) == (3, True)
    outside = shop("why", "/etc/passwd")
    assert (outside.returncode, "not in a git repository" in outside.stderr) == (2, True)
    assert shop("why").returncode == 2
