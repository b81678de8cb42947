"""A sandbox that cannot be made is an error with a fix, never a run without one."""

import json
import os
from pathlib import Path

import pytest
from tests.sandbox import confined
from tests.sandbox.confined import Machine

from ramet.errors import SandboxUnavailable
from ramet.sandbox import bubblewrap


@pytest.fixture
def fake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder for a `bwrap` that the test makes; the machine's own is not found."""
    monkeypatch.setattr(bubblewrap, "_PLACES", "/nowhere")
    return tmp_path


def make_bwrap(folder: Path, script: str) -> str:
    program = folder / "bwrap"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    return str(folder)


def test_the_machines_bwrap_makes_each_sandbox(bwrap: None) -> None:
    found = {bubblewrap.require(preset, os.environ["PATH"]) for preset in ("workspace", "strict")}
    assert all(Path(path).name == "bwrap" for path in found)


def test_a_missing_bwrap_says_how_to_install_it(fake: Path) -> None:
    with pytest.raises(SandboxUnavailable, match="needs bwrap") as refusal:
        bubblewrap.require("workspace", str(fake))
    assert "apt-get install bubblewrap" in refusal.value.fix


def test_a_relative_bwrap_is_none(fake: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make_bwrap(fake, "exit 0")
    monkeypatch.chdir(fake)
    with pytest.raises(SandboxUnavailable, match="needs bwrap"):
        bubblewrap.require("workspace", ".")


@pytest.mark.parametrize(
    ("said", "fix"),
    [
        ("bwrap: Unknown option --disable-userns", "install bubblewrap 0.8"),
        ("bwrap: setting up uid map: Permission denied", "apparmor_restrict_unprivileged_userns=0"),
        ("bwrap: No permissions to create a new namespace", "unprivileged_userns_clone=1"),
    ],
)
def test_a_bwrap_that_fails_says_why_and_what_to_do(fake: Path, said: str, fix: str) -> None:
    path = make_bwrap(fake, f"echo '{said}' >&2; exit 1")
    with pytest.raises(SandboxUnavailable, match=said.split(": ")[1]) as refusal:
        bubblewrap.require("strict", path)
    assert fix in refusal.value.fix


def test_a_bwrap_that_fails_is_tried_again(fake: Path) -> None:
    path = make_bwrap(fake, f"test -e {fake}/allowed")
    with pytest.raises(SandboxUnavailable):
        bubblewrap.require("workspace", path)
    (fake / "allowed").touch()
    assert bubblewrap.require("workspace", path) == f"{path}/bwrap"


@pytest.mark.requirement("R344")
@pytest.mark.parametrize("preset", ["workspace", "strict"])
@pytest.mark.timeout(300)
def test_an_agent_does_not_run_without_its_sandbox(tmp_path: Path, preset: str) -> None:
    machine = Machine(confined.make_folder())
    try:
        make_bwrap(tmp_path, "echo 'bwrap: No permissions to create a new namespace' >&2; exit 1")
        machine.environ["PATH"] = f"{tmp_path}:{machine.environ['PATH']}"
        trace = machine.home / "trace"
        machine.confine(profiles={"inner": {"driver": "shell", "sandbox": preset}})
        effort = machine.run(f"touch {trace}", "inner")
        findings = json.loads(machine("doctor", "--json").stdout)["items"]
    finally:
        machine.close()
    assert (effort["outcome"], effort["attempts"]) == ("error", 1)
    assert f"cannot make the sandbox {preset}: bwrap: No permissions" in effort["reason"]
    assert "unprivileged_userns_clone=1" in effort["reason"]
    assert not trace.exists()
    failed = [finding for finding in findings if finding["name"] == "sandbox" and finding["result"] == "fail"]
    assert any(preset in finding["detail"] for finding in failed)


def test_macos_is_refused_even_with_a_bwrap(fake: Path) -> None:
    with pytest.raises(SandboxUnavailable, match="needs Linux, and this is macOS") as refusal:
        bubblewrap.require("workspace", make_bwrap(fake, "exit 0"), system="darwin")
    assert "`sandbox` to off" in refusal.value.fix
