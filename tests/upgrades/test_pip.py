"""`pip install -U` while a daemon and an agent run: two packages of two commits, one environment."""

import os
import shutil
import subprocess
import sys
import sysconfig
import venv
from pathlib import Path

import pytest
from tests.upgrades.builds import ROOT, SOURCE, Installation, wait_until


def build(root: Path, seconds: int) -> Path:
    """Commit the tree, and build a wheel of it."""
    dates = {f"GIT_{role}_DATE": f"{seconds} +0000" for role in ("AUTHOR", "COMMITTER")}
    git = ["git", "-C", str(root), "-c", "user.name=n", "-c", "user.email=e@x"]
    for words in (["init", "-q"], ["add", "."], ["commit", "-q", "-m", "m"]):
        subprocess.run([*git, *words], env={**os.environ, **dates}, check=True)
    dist = root.parent / str(seconds)
    words = ["-m", "hatchling", "build", "--target", "wheel", "--directory", str(dist)]
    subprocess.run([sys.executable, *words], cwd=root, check=True, capture_output=True)
    (wheel,) = dist.glob("*.whl")
    return wheel


def install(wheel: Path, python: Path) -> None:
    """What a person does, without the dependencies, which are there already."""
    words = ["--python", str(python), "install", "-q", "-U", "--no-deps", "--no-index", "--no-compile", str(wheel)]
    subprocess.run([sys.executable, "-m", "pip", *words], check=True, capture_output=True)


@pytest.mark.slow
@pytest.mark.requirement("R465")
def test_after_an_upgrade_with_pip_the_first_command_replaces_the_daemon_and_the_agent_runs_on(
    world: Path, started: "list[subprocess.Popen[str]]", tmp_path: Path
) -> None:
    root = tmp_path / "root"
    shutil.copytree(SOURCE, root / "src" / "ramet", ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "hatch_build.py", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, root)
    first = build(root, 1_700_000_000)
    errors = root / "src" / "ramet" / "errors.py"
    errors.write_text(errors.read_text() + "\n# another build\n")
    second = build(root, 1_700_000_001)

    venv.create(tmp_path / "venv")
    python = tmp_path / "venv" / "bin" / "python"
    (packages,) = (tmp_path / "venv").glob("lib/*/site-packages")
    (packages / "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n")
    ramet = Installation(packages, world, started, str(python))

    install(first, python)
    former = ramet.ok("--version")
    ramet.ok("add", "one")
    worker = ramet.start("work", "--once")
    wait_until(lambda: worker.poll() is not None or any((world / "notes").iterdir()))
    pid = ramet.pid()
    install(second, python)
    assert ramet.ok("--version") != former
    done = ramet("ps")
    assert (done.returncode, done.stderr.count("\n")) == (0, 1)
    assert done.stderr.startswith("note: replaced the daemon (0.1.0.dev20231114221320+g")
    assert "by a newer one (0.1.0.dev20231114221321+g" in done.stderr
    assert ramet.pid() != pid
    out, err = worker.communicate(timeout=90)  # it runs the code of the first package, and meets the second's daemon
    assert (worker.returncode, "Traceback" in out + err) == (0, False), out + err
    assert len(list((world / "notes").iterdir())) == 1
    assert "one is done" in ramet.ok("show", "e1")
    ramet.ok("daemon", "stop")
