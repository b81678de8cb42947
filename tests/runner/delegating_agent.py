"""An agent that delegates: `delegating_agent.py NOTES NAME PLAN`.

PLAN is JSON: `{"children": [{"name": …, "plan": …, …}], "wait": bool, "then": seconds, "goes": path}`. It spawns its
children in its own name, waits for them where it is asked to, and prints what they came to. Whatever it does it writes
into NOTES with the time, a line each, so that a test can see who was at work when.
"""

import json
import os
import shlex
import sys
import time
from pathlib import Path
from typing import Any

from ramet.client.autostart import connect
from ramet.errors import DaemonStopping, DaemonUnreachable


def main(notes: str, name: str, plan: dict[str, Any]) -> int:
    note(notes, name, "begins")
    if children := plan.get("children"):
        note(notes, name, "waits" if plan.get("wait", True) else "detaches")
        results = delegate(notes, children, plan)
        note(notes, name, "goes on")
        print(json.dumps(results))
    if lock := plan.get("until"):
        while not Path(lock).exists():
            time.sleep(0.01)
    time.sleep(plan.get("then", 0))
    print(f"{name} is done")
    note(notes, name, "ends")
    return int(plan.get("exit", 0))


def delegate(notes: str, children: list[dict[str, Any]], plan: dict[str, Any]) -> Any:
    agents = [order(notes, child) for child in children]
    params: dict[str, Any] = {"agents": agents, "wait": plan.get("wait", True)}
    if "patience" in plan:
        params["timeout_seconds"] = plan["patience"]
    results = ask("spawn.agents", {**params, "idempotency_key": f"{os.environ['RAMET_SESSION']} delegates"})
    if "collect" in plan:
        ids = [result["childSessionId"] for result in results["results"]]
        results = ask("spawn.wait", {"session_ids": ids})
    return results["results"]


def order(notes: str, child: dict[str, Any]) -> dict[str, Any]:
    command = [sys.executable, __file__, notes, child["name"], json.dumps(child.get("plan", {}))]
    return {"goal": shlex.join(command), "workflowId": "shell", **child.get("order", {})}


def ask(method: str, params: dict[str, Any]) -> Any:
    """In the name of this session; a daemon that goes away is waited for, and asked again."""
    while True:
        try:
            with connect(os.environ["RAMET_SOCKET"], token=os.environ["RAMET_TOKEN"]) as connection:
                return connection.call(method, params)
        except (DaemonUnreachable, DaemonStopping):
            time.sleep(0.05)


def note(notes: str, name: str, what: str) -> None:
    line = f"{time.monotonic():.6f} {os.environ['RAMET_SESSION']} {name} {what}\n"
    descriptor = os.open(notes, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    os.write(descriptor, line.encode())
    os.close(descriptor)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2], json.loads(sys.argv[3])))
