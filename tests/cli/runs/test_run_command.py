"""Running task files and chains, with real processes: the agent is the shell, or a script."""

import json
import os
import pty
import re
import signal
import subprocess
from collections.abc import Callable

import pytest
from tests.cli.command_line import CommandLine
from tests.cli.runs.run_steps import Run, reviewer, run, states, write
from tests.cli.terminal import at_terminal
from tests.cli.waits import PATIENCE_SECONDS, gate, wait_for

from ramet.cli.main import COMMANDS

_THREE = "- [ ] 1. echo one\n- [ ] 2. exit 3\n- [ ] 3. echo three\n"


# Starting.


@pytest.mark.requirement("R95")
def test_a_file_is_run_one_after_the_other_and_told_in_lines(shop: CommandLine) -> None:
    done = run(shop, "- [ ] 1. echo cart > cart.txt; echo one\n- [x] 2. echo no\n- [ ] 3. cat cart.txt\n")
    assert (done.returncode, done.stderr) == (0, "")
    assert "r1 tasks.md: 2 tasks, one after the other\n" in done.stdout
    assert re.search(r"^r1 starts at \S+ [0-9a-f]{8}$", done.stdout, re.MULTILINE)
    assert re.search(r"^1 \(shell e2\) do started at \S+ [0-9a-f]{8} in /.+/r1$", done.stdout, re.MULTILINE)
    assert re.search(r"^3 \(shell e3\) completed", done.stdout, re.MULTILINE)
    ending = r"^r1 tasks.md: finished, 3/3 · \d+s\n3 completed\nbranches to merge\n  ramet/r1: 1 file of task 1$"
    assert re.search(ending, done.stdout, re.MULTILINE)
    assert "review and merge the branch: `git merge ramet/r1`" in done.stdout
    assert shop.json("runs", "show", "r1")["lines"][2]["output"].strip() == "cart"


def test_a_task_is_told_what_was_said_before_it(shop: CommandLine) -> None:
    run(shop, "- [ ] 1. echo the answer\n- [ ] 2. cat\n")
    told = shop.json("runs", "show", "r1")["lines"][1]["output"]
    assert "[User]\necho the answer" in told
    assert "[Assistant]\nthe answer" in told


def test_one_that_fails_does_not_stop_the_others_but_makes_the_exit_status_1(shop: CommandLine) -> None:
    done = run(shop, _THREE)
    assert (done.returncode, states(shop)) == (1, ["completed", "failed", "completed"])
    assert "see why 2 failed: `ramet show e2`" in done.stdout
    assert "retry failed and skipped tasks: `ramet run --resume r1 --retry-failed`" in done.stdout


def test_stop_on_failure_begins_nothing_more_and_resume_goes_on(shop: CommandLine) -> None:
    done = run(shop, _THREE, "--stop-on-failure")
    assert (done.returncode, states(shop)) == (1, ["completed", "failed", "pending"])
    assert "stopped: line 2 ended with error\n" in done.stdout
    assert "continue: `ramet run --resume r1`" in done.stdout
    assert shop("run", "--resume", "r1").returncode == 1
    assert states(shop) == ["completed", "failed", "completed"]


def test_side_by_side_what_conflicts_is_said(shop: CommandLine) -> None:
    done = run(shop, "- [ ] 1. echo a > cart.txt\n- [ ] 2. echo b > cart.txt\n", "--parallel", "2")
    assert done.returncode == 0
    assert "r1 tasks.md: 2 tasks, 2 at a time" in done.stdout
    assert "branches to merge\n  ramet/e1: 1 file of task 1\n  ramet/e2: 1 file of task 2\n" in done.stdout
    assert "conflicts\n  tasks 1 and 2 (ramet/e1 and ramet/e2) in cart.txt\n" in done.stdout


def test_json_has_the_run_each_change_and_the_end(shop: CommandLine) -> None:
    done = run(shop, "- [ ] 1. echo one\n", "--json")
    changes = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    assert [change["change"] for change in changes] == ["attended", "started", "ended", "done"]
    assert (changes[0]["run_id"], changes[1]["effort"]["run_line"]) == (1, "1")
    assert changes[3]["run"]["counts"]["completed"] == 1


# What is refused.


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("- [ ] 1. one\n  - Depends: 7\n", "line 2, column 14: there is no task 7"),
        ("- [ ] 1. one\n  - Depends: 2\n- [ ] 2. two\n  - Depends: 1\n", "tasks wait for each other: 1 → 2 → 1"),
        ("- [ ] 1. one\n- [~] 2. two\n", "line 2, column"),
        ("", "line 1, column 1: the file is empty"),
    ],
)
def test_a_file_that_is_wrong_is_refused_with_the_place(shop: CommandLine, text: str, complaint: str) -> None:
    done = run(shop, text)
    assert (done.returncode, done.stdout) == (2, "")
    assert complaint in done.stderr
    assert shop.json("runs", "list")["items"] == []


@pytest.mark.parametrize(
    ("text", "arguments"),
    [("- [ ] one\n", ("--driver", "telepathy")), ("- [ ] one\n  - Agent: @telepathy\n", ())],
)
def test_an_unknown_agent_is_refused_before_anything_is_recorded(
    shop: CommandLine, text: str, arguments: tuple[str, ...]
) -> None:
    done = shop("run", write(shop, text), *arguments)
    assert (done.returncode, "telepathy" in done.stderr) == (2, True)
    assert shop.json("runs", "list")["items"] == []


@pytest.mark.parametrize(
    "arguments",
    [
        (),
        ("no-such-file.md",),
        (".",),
        ("tasks.md", "--force"),
        ("tasks.md", "--sequential", "--parallel", "2"),
        ("--resume", "r1", "--stop-on-failure"),
        ("--resume", "r1", "--dry-run"),
    ],
)
def test_what_makes_no_sense_is_a_wrong_usage(offline: CommandLine, arguments: tuple[str, ...]) -> None:
    write(offline, "- [ ] one\n")
    done = offline("run", *arguments)
    assert (done.returncode, done.stdout) == (2, "")


def test_where_everything_is_ticked_nothing_is_run(offline: CommandLine) -> None:
    assert "nothing to do, every box is ticked" in offline.ok("run", write(offline, "- [x] one\n"))


# Looking before.


def test_a_dry_run_has_the_order_and_needs_no_daemon(offline: CommandLine) -> None:
    file = write(offline, "- [ ] 1. one\n  - Depends: 3\n- [x] 2. two\n- [ ] 3. three\n  - Timeout: 90s\n")
    lines = offline.ok("run", file, "--dry-run").splitlines()
    assert lines[0] == "tasks.md: 2 tasks, one after the other; 1 done already"
    assert [line.split()[:2] for line in lines[2:4]] == [["1", "3"], ["2", "1"]]
    assert "1m 30s" in lines[2]
    assert "[Current Task]" in lines[4]
    assert not (offline.home / "ramet").exists()


def test_a_dry_run_has_the_waves(offline: CommandLine) -> None:
    file = write(offline, "- [ ] 1. one\n- [ ] 2. two\n- [ ] 3. three\n  - Depends: 1, 2\n")
    told = offline.json("run", file, "--dry-run", "--parallel", "2")
    assert told["mode"] == "parallel"
    assert [[line["key"] for line in wave] for wave in told["waves"]] == [["1", "2"], ["3"]]


# Interrupting, and going on.


@pytest.mark.requirement("R100")
def test_ctrl_c_begins_nothing_more_and_says_how_to_go_on(shop: CommandLine, start: Callable[..., Run]) -> None:
    command, file = gate(shop)
    running = start(write(shop, f"- [ ] 1. {command}\n- [ ] 2. echo two\n"), "--driver", "shell")
    running.read_until("1 (shell e1) do started")
    running.interrupt()
    running.read_until("starting nothing new; running agents finish")
    file.touch()
    status, said = running.end()
    assert status == 130
    assert "continue: `ramet run --resume r1`" in said
    found = shop.json("runs", "show", "r1")
    assert (found["state"], [line["state"] for line in found["lines"]]) == ("interrupted", ["completed", "pending"])


@pytest.mark.requirement("R100")
def test_ctrl_c_right_at_the_beginning_is_heeded_too(shop: CommandLine, start: Callable[..., Run]) -> None:
    text = "".join(f"- [ ] {number}. echo {number}\n" for number in range(1, 30))
    running = start(write(shop, text), "--driver", "shell")
    running.read_until("r1 tasks.md: 29 tasks")
    running.interrupt()
    status, said = running.end()
    assert (status, "continue: `ramet run --resume r1`" in said) == (130, True)
    wait_for(lambda: shop.json("runs", "show", "r1")["state"] == "interrupted")
    assert states(shop).count("pending") > 20


@pytest.mark.requirement("R100")
def test_ctrl_c_twice_ends_what_runs(shop: CommandLine, start: Callable[..., Run]) -> None:
    mend = shop.home / "mended"
    text = f"- [ ] 1. test -e {mend} || sleep 300\n- [ ] 2. echo two\n"
    running = start(write(shop, text), "--driver", "shell")
    running.read_until("1 (shell e1) do started")
    wait_for(lambda: any(session["pid"] for session in shop.json("show", "e1")["sessions"]))
    running.interrupt()
    running.read_until("starting nothing new")
    running.interrupt()
    status, said = running.end()
    assert (status, "continue: `ramet run --resume r1`" in said) == (130, True)
    wait_for(lambda: states(shop) == ["pending", "pending"])
    mend.touch()
    assert shop("run", "--resume", "r1").returncode == 0
    found = shop.json("runs", "show", "r1")
    assert [(line["state"], line["attempts"]) for line in found["lines"]] == [("completed", 2), ("completed", 1)]
    assert [turn["role"] for turn in found["conversation"]] == ["user", "user", "assistant"]


@pytest.mark.requirement("R89", "R92", "R93", "R94")
def test_resume_runs_what_is_left_with_the_conversation(shop: CommandLine) -> None:
    run(shop, "- [ ] 1. echo one >> log; echo the answer; exit 1\n- [ ] 2. cat\n", "--stop-on-failure")
    done = shop("run", "--resume", "1")
    assert done.stdout.startswith("Resuming r1 with 2 turns of context\n2 (shell e2) do started")
    found = shop.json("runs", "show", "r1")
    assert [line["attempts"] for line in found["lines"]] == [1, 1]
    assert "✗ failed" in found["lines"][1]["output"]


@pytest.mark.requirement("R104", "R352")
def test_a_summary_takes_effect_in_the_next_prompt_and_a_run_continues_on_a_fork(shop: CommandLine) -> None:
    run(shop, "- [ ] 1. echo alpha\n- [ ] 2. exit 3\n- [ ] 3. cat; exit 1\n- [ ] 4. cat\n", "--stop-on-failure")
    shop.ok("history", "compress", "run/1", "run/1~3", "run/1", "--text", "SUMMARY OF ALPHA")
    done = shop("run", "--resume", "r1")
    assert done.stdout.startswith("Resuming r1 with 1 turn")
    told = shop.json("show", "e3", "--prompt")["prompt"]
    assert ("SUMMARY OF ALPHA" in told, "echo alpha" in told) == (True, False)
    shop.ok("history", "branch", "create", "another-way", "--from", "run/1~5")
    assert "Resuming r1 on branch another-way" in shop("run", "--resume", "r1", "--branch", "another-way").stdout
    found = shop.json("runs", "show", "r1")
    assert (found["branch"], found["lines"][3]["state"]) == ("another-way", "completed")
    assert found["lines"][3]["output"].startswith("[User]\necho alpha")
    assert "SUMMARY" not in found["lines"][3]["output"]
    assert shop("run", "x.md", "--branch", "another-way").returncode == 2


def test_only_a_run_that_is_side_by_side_can_be_more_so(shop: CommandLine) -> None:
    run(shop, _THREE, "--stop-on-failure")
    refused = shop("run", "--resume", "r1", "--parallel", "2")
    assert (refused.returncode, "r1 is sequential" in refused.stderr) == (2, True)
    run(shop, _THREE, "--parallel", "1", "--stop-on-failure")
    assert "Resuming r2" in shop("run", "--resume", "r2", "--parallel", "2").stdout
    assert shop.json("runs", "show", "r2")["limits"]["workers"] == 2


def test_a_run_that_is_finished_is_not_resumed(shop: CommandLine) -> None:
    run(shop, "- [ ] 1. echo one\n")
    done = shop("run", "--resume", "r1")
    assert (done.returncode, done.stdout) == (4, "")
    assert done.stderr.startswith("error: run 1 is finished\n")


def test_what_failed_is_taken_up_again_where_that_is_asked_for(shop: CommandLine) -> None:
    flag = shop.home / "flag"
    run(shop, f"- [ ] 1. echo one\n- [ ] 2. test -e {flag}\n")
    flag.touch()
    done = shop("run", "--resume", "r1", "--retry-failed")
    assert (done.returncode, states(shop)) == (0, ["completed", "completed"])
    assert "1 (shell e1) do started" not in done.stdout


@pytest.mark.requirement("R91")
@pytest.mark.parametrize("name", ["r99", "99", "nonsense"])
def test_an_unknown_run_is_not_found(shop: CommandLine, name: str) -> None:
    done = shop("run", "--resume", name)
    assert done.returncode != 0
    assert re.search(rf"not found: '?{name.removeprefix('r')}\b", done.stderr)


@pytest.mark.requirement("R101")
def test_a_file_that_has_changed_is_refused_unless_forced(shop: CommandLine) -> None:
    run(shop, _THREE, "--stop-on-failure")
    write(shop, _THREE.replace("echo three", "echo four"))
    done = shop("run", "--resume", "r1")
    assert (done.returncode, "has changed since" in done.stderr, "--force" in done.stderr) == (4, True, True)
    assert states(shop) == ["completed", "failed", "pending"]
    shop("run", "--resume", "r1", "--force")
    assert shop.json("runs", "show", "r1")["lines"][2]["output"].strip() == "three"


def test_ticking_boxes_is_no_change(shop: CommandLine) -> None:
    run(shop, _THREE, "--stop-on-failure")
    write(shop, _THREE.replace("- [ ] 1.", "- [x] 1."))
    assert "Resuming r1" in shop("run", "--resume", "r1").stdout


@pytest.mark.requirement("R90", "R96")
def test_a_conversation_is_saved_unless_it_is_not_wanted(shop: CommandLine) -> None:
    run(shop, "- [ ] 1. echo one\n")
    run(shop, "- [ ] 1. echo one\n", "--no-save-conversation")
    saved, unsaved = shop.json("runs", "show", "r1"), shop.json("runs", "show", "r2")
    assert [turn["role"] for turn in saved["conversation"]] == ["user", "assistant"]
    assert (unsaved["conversation"], [line["state"] for line in unsaved["lines"]]) == ([], ["completed"])


def test_a_file_whose_run_is_not_finished_says_so_before_another_begins(shop: CommandLine) -> None:
    run(shop, _THREE, "--stop-on-failure")
    done = run(shop, _THREE)
    assert "r1 of this file is interrupted, 1 task left: `ramet run --resume r1`" in done.stderr
    assert "r2 tasks.md: finished" in done.stdout
    assert run(shop, _THREE, "--yes").stderr == ""


def test_a_person_is_asked_before_another_begins(shop: CommandLine) -> None:
    run(shop, _THREE, "--stop-on-failure")
    ours, theirs = pty.openpty()
    os.write(ours, b"n\n")
    command = [shop.program, "run", "tasks.md", "--driver", "shell"]
    done = subprocess.run(
        command,
        stdin=theirs,
        capture_output=True,
        text=True,
        env=shop.environ,
        cwd=shop.cwd,
        timeout=PATIENCE_SECONDS,
        check=False,
    )
    os.close(ours)
    os.close(theirs)
    assert (done.returncode, "Start another run of all tasks?" in done.stderr) == (1, True)
    assert len(shop.json("runs", "list")["items"]) == 1


def test_a_run_that_is_attended_is_not_resumed_by_a_second(shop: CommandLine, start: Callable[..., Run]) -> None:
    command, file = gate(shop)
    running = start(write(shop, f"- [ ] 1. {command}\n"), "--driver", "shell")
    running.read_until("1 (shell e1) do started")
    assert shop("run", "--resume", "r1").returncode == 4
    assert "running: `ramet ps`" in shop.ok("runs", "show", "r1")
    file.touch()
    assert running.end()[0] == 0


def test_a_daemon_that_is_killed_is_started_again_and_the_run_goes_on(
    shop: CommandLine, start: Callable[..., Run]
) -> None:
    command, file = gate(shop)
    running = start(write(shop, f"- [ ] 1. {command}\n- [ ] 2. echo two\n"), "--driver", "shell")
    running.read_until("1 (shell e1) do started")
    wait_for(lambda: any(session["pid"] for session in shop.json("show", "e1")["sessions"]))
    os.kill(shop.json("daemon", "status")["pid"], signal.SIGKILL)
    running.read_until("the daemon has exited; starting another one")
    file.touch()
    status, said = running.end()
    assert (status, "\n2 completed\n" in said) == (0, True)
    assert [line["attempts"] for line in shop.json("runs", "show", "r1")["lines"]] == [1, 1]


def test_the_queue_has_nothing_to_do_with_runs(shop: CommandLine) -> None:
    run(shop, _THREE, "--stop-on-failure")
    assert shop.ok("work", "--once") == "e3 (do) belongs to r1: `ramet runs show r1`\n"
    assert states(shop)[2] == "pending"


# On a terminal.


@pytest.mark.parametrize("columns", [80, 120])
def test_on_a_terminal_there_is_a_board_with_every_line(shop: CommandLine, columns: int) -> None:
    file = write(shop, "- [ ] 1. echo " + "word " * 60 + "; sleep 1\n- [ ] 2. echo two\n")
    seen = at_terminal(shop, "run", file, "--driver", "shell", columns=columns)
    plain = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", seen.text)
    assert seen.status == 0
    assert re.search(r"TASK +AGENT +STATE +TIME +COST +(TOKENS +)?NOW", plain)
    assert re.search(r"^1 +shell e1 +in progress ", plain, re.MULTILINE)
    assert re.search(r"^2 +shell e2 +pending ", plain, re.MULTILINE)
    assert re.search(r"^0/2 · \d+s", plain, re.MULTILINE)
    assert re.search(r"finished, 2/2 · \d+s\n2 completed", plain)
    assert max(len(line) for part in plain.splitlines() for line in part.split("\r")) <= columns


# Chains.


_CHANGES = "Verdict: CHANGES_REQUESTED\n\n- BLOCKER: cart.txt:3 it loses items\n- NIT: cart.txt:9 a long name\n"


def test_a_chain_goes_on_until_a_review_approves(shop: CommandLine) -> None:
    reviewer(shop, _CHANGES, "Verdict: APPROVED\n")
    done = shop("chain", "Keep carts", "--driver", "scripted")
    assert done.returncode == 0, done.stdout
    assert "r1 Keep carts: plan, implement, then at most 3 reviews" in done.stdout
    assert "2 of at most 3 reviews done; 2 of 2 findings settled; approved" in done.stdout
    assert "open findings" not in done.stdout
    assert re.search(r"review and merge the branch: `git merge ramet/\w+`", done.stdout)


def test_a_chain_that_nobody_approves_ends_with_what_is_open(shop: CommandLine) -> None:
    reviewer(shop, _CHANGES)
    done = shop("chain", "Keep carts", "--driver", "scripted", "--rounds", "1")
    assert done.returncode == 1
    assert "1 of at most 1 review done" in done.stdout
    assert "open findings\n  BLOCKER cart.txt:3" in done.stdout
    assert "decide: merge it as it is, or `ramet add" in done.stdout


def test_an_empty_wish_is_refused(offline: CommandLine) -> None:
    assert offline("chain", " ").returncode == 2


# Names.


@pytest.mark.requirement("R106", "R308")
def test_no_command_and_no_option_is_called_checkpoint(offline: CommandLine) -> None:
    for name in COMMANDS:
        assert "checkpoint" not in name
    for arguments in (("run",), ("runs",), ("chain",), ()):
        assert "checkpoint" not in offline.ok(*arguments, "--help").lower()


@pytest.mark.parametrize("place", [".git", "../.git"], ids=["in the project", "above it"])
def test_an_empty_git_folder_stops_no_work(ramet: CommandLine, place: str) -> None:
    (ramet.cwd / place).mkdir()
    ramet.ok("project", "add", ".")
    assert run(ramet, "- [ ] 1. echo one\n").returncode == 0
    found = ramet.json("runs", "show", "r1")["lines"][0]
    assert (found["output"], found["attempts"], found["worktree"]) == ("one", 1, None)
