"""Running the queue and watching it, with real processes: the agent is the shell."""

import json
import os
import re
import signal
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.cli.command_line import CommandLine
from tests.cli.terminal import at_terminal
from tests.cli.waits import PATIENCE_SECONDS, gate, wait_for


class Work:
    """A `ramet work` in the background."""

    def __init__(self, ramet: CommandLine, *arguments: str) -> None:
        self.process = subprocess.Popen(
            [ramet.program, "work", *arguments],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=ramet.environ,
            cwd=ramet.cwd,
        )

    def read_until(self, text: str) -> str:
        """The line that has the text."""
        assert self.process.stdout is not None
        for line in self.process.stdout:
            if text in line:
                return line
        raise AssertionError(f"it ended without {text!r}")

    def interrupt(self) -> None:
        self.process.send_signal(signal.SIGINT)

    def end(self) -> tuple[int, str]:
        """The exit status, and what else it said."""
        said, complaint = self.process.communicate(timeout=PATIENCE_SECONDS)
        assert complaint == ""
        return self.process.returncode, said


@pytest.fixture
def start(shop: CommandLine) -> Iterator[Callable[..., Work]]:
    """Starts `ramet work`; none is left when the test ends, and nothing that it runs."""
    started: list[Work] = []

    def begin(*arguments: str) -> Work:
        started.append(Work(shop, *arguments))
        return started[-1]

    yield begin
    for work in started:
        work.process.kill()
        work.process.communicate()
    for row in shop.json("queue")["items"]:
        shop("kill", f"e{row['id']}")


def add(ramet: CommandLine, command: str, *arguments: str) -> None:
    ramet.ok("add", command, "--driver", "shell", *arguments)


def is_running(ramet: CommandLine, effort: str) -> bool:
    sessions: list[dict[str, Any]] = ramet.json("show", effort)["sessions"]
    return any(session["pid"] for session in sessions)


@pytest.mark.requirement("R458")
def test_a_worktree_is_prepared_before_its_agent_starts_and_a_failure_names_its_log(shop: CommandLine) -> None:
    shop.configure({"worktree": {"setup": "echo ready > prepared.txt"}, "work": {"host_retries": 0}})
    add(shop, 'cat prepared.txt; echo "port $RAMET_PORT_BASE"', "--skill", "do")
    said = shop.ok("work", "--once")
    assert "shell e1 prepares its worktree: echo ready > prepared.txt; log: " in said
    assert re.fullmatch(r"ready\nport \d{5}", shop.json("show", "e1")["output_content"].strip())
    shop.configure({"worktree": {"setup": "echo no network; exit 3"}, "work": {"host_retries": 0}})
    add(shop, "true", "--skill", "do")
    assert shop("work", "--once").returncode == 1
    row = shop.json("show", "e2")
    assert (row["outcome"], row["failure"]) == ("error", "infrastructure")
    reason, _, log = row["reason"].partition("; see its log: ")
    assert reason == "the set-up command `echo no network; exit 3` failed with exit status 3: no network"
    assert Path(log).read_text() == "no network\n"


def test_a_queue_is_run_to_its_end_and_told_in_lines(shop: CommandLine) -> None:
    add(shop, "echo items > cart.txt", "--skill", "implement")
    add(shop, "cat cart.txt", "--skill", "do", "--based-on", "e1")
    lines = shop.ok("work", "--once").splitlines()
    assert re.fullmatch(r"shell e1 implement started at \S+ [0-9a-f]{8} in /.+/e1", lines[0])
    assert re.fullmatch(r"shell e1 success \d+s, 1 file \+1 -0", lines[1])
    assert lines[2].startswith("shell e2 do started in ")
    assert re.fullmatch(r"shell e2 success \d+s: no files were changed", lines[3])
    assert lines[4:] == ["2 efforts: 2 success"]
    assert shop.json("show", "e2")["output_content"].strip() == "items"


def test_a_failure_is_said_and_makes_the_exit_status_1(shop: CommandLine) -> None:
    add(shop, "exit 3", "--skill", "do")
    done = shop("work", "--once")
    assert (done.returncode, done.stderr) == (1, "")
    assert re.search(r"^shell e1 error \d+s: .+", done.stdout, re.MULTILINE)
    assert "1 effort: 1 error\nfailed: e1. See why: `ramet show e1`; run again: `ramet retry e1`\n" in done.stdout
    assert "exit status 3" in shop.ok("show", "e1")


@pytest.mark.requirement("R359")
def test_an_implementation_without_changes_says_so_and_is_no_failure(shop: CommandLine) -> None:
    add(shop, "echo done", "--skill", "implement")
    add(shop, "echo 'Verdict: APPROVED'", "--skill", "review", "--based-on", "e1")
    lines = shop.ok("work", "--once").splitlines()
    assert re.fullmatch(r"shell e1 no_change \d+s: no files were changed", lines[1])
    assert lines[2:] == ["1 effort: 1 no_change"]
    shown = shop.ok("show", "e1")
    assert "shell e1: no_change" in shown
    assert "no files were changed" in shown
    assert "e2 (review) waits for e1, which ended with no_change" in shop.ok("next")
    assert "no_change" in shop.ok("queue", "--all")
    shop.ok("drop", "e2")
    add(shop, "echo 'Verdict: APPROVED'", "--skill", "review", "--based-on", "e1", "--accept-no-change")
    assert "shell e3 success" in shop.ok("work", "--once")


def test_where_nothing_can_run_it_is_said_why(shop: CommandLine) -> None:
    assert shop.ok("work", "--once") == "nothing is queued: `ramet add PROMPT`\n"
    add(shop, "exit 3", "--skill", "do")
    add(shop, "true", "--depends-on", "e1")
    assert shop("work", "--once").returncode == 1
    assert shop.ok("work", "--once").startswith("e2 (implement) waits for e1, which ended with error: ")


def test_json_has_a_line_for_each_change_and_one_for_the_end(shop: CommandLine) -> None:
    add(shop, "echo hello", "--skill", "do")
    changes = [json.loads(line) for line in shop.ok("work", "--once", "--verbose", "--json").splitlines()]
    assert [change["change"] for change in changes] == ["started", "says", "ended", "done"]
    assert (changes[0]["effort_id"], changes[0]["effort"]["driver"]) == (1, "shell")
    assert changes[1]["text"].strip() == "hello"
    assert changes[2]["effort"]["outcome"] == "success"
    assert changes[3] == {"change": "done", "finished": {"success": 1}, "why": "idle"}


def test_what_an_agent_uses_is_known_while_it_runs_and_when_it_is_done(
    shop: CommandLine, start: Callable[..., Work]
) -> None:
    command, file = gate(shop)
    used = '{"kind": "usage", "key": "1", "input_tokens": 1000, "output_tokens": 204, "cost_usd": 0.03}'
    agent = f"echo '{used}'; {command}"
    profile = {"driver": "command", "program": ["/bin/sh", "-c", agent], "output": "jsonl"}
    shop.configure({"drivers": {"profiles": {"counter": profile}}})
    shop.ok("add", "count", "--skill", "do", "--driver", "counter")
    work = start("--once")
    work.read_until("e1 do started")
    assert wait_for(lambda: shop.json("show", "e1")["usage"])["input_tokens"] == 1000
    file.touch()
    status, said = work.end()
    assert (status, "1,204 tokens, $0.03" in said) == (0, True)


def test_only_the_efforts_that_are_named_are_run(shop: CommandLine) -> None:
    for _ in range(3):
        add(shop, "true", "--skill", "do")
    shop.ok("work", "e3", "e1")
    assert [row["id"] for row in shop.json("queue")["items"]] == [2]
    finished = shop("work", "e1")
    assert (finished.returncode, "`ramet retry e1` queues a fresh copy" in finished.stderr) == (4, True)
    assert shop("work", "e9").returncode == 3


def test_agents_see_of_the_environment_only_what_is_allowed(shop: CommandLine) -> None:
    add(shop, "echo $LC_SHOP-$MY_OWN", "--skill", "do")
    done = shop("work", "--once", environ={"LC_SHOP": "seen", "MY_OWN": "hidden"})
    assert done.returncode == 0
    assert shop.ok("show", "e1", "--output").strip() == "seen-"


def test_an_environment_that_is_not_utf8_is_refused_instead_of_waited_for(shop: CommandLine) -> None:
    done = shop("work", "--once", environ={"NAME": os.fsdecode(b"caf\xe9")})
    assert (done.returncode, "error: the request is not UTF-8" in done.stderr) == (2, True)


def test_an_unknown_driver_is_refused_before_anything_runs(shop: CommandLine) -> None:
    shop.ok("add", "true", "--skill", "do")
    done = shop("work", "--once", "--driver", "telepathy")
    assert (done.returncode, "telepathy" in done.stderr) == (2, True)
    assert shop.json("show", "e1")["lifecycle"] == "queued"


def test_ctrl_c_begins_nothing_more_and_lets_go_on_what_runs(shop: CommandLine, start: Callable[..., Work]) -> None:
    command, file = gate(shop)
    add(shop, command, "--skill", "do")
    add(shop, "true", "--skill", "do")
    work = start("--once")
    work.read_until("e1 do started")
    work.interrupt()
    work.read_until("starting nothing new; running agents finish")
    work.read_until("Ctrl-C again stops them too: `ramet kill e1`")
    file.touch()
    status, said = work.end()
    assert status == 0
    assert re.match(r"shell e1 success", said)
    assert shop.json("show", "e2")["lifecycle"] == "queued"


def test_ctrl_c_twice_ends_what_runs_and_says_how_to_go_on(shop: CommandLine, start: Callable[..., Work]) -> None:
    add(shop, "sleep 300", "--skill", "do")
    work = start()
    work.read_until("e1 do started")
    wait_for(lambda: is_running(shop, "e1"))
    work.interrupt()
    work.read_until("starting nothing new")
    work.interrupt()
    status, said = work.end()
    assert status == 130
    assert "e1 is being stopped; continue with `ramet resume e1`\n" in said
    ended = wait_for(lambda: (row := shop.json("show", "e1"))["lifecycle"] == "finished" and row)
    assert ended["outcome"] == "cancelled"
    assert shop.ok("resume", "e1").startswith("e1 queued (do)")


@pytest.mark.requirement("R292")
def test_a_daemon_that_is_killed_is_started_again_and_the_work_goes_on(
    shop: CommandLine, start: Callable[..., Work]
) -> None:
    command, file = gate(shop)
    add(shop, command, "--skill", "do")
    add(shop, "true", "--skill", "do", "--depends-on", "e1")
    work = start("--once")
    work.read_until("e1 do started")
    wait_for(lambda: is_running(shop, "e1"))
    os.kill(shop.json("daemon", "status")["pid"], signal.SIGKILL)
    work.read_until("the daemon has exited; starting another one")
    file.touch()
    status, said = work.end()
    assert (status, said.splitlines()[-1]) == (0, "2 efforts: 2 success")
    assert shop.json("show", "e1")["attempts"] == 1


def test_what_runs_already_is_shown_and_what_waits_for_it_is_run(shop: CommandLine, start: Callable[..., Work]) -> None:
    command, file = gate(shop)
    add(shop, command, "--skill", "do")
    add(shop, "true", "--skill", "do", "--depends-on", "e1")
    first = start("--once")
    first.read_until("e1 do started")
    first.process.kill()
    wait_for(lambda: is_running(shop, "e1"))
    second = start("--once")
    assert " in /" in second.read_until("shell e1 do is running")
    file.touch()
    status, said = second.end()
    assert (status, said.splitlines()[-1]) == (0, "2 efforts: 2 success")


def test_what_only_waited_and_is_dropped_is_not_told(shop: CommandLine, start: Callable[..., Work]) -> None:
    command, file = gate(shop)
    add(shop, command, "--skill", "do")
    add(shop, "true", "--skill", "do")
    work = start("--once")
    work.read_until("e1 do started")
    shop.ok("drop", "e2")
    file.touch()
    status, said = work.end()
    assert (status, "e2" in said, said.splitlines()[-1]) == (0, False, "1 effort: 1 success")


def test_a_daemon_that_somebody_stops_is_not_started_again(shop: CommandLine, start: Callable[..., Work]) -> None:
    command, file = gate(shop)
    add(shop, command, "--skill", "do")
    work = start("--once")
    work.read_until("e1 do started")
    wait_for(lambda: is_running(shop, "e1"))
    shop.ok("daemon", "stop")
    status, said = work.end()
    assert status == 1
    assert said.startswith("the daemon was stopped; its agents keep running")
    assert "no daemon answers" in shop("daemon", "status").stderr
    file.touch()
    wait_for(lambda: shop.json("show", "e1")["outcome"] == "success")


def test_kill_ends_the_whole_tree_and_says_what_it_ended(shop: CommandLine, start: Callable[..., Work]) -> None:
    stubborn = "trap '' INT TERM; sleep 301 & echo $! > \"$PWD/child\"; while :; do sleep 0.1; done"
    add(shop, stubborn, "--skill", "do")
    shop.environ["RAMET_WORK_GRACE_SECONDS"] = "1"
    shop("daemon", "stop")
    work = start("--once")
    work.read_until("e1 do started")
    worktree = Path(wait_for(lambda: shop.json("show", "e1")["worktree"]))
    child = int(wait_for(lambda: (worktree / "child").exists() and (worktree / "child").read_text()))
    killed = shop.json("kill", "e1", "--reason", "wrong turn")
    [row] = killed["items"]
    assert (row["outcome"], row["was_running"], row["has_ended"]) == ("cancelled", True, True)
    assert (child, "SIGKILL") in {(process["pid"], process["signal"]) for process in row["ended"]}
    assert not Path(f"/proc/{child}").exists()
    assert "wrong turn" in shop.ok("show", "e1")
    assert work.end()[0] == 1


def test_a_session_is_killed_by_its_name(shop: CommandLine, start: Callable[..., Work]) -> None:
    add(shop, "sleep 300", "--skill", "do")
    work = start("--once")
    work.read_until("e1 do started")
    wait_for(lambda: is_running(shop, "e1"))
    assert re.fullmatch(r"e1 is cancelled: stopped .*sleep \(\d+, SIG\w+\).*\n", shop.ok("kill", "s1"))
    assert work.end()[0] == 1


@pytest.mark.parametrize("columns", [80, 120])
def test_on_a_terminal_there_is_a_board_that_fits(shop: CommandLine, columns: int) -> None:
    add(shop, "echo " + "word " * 60 + "; sleep 1", "--skill", "do")
    seen = at_terminal(shop, "work", "--once", columns=columns)
    plain = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", seen.text)
    assert seen.status == 0
    assert re.search(r"AGENT +STATE +TIME +COST +(SKILL +)?(TOKENS +)?NOW", plain)
    assert re.search(r"^shell e1 +(starting|running) ", plain, re.MULTILINE)
    assert re.search(r"^0/1 · \d+s", plain, re.MULTILINE)
    assert "1 effort: 1 success" in plain
    assert max(len(line) for part in plain.splitlines() for line in part.split("\r")) <= columns
