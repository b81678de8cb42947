"""The first half of the demo: plan, implement and review from the queue, killed in the middle."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

from demo.stage import capture, run, say, start

_HERE = Path(__file__).parent
_PATIENCE_SECONDS = 60


def show(project: Path) -> None:
    """Run the main job."""
    _make_project(project)
    os.chdir(project)

    say("A git repository, and three agents: programs that read a prompt and answer. No model is needed for this.")
    run("ramet drivers")

    say("Queue a plan, its implementation, a review, and at last the tests themselves. Each waits for the one before.")
    run("ramet add 'Cover the examples in shop.py by tests' --skill plan --driver planner")
    run("ramet add 'Write the tests' --skill implement --driver builder --based-on e1")
    run("ramet add 'Are they good?' --skill review --driver reviewer --based-on e2")
    run("ramet add 'python3 -m unittest -v' --skill shell --based-on e3")
    run("ramet queue")

    say("Let them run. In the middle of the implementation everything is killed: daemon, keeper and agent.")
    work = start("ramet work --once")
    _wait_until_half_is_written()
    work.kill()
    work.wait()
    _kill_everything()

    say("The next command starts the daemon again. It finds what was left, and the work goes on from there.")
    run("ramet work --once")

    say("The plan outlived its process, its worktree and its daemon. So did everything that was said.")
    run("ramet show e1 --output")
    run("ramet show e2")
    run("ramet report show e3")

    say("What changed is on a branch, in a worktree outside the repository.")
    run("ramet worktree list")
    run("git diff --stat main...ramet/e1")
    if json.loads(capture("ramet show e4 --json"))["outcome"] != "success":
        sys.exit("the tests did not pass")


def _make_project(project: Path) -> None:
    project.mkdir(parents=True)
    shutil.copy(_HERE / "shop.py", project)
    profiles = "".join(
        f"    {name}: {{driver: command, program: [{sys.executable}, {_HERE / 'agent.py'}, {skill}]}}\n"
        for name, skill in (("planner", "plan"), ("builder", "implement"), ("reviewer", "review"))
    )
    (project / ".gitignore").write_text("__pycache__/\n")
    (project / "ramet.yaml").write_text(f"drivers:\n  profiles:\n{profiles}")
    for words in (["init", "-q", "-b", "main"], ["add", "."], ["commit", "-q", "-m", "A shop"]):
        git = [shutil.which("git") or "git", "-c", "user.name=Demo", "-c", "user.email=demo@localhost"]
        subprocess.run([*git, *words], cwd=project, check=True)


def _wait_until_half_is_written() -> None:
    """Until the second of four tests is in the worktree."""
    worktrees = Path(os.environ["RAMET_HOME"], "worktrees")
    deadline = time.monotonic() + _PATIENCE_SECONDS
    while not any("test_shown" in path.read_text() for path in worktrees.glob("*/e1/test_shop.py")):
        if time.monotonic() > deadline:
            sys.exit("the implementation did not begin")
        time.sleep(0.02)


def _kill_everything() -> None:
    """SIGKILL, without warning, for whatever runs here."""
    daemon = json.loads(capture("ramet daemon status --json"))["pid"]
    os.kill(daemon, signal.SIGKILL)
    folders = Path(os.environ["RAMET_HOME"], "keepers", "ramet")
    for record in (json.loads(path.read_text()) for path in folders.glob("*/keeper.json")):
        print(f"  killed daemon {daemon}, keeper {record['pid']}, agent {record['agent_pid']}")
        for pid in (record["pid"], record["agent_pid"]):
            os.kill(pid, signal.SIGKILL)
