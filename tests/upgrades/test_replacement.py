"""The first command after an upgrade replaces the daemon, and nobody sees a traceback: real daemons of real builds."""

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import psutil
import pytest
from tests.upgrades.builds import (
    BEFORE_BUILDS,
    SCHEMA_3,
    SCHEMA_8,
    SCHEMA_24,
    SOURCE,
    Installation,
    wait_until,
)

from ramet.build import own_build

pytestmark = pytest.mark.requirement("R465")

Landed = Callable[[str], Installation]
Copied = Callable[..., Installation]
SLOW = pytest.mark.slow


def begin_agent(old: Installation) -> None:
    """Let the build's own `ramet work` run one agent, until that lives."""
    assert old("add", "one").returncode == 0
    worker = old.start("work", "--once")
    wait_until(lambda: worker.poll() is not None or any((old.world / "notes").iterdir()))
    assert worker.poll() is None, worker.communicate()


def processes_of(installation: Installation) -> list[str]:
    """What runs from an installation's files."""
    found = []
    for process in psutil.process_iter():
        with suppress(psutil.Error):
            if process.environ().get("PYTHONPATH") == str(installation.source):
                found.append(" ".join(process.cmdline()))
    return found


def outcome(this: Installation) -> tuple[str | None, str]:
    row = this.json("rpc", "call", "work.get", '{"effort_id": 1}')
    return row["lifecycle"], str(row["outcome"])


@pytest.mark.parametrize(
    "commit", [pytest.param(SCHEMA_8, marks=SLOW), pytest.param(SCHEMA_24, marks=SLOW), BEFORE_BUILDS]
)
def test_the_first_command_replaces_the_daemon_and_its_agent_runs_to_its_end_once(
    commit: str, landed: Landed, this: Installation, world: Path
) -> None:
    old = landed(commit)
    begin_agent(old)
    former = this.pid()
    done = this("ps", "--json")
    assert (done.returncode, done.stderr.count("\n")) == (0, 1), done.stderr
    assert done.stderr.startswith("note: replaced the daemon (0.1.0) by a newer one (0.1.0, build ")
    assert this.pid() != former
    assert '"beating"' in done.stdout  # it runs
    assert this.hello()["build"] == own_build().revision
    wait_until(lambda: outcome(this)[0] == "finished")
    assert outcome(this) == ("finished", "no_change")
    assert "one is done" in this.ok("show", "e1")
    assert len(list((world / "notes").iterdir())) == 1  # it was started once
    wait_until(lambda: not processes_of(old))  # neither readers nor keepers
    still = this.pid()
    for words in (["ps"], ["status"], ["queue"], ["daemon", "status"], ["notices"], ["task", "list"]):
        answered = old(*words)  # the older one still works, or says in one line what it does not know
        assert "Traceback" not in answered.stderr
        assert answered.returncode == 0 or answered.stderr.count("error:") == 1
    assert this.pid() == still


@pytest.mark.slow
def test_a_daemon_from_before_there_was_a_queue_is_replaced_too(
    landed: Landed, this: Installation, world: Path
) -> None:
    old = landed(SCHEMA_3)
    (world / "user" / ".config" / "ramet" / "config.yaml").unlink()  # it knows no agent programs
    assert old("project", "add", ".").returncode == 0
    assert old("task", "add", "sing").returncode == 0
    done = this("task", "list")
    assert "note: replaced the daemon" in done.stderr
    assert "sing" in done.stdout


def test_work_of_the_build_before_goes_on_and_its_commands_never_bring_the_old_daemon_back(
    copied: Copied, this: Installation, world: Path
) -> None:
    before = copied(1_000_000_000)
    before.ok("hooks", "install", "--agent", "claude", "--scope", "user", "--yes")
    program = world / "r" / "hook"
    assert str(before.source) in program.read_text()
    before.ok("add", "one")
    worker = before.start("work", "--once")
    wait_until(lambda: worker.poll() is not None or any((world / "notes").iterdir()))
    this("ps")
    ours = this.pid()
    assert str(SOURCE) in program.read_text()
    noted = before("ps")
    assert (noted.returncode, noted.stderr.count("\n")) == (0, 1)
    assert noted.stderr.startswith("note: this ramet (0.1.0, build 000000000000) ")
    assert "is older than the daemon" in noted.stderr
    out, err = worker.communicate(timeout=90)
    assert worker.returncode == 0, out + err
    assert "the daemon is being replaced by a newer one" in out + err
    assert "e1" in out
    assert len(list((world / "notes").iterdir())) == 1
    assert (this.pid(), this.hello()["build"]) == (ours, own_build().revision)


def test_a_daemon_that_this_build_cannot_talk_to_is_named_in_one_line_and_left_alone(
    copied: Copied, this: Installation
) -> None:
    later = copied(4_000_000_000, build=("PROTOCOL_VERSION = 1", "PROTOCOL_VERSION = 2"))
    later.ok("daemon", "start")
    pid = later.pid()
    for words in (["ps"], ["work", "--once"], ["daemon", "status"]):
        done = this(*words)
        assert done.returncode == 1
        assert done.stderr.startswith("error: this ramet (0.1.0, build ")
        assert "is older than the daemon (0.1.0, build " in done.stderr
        assert "  fix: upgrade it: `pip install -U ramet`" in done.stderr
        assert done.stderr.count("\n") == 2
    assert later.pid() == pid
    later.ok("ps")


def test_a_reply_of_a_newer_daemon_with_less_or_other_fields_ends_in_one_line(
    copied: Copied, this: Installation
) -> None:
    later = copied(
        4_000_000_000,
        protocol__system__daemon=("    connections: int\n", "    links: int\n"),
        daemon__server=("connections=len", "links=len"),
    )
    later.ok("daemon", "start")
    done = this("daemon", "status")
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    assert done.stderr.count("error:") == 1
    assert "fix: this ramet (0.1.0, build " in done.stderr
    assert this("ps").returncode == 0
