"""`ramet why` of lines that shell commands wrote: a real daemon, a real keeper, a real agent program."""

import subprocess

import pytest
from tests.cli import family
from tests.cli.command_line import CommandLine

SECRET = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
APPEND = f"printf 'def refund(cart):\\n    return reverse(cart.payment, \"{SECRET}\")\\n' >> shop.py"
REPLACE = "sed -i 's/^price = 1$/price = find_price(customer)/' shop.py"
CREATE = "python3 -c \"open('new.py','w').write('first_setting = 10\\nsecond_setting = 20\\n')\""
TEXT = "import cart\n\nprice = 1\nname = 'shop'\n"


def _looks(count: int) -> dict[str, object]:
    """Wait until the keeper has looked at the worktree so many times."""
    seen = 'cat "$RAMET_HOME"/keepers/*/"$RAMET_KEEPER"/looks.jsonl 2>/dev/null | wc -l'
    wait = f"for i in $(seq 1000); do [ $({seen}) -ge {count} ] && break; sleep 0.02; done"
    return {"run": ["sh", "-c", wait]}


def _call(call_id: str, command: str) -> dict[str, object]:
    return {"event": {"kind": "tool_call", "call_id": call_id, "name": "shell", "input": {"command": command}}}


def _result(call_id: str) -> dict[str, object]:
    return {"event": {"kind": "tool_result", "call_id": call_id, "name": "shell", "output": "ok"}}


def _runs(call_id: str, command: str, looks: int) -> list[dict[str, object]]:
    return [_call(call_id, command), {"run": ["sh", "-c", command]}, _result(call_id), _looks(looks)]


def _git(shop: CommandLine, *words: str) -> str:
    identity = ("-c", "user.name=P", "-c", "user.email=p@example.com")
    environ = {**shop.environ, "GIT_CONFIG_GLOBAL": "/dev/null"}
    done = subprocess.run(
        ["git", *identity, *words], cwd=shop.cwd, env=environ, capture_output=True, text=True, check=True
    )
    return done.stdout.strip()


def _do(shop: CommandLine, *steps: dict[str, object]) -> int:
    """An effort that ran to its end, squashed into the person's branch."""
    shop.ok(
        "add", family.goal("Change the shop.", *steps, family.says("done")), "--skill", "do", "--task", "tasks/cart"
    )
    shop.ok("work", "--once")
    effort = int(shop.json("queue", "--all")["items"][-1]["id"])
    shown = shop.json("show", f"e{effort}")
    assert shown["outcome"] == "success", shown
    _git(shop, "merge", "-q", "--squash", shown["git_branch"])
    _git(shop, "commit", "-q", "-m", f"shop\n\nRamet-Effort: e{effort}")
    return effort


def _tools(shop: CommandLine, path: str) -> list[tuple[int, int, str, str | None]]:
    """Each range of a file: its lines, its certainty, and its command."""
    reply = shop.json("why", path)
    found = []
    for part in reply["ranges"]:
        source = None if part["source"] is None else reply["sources"][part["source"]]
        edit = source and source["edit"]
        given = None
        if edit:
            assert edit["kind"] == "shell"
            given = edit["command"]
        found.append((part["first"], part["last"], part["certainty"], given))
    return found


@pytest.mark.requirement("R395")
def test_lines_of_shell_commands_name_the_command_if_it_was_alone(shop: CommandLine) -> None:
    family.begin(shop)
    (shop.cwd / "shop.py").write_text(TEXT)
    _git(shop, "add", "-A")
    _git(shop, "commit", "-q", "-m", "a shop")
    effort = _do(
        shop,
        _looks(1),
        *_runs("c1", REPLACE, 2),
        *_runs("c2", APPEND, 3),
        *_runs("c3", CREATE, 4),
        # Two at once: nobody knows which of them wrote the file.
        _call("c4", "one"),
        _call("c5", "two"),
        {"write": "both.py", "text": "written_by_one = True\nwritten_by_two = True\n"},
        _result("c4"),
        _result("c5"),
    )
    first, replaced, kept, appended = _tools(shop, "shop.py")
    assert first == (1, 2, "unknown", None)
    assert kept == (4, 4, "unknown", None)
    assert replaced[:3] == (3, 3, "edit")
    assert replaced[3] == REPLACE
    assert appended[:3] == (5, 6, "edit")
    assert "def refund(cart)" in (appended[3] or "")
    assert SECRET not in (appended[3] or "")
    ((_, _, certainty, given),) = _tools(shop, "new.py")
    assert certainty == "edit"
    assert given == CREATE
    assert _tools(shop, "both.py") == [(1, 2, "effort", None)]
    said = shop.ok("why", "shop.py:3")
    assert "shell by" in said
    assert f"command  {REPLACE}" in said
    assert max(map(len, said.splitlines())) <= 80
    assert f"e{effort} do" in said
    assert "not known, such as a shell command" in shop.ok("why", "both.py:1")
