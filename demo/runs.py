"""The second part of the demo: a file of tasks, worked on side by side, killed in the middle and resumed."""

import json
import os
import sys
from pathlib import Path

from demo.stage import capture, kill_everything, make_project, run, say, start, wait_until, written

_TASKS = """\
# Tests for the shop

- [ ] 1. Cover `total` with a test
- [ ] 2. Cover `shown` with a test
- [ ] 3. Cover `discounted` with a test
- [ ] 4. Cover `is_free` with a test
- [ ] 5. cat; echo; python3 -m unittest -q 2>&1
  - Agent: shell
  - Depends: 1, 2, 3, 4
"""


def show(project: Path) -> None:
    """Run the file."""
    make_project(project, {"tester": "cover"}, **{"tasks.md": _TASKS})
    os.chdir(project)

    say("A task file. The first four tasks are independent; the last one depends on all of them.")
    run("cat tasks.md")
    run("ramet run tasks.md --parallel 2 --dry-run")

    say("Run two at a time, each in its own worktree. While 3 and 4 run, everything is killed.")
    command = start("ramet run tasks.md --parallel 2 --driver tester")
    wait_until(lambda: written("e3/test_discounted.py") and written("e4/test_is_free.py"), "the second pair of tests")
    kill_everything(command)

    say("Resume. Tasks 1 and 2 are done; 3 and 4 start again in their worktrees, and 5 starts from all four branches.")
    run("ramet runs list")
    run("ramet run --resume r1")

    say("The last task received the outputs of the others. No completed task ran again.")
    run("ramet show e5 --output")
    run("ramet query 'SELECT run_line AS task, outcome, attempts FROM efforts ORDER BY run_order'")

    say("Each task left a branch, and the last branch contains them all.")
    run("git merge --stat ramet/e5")
    _check()


def _check() -> None:
    lines = json.loads(capture("ramet runs show r1 --json"))["lines"]
    if [line["state"] for line in lines] != ["completed"] * 5:
        sys.exit("not every task completed")
    if any(json.loads(capture(f"ramet show e{number} --json"))["attempts"] != 1 for number in (1, 2)):
        sys.exit("a completed task ran again")
