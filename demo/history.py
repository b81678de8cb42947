"""The last part of the demo: what an agent knows, branched, compressed, merged and undone; then the daemon is killed
in the middle of two transcripts and started again, and everything that it had acknowledged is counted.
"""

import os
import sys
import threading
from pathlib import Path

import ramet
from demo.stage import kill_daemon, run, say
from ramet.errors import RametError

_TURNS_BEFORE_THE_KILL = 400


def show(project: Path) -> None:
    """Two agents, what they know, and a daemon that dies."""
    (project / "tasks").mkdir(parents=True)
    os.chdir(project)
    _show_work()
    _show_history()
    _show_crash()


def _show_work() -> None:
    say("A project, a task, and two agents with one effort each. The daemon starts by itself.")
    run("ramet project add . --name shop")
    run("ramet task add tasks/checkout --title 'Pay by invoice'")
    run("ramet effort start tasks/checkout plan --agent planner --native claude:7f3a")
    run("ramet effort start tasks/checkout implement --agent builder --native codex:c41e")

    say("Phases are entered in order. Skipping one needs a reason, and the reason is kept.")
    run("ramet effort phase e1 '1: Understand'")
    run("ramet effort phase e2 1")
    run("ramet effort phase e2 3", fails=True)
    run("ramet effort phase e2 2")

    say("An effort that one agent holds cannot be assigned to another.")
    run("ramet agent register visitor")
    run("ramet agent assign visitor e2", fails=True)


def _show_history() -> None:
    say("An agent's context is a branch of commits, s1. Fork it, ask what if, and replace the start with a summary.")
    run("ramet session say s1 user 'Invoices need an address. Which page asks for it?'")
    run("ramet session say s1 assistant 'The payment page, and only once.'")
    run("ramet history branch create what-if --from s1")
    run("ramet history commit what-if 'What if the address came from the last order?' --author planner")
    run("ramet history compress what-if what-if~2 what-if~1 --text 'The payment page asks for the address.'")
    run("ramet history compile what-if")

    say("Every rewrite can be undone, to the byte. Then merge the two branches.")
    run("ramet undo what-if")
    run("ramet history branch create plan --from s1")
    run("ramet history commit plan 'Write the plan down.'")
    run("ramet history merge plan what-if")
    run("ramet history log --graph --oneline")


def _show_crash() -> None:
    say("Both agents write turns. In the middle, the daemon is killed with SIGKILL.")
    acknowledged: dict[str, int] = {}
    enough = threading.Semaphore(0)
    agents = [
        threading.Thread(target=_talk, args=(name, acknowledged, enough)) for name in ("claude:7f3a", "codex:c41e")
    ]
    for agent in agents:
        agent.start()
    for _ in range(_TURNS_BEFORE_THE_KILL):
        enough.acquire()
    pid = kill_daemon()
    for agent in agents:
        agent.join()
    print(f"  killed daemon {pid} after {sum(acknowledged.values())} acknowledged turns")

    say("The next command starts the daemon again. Count the turns.")
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
    run("ramet db check")

    say("The work continues with the same phases and the same holders.")
    run("ramet effort phase e2 3")
    run("ramet ps")
    if lost:
        sys.exit("acknowledged turns were lost")


def _talk(session: str, acknowledged: dict[str, int], enough: threading.Semaphore) -> None:
    """An agent's turns, counted only when they are acknowledged, until the daemon dies under it."""
    acknowledged[session] = 0
    try:
        with ramet.connect(autostart=False) as r:
            while True:
                turn = acknowledged[session] + 1
                r.db.messages.append(session, "assistant", f"turn {turn}: read the code, changed a line")
                acknowledged[session] = turn
                enough.release()
    except RametError:
        return
