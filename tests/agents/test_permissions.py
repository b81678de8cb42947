"""What the policy lets the real programs do: edit, run a trusted check and commit; and what a person allows later."""

import json
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.agents.project import Project
from tests.agents.stage import a_stage

pytestmark = [pytest.mark.agents, pytest.mark.timeout(180)]

MAKEFILE = "test:\n\techo tested > tested.txt\n"
_COMMIT = "git add -A && git commit -qm 'Add a note'"


def _claude(*commands: str) -> list[list[dict[str, Any]]]:
    return [[{"tool": "Bash", "input": {"command": each, "description": "Do it"}}] for each in commands]


def _codex(*commands: str) -> list[list[dict[str, Any]]]:
    return [[{"tool": "exec_command", "input": {"cmd": each}}] for each in commands]


EVASIONS = (
    "make test && curl -s http://127.0.0.1:9/",
    'make test; python3 -c \'open("evaded", "w")\'',
    'make test $(python3 -c \'open("evaded", "w")\')',
    'make test `python3 -c \'open("evaded", "w")\'`',
    'make test | python3 -c \'open("evaded", "w")\'',
    'make test\npython3 -c \'open("evaded", "w")\'',
    "MAKEFILES=evil.mk make test",
    "env MAKEFILES=evil.mk make test",
    "make test MAKEFILES=evil.mk",
    "sh -c 'make test'",
    "make test > ../evaded",
    "git commit -qm x --allow-empty > ../evaded",
    'git commit -qm x --allow-empty; python3 -c \'open("evaded", "w")\'',
    'git commit -qm "$(touch ../evaded)" --allow-empty',
    "git add -A <(touch ../evaded)",
    "git -c core.editor=./evil commit --allow-empty",
    f'{"git add -A; " * 60}python3 -c \'open("evaded", "w")\'',
)

SCRIPTS = {
    "claude": [
        [{"tool": "Write", "input": {"file_path": "note.txt", "content": "blue\n"}}],
        *_claude("make test", _COMMIT),
        [{"text": "It is committed."}],
    ],
    "codex": [
        [{"custom": "apply_patch", "input": "*** Begin Patch\n*** Add File: note.txt\n+blue\n*** End Patch"}],
        *_codex("make test", _COMMIT, "echo x > $(git rev-parse --git-common-dir)/hooks/pre-commit"),
        *_codex("echo x >> $(git rev-parse --git-dir)/commondir", "touch $HOME/outside"),
        [{"text": "It is committed."}],
    ],
    "locked": [
        *_codex("echo x > locked/file", "echo x > open.txt", "touch $HOME/outside"),
        [{"text": "I tried."}],
    ],
    "evasions": [*_claude(*EVASIONS), [{"text": "I tried."}]],
    "lint": [
        *_claude("make lint"),
        [{"text": "I was refused."}],
        *_claude("make lint"),
        [{"text": "It is linted."}],
    ],
}


@pytest.fixture
def project(real_agents: None, agent: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[Project]:
    monkeypatch.setattr(tempfile, "tempdir", "/var/tmp")
    with a_stage(agent, SCRIPTS) as stage:
        made = Project(stage)
        configure(made, checks={"test": "make test"})
        made.cwd.joinpath("Makefile").write_text(f"{MAKEFILE}lint:\n\techo linted > linted.txt\n")
        made.git("add", "-A")
        made.git("-c", "user.name=T", "-c", "user.email=t@example.com", "commit", "-qm", "Check")
        made.git("config", "user.name", "T")
        made.git("config", "user.email", "t@example.com")
        try:
            yield made
        finally:
            made("kill", "e1")
            made("daemon", "stop")


def user_file(project: Project) -> Path:
    return Path(project.environ["HOME"]) / ".config" / "ramet" / "config.yaml"


def configure(project: Project, **sections: Any) -> None:
    known = json.loads(user_file(project).read_text(encoding="utf-8"))
    user_file(project).write_text(json.dumps({**known, **sections}), encoding="utf-8")


@pytest.mark.requirement("R452")
@pytest.mark.parametrize("agent", ["claude", "codex"])
def test_an_agent_edits_runs_the_trusted_check_and_commits_with_the_default_policy(
    project: Project, agent: str
) -> None:
    project.ok("add", f"Write it down. [[{agent}]]")
    project.ok("work", "--once")
    effort = project.effort()
    assert effort["outcome"] == "success"
    log = project.git("log", "--format=%an %s", f"main..{effort['git_branch']}")
    assert log == "T Add a note\n"  # the agent's own commit, and nothing that was left for Ramet to commit
    assert sorted(effort["changes"]["files"]) == ["note.txt", "tested.txt"]
    refused = [(call["name"], call["rules"]) for call in effort["refused_calls"]]
    if agent == "claude":
        assert refused == []
    else:
        assert len(refused) == 3  # git's hooks, where git looks for them, and the home are not the agent's
        assert not (project.cwd / ".git" / "hooks" / "pre-commit").exists()


@pytest.mark.requirement("R452")
@pytest.mark.parametrize("agent", ["claude"])
def test_no_command_around_the_trusted_check_passes_with_it(project: Project, agent: str) -> None:
    project.ok("add", "Try. [[evasions]]")
    project.ok("work", "--once")
    effort = project.effort()
    assert [call["call"] for call in effort["refused_calls"]] == [each[:500] for each in EVASIONS]
    assert effort["changes"]["files"] == []


@pytest.mark.parametrize("agent", ["codex"])
def test_the_policy_counts_whatever_sandbox_the_users_own_configuration_of_codex_names(
    project: Project, agent: str
) -> None:
    own = project.stage.folder / "home" / ".codex" / "config.toml"
    own.write_text(f'sandbox_mode = "danger-full-access"\n{own.read_text(encoding="utf-8")}', encoding="utf-8")
    configure(project, permissions={"deny": [{"edit": "locked/**"}]})
    project.cwd.joinpath("locked").mkdir()
    project.cwd.joinpath("locked", "file").write_text("as it was\n")
    project.git("add", "-A")
    project.git("commit", "-qm", "Lock a folder")
    project.ok("add", "Try. [[locked]]")
    project.ok("work", "--once")
    effort = project.effort()
    assert effort["changes"]["files"] == ["open.txt"]
    assert effort["refused"] == 2
    assert not (project.stage.folder / "home" / "outside").exists()


@pytest.mark.requirement("R452")
@pytest.mark.parametrize("agent", ["claude"])
def test_a_refused_call_is_told_then_allowed_then_resumed_in_the_same_context_window(
    project: Project, agent: str
) -> None:
    project.ok("add", "Lint it. [[lint]]")
    project.ok("work", "--once")
    first = project.effort()
    assert (first["refused"], first["changes"]["files"]) == (1, [])
    (notice,) = first["notices"]
    assert "`ramet allow e1 'run: make lint'`" in notice["text"]
    assert "ramet allow e1 'run: make lint'" in project.ok("allow", "e1")
    project.ok("allow", "e1", "run: make lint")
    rules = yaml.safe_load(user_file(project).read_text(encoding="utf-8"))["permissions"]["projects"]
    assert rules == {str(project.cwd): {"allow": ["run: make lint"]}}
    project.ok("work", "--once")
    second = project.effort()
    assert (second["outcome"], second["changes"]["files"]) == ("success", ["linted.txt"])
    assert second["refused"] == 1
    natives = {session["native_id"] for session in second["sessions"]}
    assert len(natives) == 1
    assert "allowed now: run: make lint" in json.dumps(project.stage.model.requests()[-2]["body"])
