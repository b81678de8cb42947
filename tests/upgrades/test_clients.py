"""Clients of the build before that stay connected during an upgrade: they continue, or end with one clear line."""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.upgrades.builds import PATIENCE_SECONDS, Installation, wait_until

pytestmark = pytest.mark.requirement("R465")

_PROGRAM = """
import ramet
with ramet.connect() as r:
    print(len(r.db.project.list().items), flush=True)
    input()
    try:
        r.db.project.list()
    except ramet.errors.RametError as error:
        print(error.code, flush=True)
    print(r.db.project.list().items[0].path, flush=True)
"""


def test_subscribers_programs_and_hooks_of_the_build_before_meet_the_new_daemon(
    copied: Callable[..., Installation], this: Installation, world: Path
) -> None:
    before = copied(1_000_000_000)
    before.ok("project", "add", ".")
    before.ok("hooks", "install", "--agent", "claude", "--scope", "user", "--yes")
    former = (world / "r" / "hook").read_text()
    events = before.start("events", "--follow", "--json")
    with subprocess.Popen(
        [sys.executable, "-c", f"import ramet.errors{_PROGRAM}"],
        cwd=world / "p",
        env=before.environ,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as program:
        assert program.stdout is not None
        assert program.stdout.readline() == "1\n"
        assert "note: replaced the daemon" in this("ps").stderr
        ours = this.pid()
        out, err = program.communicate("\n", timeout=PATIENCE_SECONDS)
    assert (program.returncode, err, out.splitlines()) == (0, "", ["daemon_unreachable", str(world / "p")])
    out, err = events.communicate(timeout=PATIENCE_SECONDS)
    assert events.returncode != 0
    assert err.count('"error"') == 1
    assert json.loads(err)["error"]["fix"] == "subscribe again after the id of the last event"
    # Each program at a hook: the one that was installed before, and the one that the new daemon wrote.
    assert former != (world / "r" / "hook").read_text()
    (world / "former").write_text(former)
    for hook in (world / "former", world / "r" / "hook"):
        payload = {"hook_event_name": "SessionStart", "session_id": f"s-{hook.name}", "cwd": str(world / "p")}
        done = subprocess.run(
            [sys.executable, "-IS", str(hook), "claude"],
            input=json.dumps(payload),
            env={"PATH": before.environ["PATH"], "HOME": before.environ["HOME"]},
            capture_output=True,
            text=True,
            timeout=PATIENCE_SECONDS,
            check=False,
        )
        assert (done.returncode, done.stderr) == (0, "")
    wait_until(lambda: len(this.json("session", "list", "--open")["items"]) == 2)
    assert not (world / "r" / "gaps.jsonl").exists()
    assert this.pid() == ours
