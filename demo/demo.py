"""What Ramet does, in under a minute, with nothing installed but Ramet itself. `make demo`.

It works in a temporary home: a project, a task and two agents at work; what one of them knows, branched, compressed,
merged and undone; then the daemon is killed in the middle of their transcripts and started again, and everything that
it had acknowledged is counted.
"""

import json
import os
import shlex
import signal
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

import ramet
from ramet.errors import RametError

_RAMET = Path(sys.executable).parent / "ramet"
_TURNS_BEFORE_THE_KILL = 400


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="ramet-demo-") as folder:
        os.environ.update(RAMET_HOME=f"{folder}/home", HOME=folder)
        for name in ("XDG_DATA_HOME", "XDG_CONFIG_HOME"):
            os.environ.pop(name, None)
        project = Path(folder, "shop")
        (project / "tasks").mkdir(parents=True)
        os.chdir(project)
        try:
            _show_work()
            _show_history()
            _show_crash()
        finally:
            subprocess.run([_RAMET, "daemon", "stop"], check=True, capture_output=True)


def _show_work() -> None:
    _say("A project, a task, and two agents with an effort each. The daemon starts by itself.")
    _run("ramet project add . --name shop")
    _run("ramet task add tasks/checkout --title 'Pay by invoice'")
    _run("ramet effort start tasks/checkout plan")
    _run("ramet effort start tasks/checkout implement")
    _run("ramet session start tasks/checkout e1 --agent planner --native claude:7f3a")
    _run("ramet session start tasks/checkout e2 --agent builder --native codex:c41e")

    _say("Phases come in order. Skipping one needs a reason, and the reason is kept.")
    _run("ramet effort phase e1 '1: Understand'")
    _run("ramet effort phase e2 1")
    _run("ramet effort phase e2 3", fails=True)
    _run("ramet effort phase e2 2")

    _say("Nobody takes over what somebody else holds.")
    _run("ramet agent register visitor")
    _run("ramet agent assign visitor e2", fails=True)


def _show_history() -> None:
    _say("What an agent knows is a branch of commits, s1. Fork it, try something, and shorten what came before.")
    _run("ramet session say s1 user 'Invoices need an address. Where do we ask for it?'")
    _run("ramet session say s1 assistant 'On the payment page, and only once.'")
    _run("ramet branch create what-if --from s1")
    _run("ramet commit what-if 'What if the address came from the last order?' --author planner")
    _run("ramet compress what-if what-if~2 what-if~1 --text 'The address is asked for on the payment page.'")
    _run("ramet compile what-if")

    _say("Every rewrite can be taken back, to the byte. Then the two lines are joined.")
    _run("ramet undo what-if")
    _run("ramet branch create plan --from s1")
    _run("ramet commit plan 'Write the plan down.'")
    _run("ramet merge plan what-if")
    _run("ramet log --graph --oneline")


def _show_crash() -> None:
    _say("Both agents talk. In the middle of it the daemon is killed with SIGKILL.")
    acknowledged: dict[str, int] = {}
    enough = threading.Semaphore(0)
    agents = [
        threading.Thread(target=_talk, args=(name, acknowledged, enough)) for name in ("claude:7f3a", "codex:c41e")
    ]
    for agent in agents:
        agent.start()
    for _ in range(_TURNS_BEFORE_THE_KILL):
        enough.acquire()
    pid = json.loads(_capture("ramet daemon status --json"))["pid"]
    os.kill(pid, signal.SIGKILL)
    for agent in agents:
        agent.join()
    print(f"  killed daemon {pid} after {sum(acknowledged.values())} acknowledged turns")

    _say("The next command starts it again. Count what is there.")
    lost = 0
    with ramet.connect() as r:
        for session, count in acknowledged.items():
            kept = r.db.query(
                "SELECT count(*) FROM messages m JOIN sessions s ON s.id = m.session_id "
                "WHERE s.driver || ':' || s.native_id = ?",
                params=[session],
            ).rows[0][0]
            lost += max(0, count - kept)
            print(f"  session {session}: {count} turns acknowledged, {kept} kept")
    print(f"  lost: {lost}")
    _run("ramet db check")

    _say("The work goes on where it was: same phases, same holders.")
    _run("ramet effort phase e2 3")
    _run("ramet ps")
    if lost:
        sys.exit("acknowledged turns were lost")
    print("\nNothing acknowledged was lost. Next: docs/quickstart.md")


def _talk(session: str, acknowledged: dict[str, int], enough: threading.Semaphore) -> None:
    """An agent's turns, counted only when they are acknowledged, until the daemon dies under it."""
    acknowledged[session] = 0
    try:
        with ramet.connect(autostart=False) as r:
            while True:
                turn = acknowledged[session] + 1
                r.db.messages.append(session, "assistant", f"turn {turn}: looked at the code, changed a line")
                acknowledged[session] = turn
                enough.release()
    except RametError:
        return


def _say(text: str) -> None:
    print(f"\n# {text}", flush=True)


def _run(command: str, *, fails: bool = False) -> None:
    """Show a command and what it prints, as a person would see it."""
    print(f"$ {command}", flush=True)
    words = [str(_RAMET), *shlex.split(command)[1:]]
    done = subprocess.run(words, check=False, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    print("".join(f"  {line}\n" for line in done.stdout.splitlines()), end="", flush=True)
    if (done.returncode != 0) is not fails:
        sys.exit(f"`{command}` ended with status {done.returncode}")


def _capture(command: str) -> str:
    words = [str(_RAMET), *shlex.split(command)[1:]]
    return subprocess.run(words, check=True, text=True, capture_output=True).stdout


if __name__ == "__main__":
    main()
