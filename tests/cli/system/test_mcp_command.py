"""`ramet mcp`: telling agent programs of the server, and taking it back."""

import json
import subprocess

from tests.cli.command_line import CommandLine


def test_install_shows_what_it_changes_and_remove_takes_it_back(shop: CommandLine) -> None:
    (shop.cwd / ".mcp.json").write_text('{"mcpServers": {"other": {"command": "x"}}}')
    text = shop.ok("mcp", "install", "claude", "codex")
    assert f"claude: added ({shop.cwd}/.mcp.json)" in text
    assert '"ramet": {' in text
    assert "+[mcp_servers.ramet]" in text
    states = {row["vendor"]: row["state"] for row in shop.json("mcp", "status")["items"]}
    assert states == {"claude": "installed", "codex": "installed", "gemini": "absent", "opencode": "absent"}
    assert "claude: removed" in shop.ok("mcp", "remove")
    assert (shop.cwd / ".mcp.json").read_text() == '{"mcpServers": {"other": {"command": "x"}}}'
    assert not (shop.cwd / ".codex").exists()


def test_a_dry_run_only_shows_it(shop: CommandLine) -> None:
    reply = shop.json("mcp", "install", "gemini", "--dry-run")
    assert (reply["dry_run"], reply["items"][0]["result"]) == (True, "added")
    assert "mcpServers" in reply["items"][0]["diff"]
    assert not (shop.cwd / ".gemini").exists()


def test_a_file_that_cannot_be_read_changes_none(shop: CommandLine) -> None:
    (shop.cwd / "opencode.json").write_text("{nonsense")
    done = shop("mcp", "install", "claude", "opencode")
    assert done.returncode == 2
    assert "opencode.json: it is not JSON" in done.stderr
    assert not (shop.cwd / ".mcp.json").exists()


def test_an_entry_that_is_not_ours_is_left_alone_and_said_so(shop: CommandLine) -> None:
    (shop.cwd / ".mcp.json").write_text('{"mcpServers": {"ramet": {"command": "mine"}}}')
    assert "claude: left alone, it is not from Ramet" in shop.ok("mcp", "install", "claude")


def test_without_names_and_without_programs_it_asks_for_names(offline: CommandLine) -> None:
    done = offline("mcp", "install", environ={"PATH": "/nowhere"})
    assert done.returncode == 2
    assert "claude, codex, gemini, opencode" in done.stderr


def test_the_files_are_those_of_the_repository_wherever_one_stands_in_it(shop: CommandLine) -> None:
    (shop.cwd / "deep" / "er").mkdir(parents=True)
    inside = CommandLine(shop.home, shop.cwd / "deep" / "er")
    inside.ok("mcp", "install", "claude")
    assert (shop.cwd / ".mcp.json").exists()


def test_alone_it_is_the_server(offline: CommandLine) -> None:
    client = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
    request = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": client})
    server = subprocess.run(
        [offline.program, "mcp"],
        input=request + "\n",
        capture_output=True,
        text=True,
        env=offline.environ,
        cwd=offline.cwd,
        timeout=60,
        check=True,
    )
    assert json.loads(server.stdout)["result"]["serverInfo"]["name"] == "ramet"


def test_the_doctor_says_whether_agents_can_spawn(ramet: CommandLine) -> None:
    findings = {row["name"]: row for row in json.loads(ramet("doctor", "--json").stdout)["items"]}
    assert findings["tools"]["result"] == "ok"
    assert findings["tools"]["detail"].startswith("mcp 2.")
