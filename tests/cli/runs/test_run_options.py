"""What is asked of `ramet run` and `ramet chain` on the command line: bounds, other places of the file, going on."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from msgspec.structs import fields
from tests.cli.command_line import CommandLine
from tests.cli.runs.run_steps import Run, reviewer, run, states, write
from tests.cli.waits import gate

import ramet
from ramet.cli.commands.runs.run import run as run_command
from ramet.protocol.operations import OPERATIONS
from ramet.protocol.runs.runs import RunDetail

_STOPS = "- [ ] 1. echo one\n- [ ] 2. exit 3\n- [ ] 3. cat\n"
_UNREACHABLE = {"RAMET_DATABASE_TYPE": "postgres", "RAMET_DATABASE_URL": "postgres://me:hunter2@127.0.0.1:9/r"}


def profile(ramet: CommandLine, script: str, output: str = "text") -> None:
    """An agent `scripted` that is a shell script."""
    program = ["/bin/sh", "-c", script]
    profiles = {"scripted": {"driver": "command", "program": program, "output": output}}
    ramet.configure({"drivers": {"profiles": profiles}})


# Bounds.


@pytest.mark.requirement("R301")
@pytest.mark.parametrize(
    ("option", "bound", "larger", "why"),
    [
        ("--max-cost", "0.2", "9", "the run has cost $0.30, and its limit is $0.20"),
        ("--max-tokens", "1000", "9000", "the run has used 1,204 tokens, and its limit is 1,000"),
        ("--max-seconds", "1", "600", "the run has reached its limit of 1 second"),
    ],
)
def test_a_bound_skips_what_is_left_with_one_notice_and_a_larger_one_takes_it_up(
    shop: CommandLine, option: str, bound: str, larger: str, why: str
) -> None:
    used = '{"kind": "usage", "key": "1", "input_tokens": 1000, "output_tokens": 204, "cost_usd": 0.3}'
    profile(shop, f"echo '{used}'; sleep {1.1 if option == '--max-seconds' else 0}", "jsonl")
    done = shop("run", write(shop, "- [ ] one\n- [ ] two\n- [ ] three\n"), "--driver", "scripted", option, bound)
    assert (done.returncode, states(shop)) == (1, ["completed", "skipped", "skipped"])
    assert re.search(r"finished, 3/3 · \d+s · \$0.30\n1 completed, 2 skipped, 1,204 tokens$", done.stdout, re.MULTILINE)
    assert f"stopped: {why}" in done.stdout
    (notice,) = shop.json("notices")["items"]
    assert (notice["kind"], "2 of its lines were not run" in notice["text"]) == ("run_bound", True)
    assert shop("run", "--resume", "r1", option, larger).returncode == 0
    assert states(shop) == ["completed", "completed", "completed"]


@pytest.mark.requirement("R301")
def test_a_reviewer_that_never_stops_finding_nits_ends_at_the_bound(shop: CommandLine) -> None:
    reviews = [
        "Verdict: CHANGES_REQUESTED\n\n"
        + "".join(f"- BLOCKER: b{each}.py:{number} it loses items\n" for each in range(1, number + 1))
        + "".join(f"- NIT: n{number}{each}.py:1 an odd name\n" for each in "abc")
        for number in range(1, 4)
    ]
    reviewer(shop, *reviews, "Verdict: APPROVED\n")
    done = shop("chain", "Keep carts", "--driver", "scripted")
    assert done.returncode == 1
    assert "3 of at most 3 reviews done; 6 of 12 findings settled\n" in done.stdout
    blockers = [f"BLOCKER b{each}.py:3 it loses items" for each in (1, 2, 3)]
    assert re.findall(r"^  (BLOCKER .+)$", done.stdout, re.MULTILINE) == blockers
    assert [notice["kind"] for notice in shop.json("notices")["items"]] == ["review_bound"]
    again = shop("run", "--resume", "r1", "--retry-failed")
    assert (again.returncode, "run 1 is finished" in again.stderr) == (4, True)


# Where the file is.


def test_a_file_may_come_from_standard_input_and_is_compared_where_it_is_given_again(shop: CommandLine) -> None:
    done = shop("run", "-", "--driver", "shell", "--stop-on-failure", stdin=_STOPS)
    assert (done.returncode, states(shop)) == (1, ["completed", "failed", "pending"])
    assert "r1 standard input: 3 tasks, one after the other\n" in done.stdout
    changed = shop("run", "--resume", "r1", "-", stdin=_STOPS.replace("cat", "echo no"))
    assert (changed.returncode, "has changed since" in changed.stderr) == (4, True)
    assert states(shop)[2] == "pending"
    assert "Resuming r1 with 4 turns of context\n" in shop("run", "--resume", "r1", "-", stdin=_STOPS).stdout
    assert states(shop)[2] == "completed"


def test_a_file_from_elsewhere_is_compared_only_where_it_is_given_again(shop: CommandLine) -> None:
    file = shop.home / "elsewhere.md"
    file.write_text(_STOPS)
    shop("run", str(file), "--driver", "shell", "--stop-on-failure")
    assert shop.json("runs", "show", "r1")["task_id"] == f"{shop.cwd}/.ramet/tasks/elsewhere"
    file.write_text(_STOPS.replace("cat", "echo no"))
    assert shop("run", "--resume", "r1", str(file)).returncode == 4
    shop("run", "--resume", "r1")
    assert states(shop) == ["completed", "failed", "completed"]


@pytest.mark.requirement("R94")
def test_a_file_that_is_gone_is_not_needed_to_go_on(shop: CommandLine) -> None:
    run(shop, _STOPS, "--stop-on-failure")
    (shop.cwd / "tasks.md").unlink()
    assert "Resuming r1 with 4 turns of context\n" in shop("run", "--resume", "r1").stdout
    assert states(shop)[2] == "completed"


@pytest.mark.requirement("R101")
def test_a_file_that_is_broken_by_now_is_refused_with_the_place_unless_forced(shop: CommandLine) -> None:
    run(shop, _STOPS, "--stop-on-failure")
    write(shop, _STOPS + "- [~] 4. no\n")
    done = shop("run", "--resume", "r1")
    assert (done.returncode, done.stdout, "line 4, column" in done.stderr) == (2, "", True)
    assert states(shop)[2] == "pending"
    shop("run", "--resume", "r1", "--force")
    assert states(shop) == ["completed", "failed", "completed"]


# Going on.


@pytest.mark.requirement("R90", "R96")
def test_a_run_that_saves_no_conversation_goes_on_without_one(shop: CommandLine) -> None:
    run(shop, _STOPS, "--stop-on-failure", "--no-save-conversation")
    assert "Resuming r1 with 0 turns of context\n" in shop("run", "--resume", "r1").stdout
    found = shop.json("runs", "show", "r1")
    assert [line["state"] for line in found["lines"]] == ["completed", "failed", "completed"]
    assert (found["conversation"], found["lines"][2]["output"]) == ([], None), "the last one was told nothing"


@pytest.mark.requirement("R80", "R87", "R92", "R93", "R103")
def test_the_worked_example_comes_out_byte_for_byte_although_it_is_interrupted(
    shop: CommandLine, start: Callable[..., Run]
) -> None:
    notes = shop.home / "notes"
    notes.mkdir()
    wait, file = gate(shop)
    profile(
        shop,
        f'cat > {notes}/prompt; mv {notes}/prompt {notes}/$(ls {notes} | wc -l); {wait} >&2; echo "Auth uses JWT..."',
    )
    running = start(write(shop, "- [ ] Analyze auth module\n- [ ] What security issues?\n"), "--driver", "scripted")
    running.read_until("1 (scripted e1) do started")
    running.interrupt()
    running.read_until("starting nothing new")
    file.touch()
    assert running.end()[0] == 130
    done = shop("run", "--resume", "r1")
    assert (done.returncode, done.stdout.splitlines()[0]) == (0, "Resuming r1 with 2 turns of context")
    first, second = (path.read_text() for path in sorted(notes.iterdir()))
    assert first == "Analyze auth module"
    assert second == (
        "[User]\nAnalyze auth module\n\n[Assistant]\nAuth uses JWT...\n\n[Current Task]\nWhat security issues?"
    )


def test_a_chain_that_was_interrupted_goes_on_where_it_was(shop: CommandLine, start: Callable[..., Run]) -> None:
    wait, file = gate(shop)
    reviewer(shop, "Verdict: APPROVED\n")
    script = shop.home / "agent.sh"
    script.write_text(f"{wait} >&2\n{script.read_text()}")
    running = start("Keep carts", "--driver", "scripted", command="chain")
    running.read_until("plan (scripted e1) started")
    running.interrupt()
    running.read_until("starting nothing new")
    file.touch()
    status, said = running.end()
    assert (status, "continue: `ramet run --resume r1`" in said) == (130, True)
    assert states(shop) == ["completed", "pending", "pending"]
    done = shop("run", "--resume", "r1")
    assert (done.returncode, states(shop)) == (0, ["completed", "completed", "completed"])
    assert "plan (scripted e1)" not in done.stdout
    assert "1 of at most 3 reviews done; approved" in done.stdout


# A database that is not there.


@pytest.mark.parametrize("arguments", [("tasks.md", "--driver", "shell"), ("--resume", "r1")])
def test_without_its_database_nothing_is_begun_and_nothing_is_left(
    shop: CommandLine, arguments: tuple[str, ...]
) -> None:
    write(shop, "- [ ] one\n")
    done = shop("run", *arguments, environ=_UNREACHABLE)
    assert (done.returncode, done.stdout, "hunter2" in done.stderr) == (5, "", False)
    assert done.stderr.startswith("error: ")
    assert sorted(path.name for path in shop.cwd.iterdir()) == [".git", "tasks.md"]
    assert shop.json("runs", "list")["items"] == []
    assert shop.json("project", "list")["items"] == []


@pytest.mark.requirement("R99")
def test_a_damaged_database_is_refused_clearly_and_left_as_it_is(shop: CommandLine) -> None:
    run(shop, _STOPS, "--stop-on-failure")
    file = Path(shop.json("daemon", "status")["store"].removeprefix("sqlite "))
    shop.ok("daemon", "stop")
    whole = file.read_bytes()
    file.write_bytes(b"torn" + whole[4:])
    done = shop("run", "--resume", "r1")
    assert (done.returncode, done.stdout, "damaged or not a database" in done.stderr) == (5, "", True)
    assert file.read_bytes() == b"torn" + whole[4:]
    file.write_bytes(whole)
    assert "Resuming r1 with 4 turns of context\n" in shop("run", "--resume", "r1").stdout


# What it comes from.


@pytest.mark.requirement("R102")
def test_every_part_of_the_first_design_has_its_counterpart() -> None:
    assert {"ContextAccumulator", "Turn", "spawn_sequential"} <= set(ramet.__all__)
    assert {"started_at", "lines", "saved_at", "state", "conversation"} <= {field.name for field in fields(RunDetail)}
    assert {"run.get", "run.attend", "run.turn"} <= set(OPERATIONS)
    assert {"file", "resume", "save_conversation"} <= {parameter.name for parameter in run_command.params}


@pytest.mark.requirement("R377")
@pytest.mark.parametrize("option", [(), ("--dry-run",)])
@pytest.mark.parametrize(
    ("text", "where", "meant"),
    [
        ("- [ ] 1. a\n  - Agent: @shel\n", "line 2, column 13: there is no agent 'shel'", "did you mean shell?"),
        ("- [ ] 1. a\n- [ ] 2. b\n  - Skill: reveiw\n", "line 3, column 12: there is no skill 'reveiw'", "review?"),
        ("---\nagent: shel\n---\n- [ ] 1. a\n", "line 2, column 8: there is no agent 'shel'", "did you mean shell?"),
        ("- [ ] 1. a\n  - Modle: opus\n", "line 2, column 5: there is no directive 'Modle'", "`Model: opus`"),
    ],
)
def test_a_name_that_does_not_exist_is_refused_with_its_line_and_a_suggestion(
    shop: CommandLine, text: str, where: str, meant: str, option: tuple[str, ...]
) -> None:
    done = shop("run", write(shop, text), *option)
    assert (done.returncode, done.stdout) == (2, "")
    assert where in done.stderr
    assert meant in done.stderr
    assert shop.json("runs", "list")["items"] == []


@pytest.mark.requirement("R377")
def test_skills_of_the_project_are_known_to_a_dry_run(shop: CommandLine) -> None:
    folder = shop.cwd / ".ramet" / "skills" / "polish"
    folder.mkdir(parents=True)
    (folder / "SKILL.md").write_text("---\nname: polish\ndescription: x\n---\n")
    shop.ok("run", write(shop, "- [ ] 1. a\n  - Skill: polish\n"), "--dry-run")
