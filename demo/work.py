"""The first part of the demo: plan, implement and review from the queue, killed in the middle."""

import json
import os
import sys
from pathlib import Path

from demo.stage import (
    capture,
    kill_everything,
    make_project,
    make_unpushed_commit,
    run,
    say,
    start,
    wait_until,
    written,
)

_AGENTS = {"planner": "plan", "builder": "implement", "reviewer": "review"}


def show(project: Path) -> None:
    """Run the main job."""
    make_project(project, _AGENTS)
    make_unpushed_commit(project, "tests", **{"TESTING.md": "Tests are in test_shop.py.\n"})
    os.chdir(project)

    say("A git repository and three agents: programs that read a prompt and answer. No model is needed.")
    run("ramet drivers")

    say("You are on a branch with a commit that is not pushed. Agents start there, and not at the remote's HEAD.")
    run("git log --oneline --decorate")

    say("Queue a plan, its implementation, a review, and a run of the tests. Each waits for the one before it.")
    run("ramet add 'Cover the examples in shop.py with tests' --skill plan --driver planner")
    run("ramet add 'Write the tests' --skill implement --driver builder --based-on e1")
    run("ramet add 'Are they good?' --skill review --driver reviewer --based-on e2")
    run("ramet add 'python3 -m unittest -v' --skill shell --based-on e3")
    run("ramet queue")

    say("Run them. In the middle of the implementation everything is killed: daemon, keeper and agent.")
    work = start("ramet work --once")
    wait_until(lambda: written("e1/test_shop.py", "test_shown"), "the second of four tests")
    kill_everything(work)

    say("The next command starts the daemon again. It finds the unfinished work and continues it.")
    run("ramet work --once")

    say("The plan outlived its process and its daemon. So did the conversation.")
    run("ramet show e1 --output")
    run("ramet show e2")
    run("ramet report show e3")

    say("The changes are on a branch, in a worktree outside of the repository.")
    run("ramet worktree list")
    run("git diff --stat tests...ramet/e1")
    base = json.loads(capture("ramet show e1 --json"))["base_commit"]
    if base != capture("git rev-parse tests").strip() or base == capture("git rev-parse origin/main").strip():
        sys.exit("the plan did not start at the commit that is not pushed")
    if json.loads(capture("ramet show e4 --json"))["outcome"] != "success":
        sys.exit("the tests did not pass")
