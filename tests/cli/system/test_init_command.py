"""`ramet init`: a project set up in one step, and back."""

import json
import re
import subprocess
from pathlib import Path

import pytest
from tests.cli.command_line import CommandLine


def untracked(shop: CommandLine) -> str:
    return subprocess.run(["git", "status", "--short"], cwd=shop.cwd, capture_output=True, text=True, check=True).stdout


def results(shop: CommandLine, *arguments: str) -> list[tuple[str, ...]]:
    """What was done, without the files that it was done to."""
    scope = () if "--remove" in arguments else ("--scope", "project")
    items = shop.json("init", "--agent", "claude", "--agent", "codex", *scope, *arguments)["items"]
    return [tuple(filter(None, (item["what"], item["vendor"], item["result"]))) for item in items]


def test_it_sets_everything_up_and_says_so(shop: CommandLine) -> None:
    assert results(shop) == [
        ("project", "registered"),
        ("folder", "made"),
        ("hooks", "claude", "added"),
        ("hooks", "codex", "added"),
        ("tools", "claude", "added"),
        ("tools", "codex", "added"),
    ]
    assert [row["path"] for row in shop.json("project", "list")["items"]] == [str(shop.cwd)]
    assert "PreToolUse" in json.loads((shop.cwd / ".claude/settings.json").read_text())["hooks"]
    assert "ramet" in json.loads((shop.cwd / ".mcp.json").read_text())["mcpServers"]
    assert (shop.home / "ramet" / "hook").exists()
    assert ".ramet" not in untracked(shop)


def test_a_program_learns_of_each_file_what_became_of_it(shop: CommandLine) -> None:
    items = shop.json("init", "--agent", "claude", "--scope", "project", "--dry-run")["items"]
    hooks = next(item for item in items if item["what"] == "hooks")
    assert (hooks["vendor"], hooks["file"]) == ("claude", str(shop.cwd / ".claude/settings.json"))
    assert '+  "hooks": {' in hooks["diff"]
    assert {key for item in items for key in item} == {"what", "vendor", "file", "result", "diff"}
    assert items[0] == {"what": "project", "vendor": None, "file": str(shop.cwd), "result": "registered", "diff": None}


def test_running_it_again_changes_nothing(shop: CommandLine) -> None:
    results(shop)
    before = {file: file.read_bytes() for file in shop.cwd.rglob("*") if file.is_file() and ".git" not in file.parts}
    assert {words[-1] for words in results(shop)} == {"is registered", "is there", "unchanged"}
    assert {file: file.read_bytes() for file in before} == before


def test_remove_leaves_the_project_as_it_was(shop: CommandLine) -> None:
    (shop.cwd / ".mcp.json").write_text('{"mcpServers": {}}')
    before = untracked(shop)
    results(shop)
    assert results(shop, "--remove")[-2:] == [
        ("folder", "removed"),
        ("project", "stays registered, with what was done in it"),
    ]
    assert untracked(shop) == before
    assert (shop.cwd / ".mcp.json").read_text() == '{"mcpServers": {}}'
    assert not (shop.cwd / ".ramet").exists()


def test_what_agents_wrote_stays_when_it_is_taken_back(shop: CommandLine) -> None:
    results(shop)
    (shop.cwd / ".ramet/1_PLAN.md").write_text("A plan.")
    assert ("folder", "stays: there is something in it") in results(shop, "--remove")
    assert (shop.cwd / ".ramet/1_PLAN.md").exists()


def test_a_dry_run_writes_nothing(shop: CommandLine) -> None:
    text = shop.ok("init", "--agent", "claude", "--scope", "project", "--dry-run")
    assert '+  "hooks": {' in text
    assert f"project  would register ({shop.cwd})\n" in text
    assert f"hooks    claude: would add ({shop.cwd}/.claude/settings.json)\n" in text
    assert text.endswith("nothing was written\n")
    assert not re.search(r": (added|removed|made|created) ", text)
    assert untracked(shop) == ""
    assert shop.json("project", "list")["items"] == []


def test_a_dry_run_of_the_removal_removes_nothing(shop: CommandLine) -> None:
    results(shop)
    text = shop.ok("init", "--agent", "claude", "--remove", "--dry-run")
    assert f"hooks    claude: would remove ({shop.cwd}/.claude/settings.json)\n" in text
    assert text.endswith("nothing was written\n")
    assert (shop.cwd / ".claude/settings.json").exists()


def test_it_is_the_repository_around_that_is_set_up(shop: CommandLine) -> None:
    (shop.cwd / "deep").mkdir()
    CommandLine(shop.home, shop.cwd / "deep").ok("init", "--agent", "claude", "--scope", "project")
    assert (shop.cwd / ".claude/settings.json").exists()
    assert not (shop.cwd / "deep/.claude").exists()


def test_in_a_linked_worktree_the_programs_find_it_there_and_the_project_is_the_repository_s(shop: CommandLine) -> None:
    tree = shop.home / "tree"
    identity = ["-c", "user.name=Dev", "-c", "user.email=dev@example.com"]
    for arguments in (
        [*identity, "commit", "--quiet", "--allow-empty", "--message=Begin"],
        ["worktree", "add", "--quiet", "-b", "side", str(tree)],
    ):
        subprocess.run(["git", *arguments], cwd=shop.cwd, check=True, capture_output=True)
    (tree / "deep").mkdir()
    linked = CommandLine(shop.home, tree / "deep")
    linked.ok("init", "--agent", "claude", "--agent", "codex", "--scope", "project")
    for file in (".claude/settings.json", ".codex/config.toml", ".mcp.json"):
        assert ((tree / file).exists(), (shop.cwd / file).exists()) == (True, False)
    assert ((tree / ".codex/hooks.json").exists(), (shop.cwd / ".codex/hooks.json").exists()) == (False, True)
    assert (shop.cwd / ".ramet").is_dir()
    assert [row["path"] for row in shop.json("project", "list")["items"]] == [str(shop.cwd)]
    at_top = CommandLine(shop.home, tree)
    rows = [row for row in at_top.json("hooks", "status")["items"] if row["scope"] == "project"]
    assert [row["state"] for row in rows] == ["installed", "installed"]
    linked.ok("init", "--remove")
    assert [folder for folder in (tree / ".claude", tree / ".codex", shop.cwd / ".codex") if folder.exists()] == []


def test_without_any_program_it_is_a_project_all_the_same(shop: CommandLine) -> None:
    git = subprocess.run(["which", "git"], capture_output=True, text=True, check=True).stdout.strip()
    only_git = shop.home / "bin"
    only_git.mkdir()
    (only_git / "git").symlink_to(git)
    done = shop("init", environ={"PATH": str(only_git)})
    assert "no agent program is installed; choose one with --agent: claude, codex" in done.stdout
    assert [row["path"] for row in shop.json("project", "list")["items"]] == [str(shop.cwd)]


def test_it_says_what_comes_next(shop: CommandLine) -> None:
    text = shop.ok("init", "--agent", "claude", "--agent", "codex")
    assert 'start it once, and choose "Trust all and continue"' in text
    assert text.endswith("next: start claude or codex here, as usual; `ramet ps` then shows it\n")


def test_a_file_in_the_way_is_named_and_nothing_is_left_half_done(shop: CommandLine) -> None:
    (shop.cwd / ".claude").write_text("in the way")
    done = shop("init", "--agent", "claude", "--agent", "codex", "--scope", "project")
    assert done.returncode == 2
    assert f"error: {shop.cwd}/.claude/settings.json cannot be written" in done.stderr
    assert f"fix: make sure that {shop.cwd}/.claude is a folder" in done.stderr
    assert not (shop.cwd / ".codex").exists()
    (shop.cwd / ".ramet").rename(shop.cwd / "other")
    (shop.cwd / ".ramet").write_text("in the way, too")
    done = shop("init", "--agent", "claude")
    assert (done.returncode, f"error: cannot create {shop.cwd}/.ramet" in done.stderr) == (2, True)


def test_settings_that_are_a_link_stay_one(shop: CommandLine) -> None:
    kept, link = shop.cwd / "kept.json", shop.cwd / ".claude/settings.json"
    link.parent.mkdir()
    link.symlink_to(kept)
    for before in (None, '{"theme": "dark"}'):
        if before is not None:
            kept.write_text(before)
        shop.ok("init", "--agent", "claude", "--scope", "project")
        assert "PreToolUse" in json.loads(kept.read_text())["hooks"]
        shop.ok("init", "--agent", "claude", "--remove")
        assert link.is_symlink()
        assert (kept.read_text() if kept.exists() else None) == before


BOTH = ("--agent", "claude", "--agent", "codex")


def contents(folder: Path) -> dict[str, bytes]:
    """Every file below a folder."""
    return {str(file.relative_to(folder)): file.read_bytes() for file in folder.rglob("*") if file.is_file()}


@pytest.mark.requirement("R366")
def test_by_default_it_writes_to_the_users_own_settings_and_git_sees_nothing(shop: CommandLine) -> None:
    user = Path(shop.environ["HOME"])
    (user / ".codex").mkdir(parents=True)
    (user / ".codex/config.toml").write_text('model = "x"\n')
    (user / ".claude.json").write_text('{"theme": "dark"}')
    before = contents(user)
    shop.ok("init", *BOTH)
    assert untracked(shop) == ""
    hooks = json.loads((user / ".claude/settings.json").read_text())["hooks"]
    assert hooks["PreCompact"][0]["hooks"][0]["command"] == f"{shop.home}/ramet/hook claude # ramet hooks"
    assert json.loads((user / ".claude.json").read_text())["mcpServers"]["ramet"]["args"] == ["mcp"]
    assert "[mcp_servers.ramet]" in (user / ".codex/config.toml").read_text()
    (shop.cwd / "deep").mkdir()
    deep = CommandLine(shop.home, shop.cwd / "deep").json("hooks", "status")
    assert [each["is_recorded"] for each in deep["here"]] == [True, True]
    elsewhere = CommandLine(shop.home, shop.home)
    assert "is in no registered project\n  fix: ramet init --agent claude" in elsewhere.ok("hooks", "status")
    assert "here: claude is not recorded" in elsewhere("doctor").stdout
    shop.ok("init", "--remove")
    assert contents(user) == before


@pytest.mark.requirement("R366")
def test_the_local_scope_is_for_one_clone_and_git_sees_nothing(shop: CommandLine) -> None:
    exclude = shop.cwd / ".git/info/exclude"
    before = exclude.read_bytes()
    shop.ok("init", *BOTH, "--scope", "local")
    assert untracked(shop) == ""
    assert "PreToolUse" in json.loads((shop.cwd / ".claude/settings.local.json").read_text())["hooks"]
    assert not (shop.cwd / ".claude/settings.json").exists()
    again = shop.json("init", *BOTH, "--scope", "local")["items"]
    assert {item["result"] for item in again} == {"is registered", "is there", "unchanged"}
    shop.ok("init", "--remove", "--scope", "local")
    assert exclude.read_bytes() == before
    assert sorted(path.name for path in shop.cwd.iterdir()) == [".git"]


@pytest.mark.requirement("R366")
def test_the_local_scope_leaves_a_file_alone_that_git_tracks(shop: CommandLine) -> None:
    (shop.cwd / ".mcp.json").write_text("{}")
    subprocess.run(["git", "add", ".mcp.json"], cwd=shop.cwd, check=True)
    subprocess.run(["git", "commit", "-qm", "Share"], cwd=shop.cwd, check=True, env={**shop.environ})
    items = shop.json("init", "--agent", "claude", "--scope", "local")["items"]
    assert [item["result"] for item in items if item["what"] == "tools"] == ["left alone: git tracks it"]
    assert untracked(shop) == ""
    (shop.cwd / ".git/info/exclude").unlink()
    (shop.cwd / ".git/info/exclude").symlink_to(shop.home / "outside")
    done = shop("init", "--agent", "codex", "--scope", "local")
    assert (done.returncode, "leads through a symbolic link" in done.stderr) == (2, True)
    assert not (shop.home / "outside").exists()


@pytest.mark.requirement("R366")
def test_status_and_doctor_say_that_a_program_in_a_sub_directory_does_not_see_its_projects_hooks(
    shop: CommandLine,
) -> None:
    shop.ok("init", "--agent", "claude", "--scope", "project")
    (shop.cwd / "deep").mkdir()
    deep = CommandLine(shop.home, shop.cwd / "deep")
    done = deep("hooks", "status")
    assert done.returncode == 1
    assert f"here: claude is not recorded: its hooks are in {shop.cwd}/.claude/settings.json" in done.stdout
    assert "warn" in next(line for line in deep("doctor").stdout.splitlines() if "here: claude" in line)
    shop.ok("init", "--agent", "claude")
    assert "here: claude is recorded: by its user settings" in deep.ok("hooks", "status")


@pytest.mark.requirement("R366")
def test_taking_the_users_own_settings_back_says_that_other_projects_are_affected(shop: CommandLine) -> None:
    shop.ok("init", "--agent", "claude")
    other = shop.home / "other"
    other.mkdir()
    shop.ok("project", "add", str(other))
    assert "this also affects 1 other project" in shop.ok("init", "--remove", "--scope", "user")
