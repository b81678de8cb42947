"""What the demo does it on: a temporary home and repository, and a way to show commands as a person would see them."""

import json
import os
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

import click

_HERE = Path(__file__).parent
RAMET = Path(sys.executable).parent / "ramet"
_PATIENCE_SECONDS = 60
_SHOW_CURSOR = "\x1b[?25h"

Process = subprocess.Popen[str]


@contextmanager
def temporary_home() -> Iterator[Path]:
    """A home of its own, which ends with the demo, and so does its daemon."""
    with tempfile.TemporaryDirectory(prefix="ramet-demo-") as folder:
        # Nobody wants to watch a pause: what was killed is begun again at once.
        os.environ.update(RAMET_HOME=f"{folder}/home", HOME=folder, RAMET_WORK_BACKOFF_SECONDS="0")
        for name in ("XDG_DATA_HOME", "XDG_CONFIG_HOME"):
            os.environ.pop(name, None)
        try:
            yield Path(folder)
        finally:
            subprocess.run([RAMET, "daemon", "stop"], check=True, capture_output=True)


def make_project(project: Path, agents: Mapping[str, str], **files: str) -> None:
    """A git repository with a module, other files, and profiles that call `agent.py` for one kind of work each."""
    project.mkdir(parents=True)
    shutil.copy(_HERE / "shop.py", project)
    profiles = "".join(
        f"    {name}: {{driver: command, program: [{sys.executable}, {_HERE / 'agent.py'}, {does}]}}\n"
        for name, does in agents.items()
    )
    written = {".gitignore": "__pycache__/\n", "ramet.yaml": f"drivers:\n  profiles:\n{profiles}", **files}
    for name, text in written.items():
        (project / name).write_text(text)
    subprocess.run([RAMET, "trust", "--yes"], cwd=project, check=True, capture_output=True)
    for words in (["init", "-q", "-b", "main"], ["add", "."], ["commit", "-q", "-m", "A shop"]):
        _git(project, *words)


def make_unpushed_commit(project: Path, branch: str, **files: str) -> None:
    """A remote that has what there is so far, and a branch with one commit more."""
    remote = project.with_name("remote.git")
    _git(project, "clone", "-q", "--bare", ".", str(remote))
    _git(project, "remote", "add", "origin", str(remote))
    _git(project, "fetch", "-q", "origin")
    _git(project, "switch", "-q", "-c", branch, "--track", "origin/main")
    for name, text in files.items():
        (project / name).write_text(text)
    _git(project, "add", ".")
    _git(project, "commit", "-q", "-m", "Say where the tests go")


def _git(project: Path, *words: str) -> None:
    git = [shutil.which("git") or "git", "-c", "user.name=Demo", "-c", "user.email=demo@localhost"]
    subprocess.run([*git, *words], cwd=project, check=True)


# Showing.


def say(text: str) -> None:
    """Tell what comes next."""
    click.secho(f"\n# {text}", bold=True)


def run(command: str, *, fails: bool = False) -> None:
    """Show a command and what it prints."""
    process = start(command)
    _print_rest(process)
    if (process.returncode != 0) is not fails:
        sys.exit(f"`{command}` exited with status {process.returncode}")


def start(command: str) -> Process:
    """A command that goes on by itself. It has the terminal, where there is one."""
    click.secho(f"$ {command}", fg="cyan")
    if sys.stdout.isatty():
        return subprocess.Popen(_words(command), text=True)
    return subprocess.Popen(_words(command), text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)


def capture(command: str) -> str:
    """What a command prints."""
    return subprocess.run(_words(command), check=True, text=True, capture_output=True).stdout


def _print_rest(process: Process) -> None:
    """Wait for a command's end, and print what it said if it had no terminal."""
    said, _ = process.communicate()
    click.echo("".join(f"  {line}\n" for line in (said or "").splitlines()), nl=False)


def _words(command: str) -> list[str]:
    words = shlex.split(command)
    return [str(RAMET), *words[1:]] if words[0] == "ramet" else words


# Breaking.


def wait_until(fact: Callable[[], bool], what: str) -> None:
    """Until it is so; the demo fails where it never is."""
    deadline = time.monotonic() + _PATIENCE_SECONDS
    while not fact():
        if time.monotonic() > deadline:
            sys.exit(f"timed out waiting for {what}")
        time.sleep(0.02)


def written(name: str, text: str = "") -> bool:
    """Whether a file in a worktree, as `e1/test_shop.py`, is there and has the text."""
    worktrees = Path(os.environ["RAMET_HOME"], "worktrees")
    return any(text in path.read_text() for path in worktrees.glob(f"*/{name}"))


def kill_daemon() -> int:
    """SIGKILL, without warning, for the daemon. Its pid."""
    pid: int = json.loads(capture("ramet daemon status --json"))["pid"]
    os.kill(pid, signal.SIGKILL)
    return pid


def kill_everything(command: Process) -> None:
    """The same for the command, the daemon and whatever they run."""
    daemon = kill_daemon()
    folders = Path(os.environ["RAMET_HOME"], "keepers", "ramet")
    kept = [json.loads(path.read_text()) for path in sorted(folders.glob("*/keeper.json"))]
    keepers = [record["pid"] for record in kept]
    agents = [record["agent_pid"] for record in kept if record["agent_pid"]]
    for pid in (command.pid, *keepers, *agents):
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    _print_rest(command)
    if sys.stdout.isatty():
        click.echo(_SHOW_CURSOR)  # a command that draws hides it
    pids = {"command": [command.pid], "daemon": [daemon], "keeper": keepers, "agent": agents}
    killed = ", ".join(f"{what} {' '.join(map(str, each))}" for what, each in pids.items())
    click.secho(f"  killed: {killed}", fg="red")
