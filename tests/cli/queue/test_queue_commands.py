"""The queue by hand: what waits, in which order, and what becomes of it."""

import json
import re
from typing import Any

import pytest
from tests.cli.command_line import CommandLine
from tests.cli.terminal import at_terminal


def call(ramet: CommandLine, method: str, **params: Any) -> Any:
    return json.loads(ramet.ok("rpc", "call", method, json.dumps(params)))


def end(ramet: CommandLine, effort_id: int, outcome: str, **more: Any) -> Any:
    """Claim an effort and give it an outcome, as a worker would."""
    claimed = call(ramet, "work.claim", worker="somebody", effort_id=effort_id)
    report = {"effort_id": effort_id, "generation": claimed["generation"], "outcome": outcome, **more}
    return call(ramet, "work.complete", **report)


@pytest.fixture
def queue(shop: CommandLine) -> CommandLine:
    """e1 a plan, e2 what is based on it, e3 something urgent."""
    shop.ok("add", "Draw it", "--skill", "plan")
    shop.ok("add", "Build it\nof stone", "--based-on", "e1", "--driver", "shell")
    shop.ok("add", "Put out the fire", "--priority", "9")
    return shop


def test_an_empty_queue_says_how_to_fill_it(ramet: CommandLine) -> None:
    assert ramet.ok("queue") == "nothing is queued: `ramet add PROMPT`\n"
    assert ramet.ok("next") == "nothing is queued: `ramet add PROMPT`\n"
    assert ramet.json("next") == {"next": None, "waiting": []}


@pytest.mark.requirement("R180", "R181")
def test_the_queue_is_shown_in_the_order_in_which_it_is_claimed(queue: CommandLine) -> None:
    heading, *rows = (line.split() for line in queue.ok("queue").splitlines())
    assert heading == ["AGENT", "STATE", "AGE", "COST", "SKILL", "NOW"]
    assert [row[:2] for row in rows] == [["e3", "queued"], ["e1", "queued"], ["shell", "e2"]]
    assert (rows[0][4], rows[1][4]) == ("implement", "plan")
    assert rows[2][2:] == ["blocked", rows[2][3], "-", "implement", "after", "e1", "(queued)", "·", "Build", "it"]
    assert queue.ok("next") == "e3 (implement): Put out the fire\n"


def test_what_runs_and_what_is_finished_is_shown_when_it_is_asked_for(queue: CommandLine) -> None:
    call(queue, "work.claim", worker="another", effort_id=3)
    end(queue, 1, "success")
    assert [row["id"] for row in queue.json("queue")["items"]] == [3, 2]
    assert [row["id"] for row in queue.json("queue", "--all")["items"]] == [3, 2, 1]
    assert [row["id"] for row in queue.json("queue", "--state", "finished")["items"]] == [1]
    task = queue.json("show", "e3")["task_id"]
    assert [row["id"] for row in queue.json("queue", "--all", "--task", task)["items"]] == [3]


@pytest.mark.requirement("R181")
def test_where_nothing_is_ready_it_is_said_why(queue: CommandLine) -> None:
    end(queue, 3, "success")
    end(queue, 1, "error", failure="permanent", reason="no paper")
    assert queue.ok("next") == (
        "e2 (implement) waits for e1, which ended with error: `ramet retry e1`, or `ramet drop e2`\n"
    )
    assert queue.json("next")["waiting"][0]["blocked_by"] == 1


def test_a_retry_is_a_fresh_copy_and_what_waited_waits_for_it(queue: CommandLine) -> None:
    end(queue, 1, "error", failure="permanent")
    assert queue.ok("retry", "e1") == "e4 queued (plan), a fresh copy of e1\n"
    assert queue.json("show", "e2")["blocked_by"] == 4


def test_a_resume_is_the_same_effort(queue: CommandLine) -> None:
    end(queue, 1, "cancelled")
    assert queue.ok("resume", "e1") == "e1 queued (plan), starts from scratch\n"
    assert queue.json("show", "e1")["lifecycle"] == "queued"


def test_what_is_not_finished_is_neither_retried_nor_resumed(queue: CommandLine) -> None:
    for verb in ("retry", "resume"):
        done = queue(verb, "e1")
        assert (done.returncode, "error: " in done.stderr, "`ramet kill" in done.stderr) == (4, True, True)


def test_several_are_done_in_turn_until_one_is_refused(queue: CommandLine) -> None:
    end(queue, 3, "success")
    done = queue("drop", "e1", "e3", "e2", "--json")
    assert (done.returncode, json.loads(done.stderr)["error"]["code"]) == (4, "effort_finished")
    assert [row["outcome"] for row in json.loads(done.stdout)["items"]] == ["dropped"]
    assert queue.json("show", "e2")["lifecycle"] == "queued"
    assert queue.ok("drop", "e2") == "e2 dropped (implement)\n"


@pytest.mark.parametrize("columns", [80, 120])
def test_on_a_terminal_a_row_is_a_line_however_long_the_prompt(queue: CommandLine, columns: int) -> None:
    queue.ok("add", "word " * 100)
    lines = re.sub(r"\x1b\[[0-9;]*m", "", at_terminal(queue, "queue", columns=columns).text).splitlines()
    assert len(lines) == 5
    assert max(map(len, lines)) <= columns


def test_an_effort_is_shown_with_all_that_is_known(queue: CommandLine) -> None:
    usage = {"input_tokens": 1000, "output_tokens": 204, "cost_usd": 0.03}
    changes = {"files": ["a.py", "b.py"], "insertions": 40, "deletions": 2}
    end(queue, 3, "success", output_content="Out it is.\n", usage=usage, changes=changes, reason="there was water")
    text = queue.ok("show", "e3")
    assert text.startswith("e3: success, finished ")
    for fact in (
        "prompt    Put out the fire\n",
        "skill     implement\n",
        "result    there was water\n",
        "attempts  1\n",
        "changes   2 files +40 -2: a.py, b.py\n",
        "usage     1,204 tokens, $0.03\n",
        "output\n  Out it is.\n",
    ):
        assert fact in text
    told = queue.json("show", "e3")
    assert (told["usage"]["input_tokens"], told["blocked"], told["sessions"], told["notices"]) == (1000, False, [], [])


def test_what_an_effort_waits_for_is_part_of_its_screen(queue: CommandLine) -> None:
    text = queue.ok("show", "e2")
    assert "waits for   e1 (queued)\n" in text
    assert "based on    e1\n" in text
    assert "prompt      Build it (and 1 line more)\n" in text


@pytest.mark.requirement("R153", "R167")
def test_an_output_is_printed_to_the_last_byte_and_becomes_part_of_the_prompt(queue: CommandLine) -> None:
    plan = "# The plan\n\n1. Ünder \x1b[31mred\x1b[0m\n\n"
    end(queue, 1, "success", output_content=plan)
    assert queue.ok("show", "e1", "--output") == plan
    assert queue.ok("report", "show", "e1") == plan
    assert plan in queue.ok("show", "e2", "--prompt")
    assert "\x1b[31mred" not in at_terminal(queue, "report", "show", "e1").text


def test_an_effort_without_output_says_so(queue: CommandLine) -> None:
    done = queue("report", "show", "e1")
    assert (done.returncode, done.stdout) == (3, "")
    assert "error: effort 1 has no output" in done.stderr


def test_a_queued_effort_is_killed_without_a_process(queue: CommandLine) -> None:
    assert queue.ok("kill", "e1") == "e1 is cancelled: it was not running\n"
    again = queue("kill", "e1")
    assert again.returncode == 4


def test_notices_are_listed_and_put_aside(queue: CommandLine) -> None:
    assert queue.ok("notices") == "nothing needs your attention\n"
    end(queue, 1, "error", failure="permanent", reason="no paper")
    [notice] = queue.json("notices")["items"]
    assert (notice["effort_id"], "no paper" in queue.ok("notices")) == (1, True)
    assert "needs your attention: " in queue.ok("status")
    assert queue.json("status")["counts"]["notices"] == 1
    assert queue.ok("notices", "dismiss", str(notice["id"])) == "dismissed 1 notice\n"
    assert queue.json("notices")["items"] == []
    assert queue.json("notices", "--all")["items"][0]["dismissed_at"] is not None
    assert queue("notices", "dismiss", "99").returncode == 3
    assert queue("notices", "dismiss").returncode == 2


def test_the_status_counts_what_waits_and_what_runs(queue: CommandLine) -> None:
    call(queue, "work.claim", worker="somebody", effort_id=3)
    counts = queue.json("status")["counts"]
    assert (counts["queued_efforts"], counts["active_efforts"], counts["notices"]) == (2, 1, 0)


def test_the_drivers_are_shown_with_what_they_can_do(ramet: CommandLine) -> None:
    rows = {row["name"]: row for row in ramet.json("drivers")["items"]}
    assert {"claude", "codex", "command", "shell"} <= set(rows)
    assert rows["shell"]["program"] is not None
    assert [row["name"] for row in rows.values() if row["is_default"]] in (["claude"], ["codex"], ["shell"], [])
    text = ramet.ok("drivers")
    assert text.splitlines()[0].split() == ["DRIVER", "DEFAULT", "PROGRAM", "VERSION", "CAN"]
