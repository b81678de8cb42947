"""What the pages tell a reader to type works."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.docs.pages import LANGUAGES, PAGES, ROOT, blocks, code, name, pages_with


@pytest.fixture
def reader(tmp_path: Path) -> Iterator[dict[str, str]]:
    """The environment of somebody who has just installed Ramet; their daemon is stopped when they leave."""
    scripts = str(Path(sys.executable).parent)
    kept = {key: value for key, value in os.environ.items() if not key.startswith(("RAMET_", "XDG_"))}
    environ = {
        **kept,
        "HOME": str(tmp_path / "home"),
        "RAMET_HOME": str(tmp_path / "ramet"),
        "PATH": f"{scripts}:{kept.get('PATH', '')}",
        "GIT_CONFIG_GLOBAL": "/dev/null",
        "NO_COLOR": "1",
    }
    (tmp_path / "home").mkdir()
    project = tmp_path / "shop"
    subprocess.run(["git", "init", "-q", str(project)], check=True)
    identity = ["-c", "user.name=Reader", "-c", "user.email=reader@localhost"]
    subprocess.run(["git", *identity, "commit", "-q", "--allow-empty", "-m", "A shop"], cwd=project, check=True)
    yield {**environ, "PWD": str(project)}
    subprocess.run(["ramet", "daemon", "stop"], env=environ, cwd=project, capture_output=True, timeout=60, check=False)


def _run(command: list[str], environ: dict[str, str]) -> None:
    done = subprocess.run(
        command, env=environ, cwd=environ["PWD"], capture_output=True, text=True, timeout=110, check=False
    )
    assert done.returncode == 0, f"exit status {done.returncode}\n{done.stdout}\n{done.stderr}"


@pytest.mark.requirement("R326")
@pytest.mark.parametrize("page", pages_with("sh"), ids=name)
def test_the_commands_of_a_page_run_from_top_to_bottom(page: Path, reader: dict[str, str]) -> None:
    _run(["bash", "-euo", "pipefail", "-c", code(page, "sh")], reader)


@pytest.mark.parametrize("page", pages_with("python"), ids=name)
def test_the_python_of_a_page_runs(page: Path, reader: dict[str, str]) -> None:
    _run([sys.executable, "-W", "error", "-c", code(page, "python")], reader)


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_every_block_says_its_language(page: Path) -> None:
    assert {block.language for block in blocks(page)} <= LANGUAGES


@pytest.mark.requirement("R326")
@pytest.mark.parametrize("page", ["README.md", "docs/quickstart.md"])
def test_the_first_pages_open_with_an_agent_doing_work(page: str) -> None:
    commands = re.findall(r"\bramet (\w+)", "\n".join(block.code for block in blocks(ROOT / page)))
    used = [command for command in commands if command not in ("doctor", "project")]
    assert used[:2] == ["add", "work"] or used[:3] == ["add", "add", "work"]


@pytest.mark.requirement("R326")
def test_bookkeeping_by_hand_is_on_the_page_of_concepts() -> None:
    by_hand = ("ramet task add", "ramet effort start", "ramet session start", "ramet agent register")
    assert all(command in code(ROOT / "docs/concepts.md", "sh") for command in by_hand)
    assert not any(command in code(ROOT / "docs/quickstart.md", "sh") for command in by_hand)
