"""Runs on a desk: started, attended, and their lines worked on by hand."""

from collections.abc import Sequence
from typing import Any

from tests.conformance import queue_worker
from tests.runner.desk import Desk


class RunDesk:
    """One run, and a worker who takes its lines in turn."""

    def __init__(self, desk: Desk, lines: Sequence[dict[str, Any]] = (), **params: Any) -> None:
        self.desk = desk
        known = {"task": desk.task, "name": "tasks.md", "lines": list(lines), "mode": "sequential"}
        self.id = desk.world.call("run.start", **{**known, **params}).id
        self.attend()

    def attend(self, **params: Any) -> None:
        self.desk.world.call("run.attend", run_id=self.id, attender="host", begins=True, **params)

    def leave(self) -> None:
        self.desk.world.call("run.leave", run_id=self.id, attender="host")

    @property
    def detail(self) -> Any:
        return self.desk.world.call("run.get", run_id=self.id)

    def claim(self, worker: str = "host/1") -> Any:
        """The next line."""
        claimed = queue_worker.claim(self.desk.world, worker, run=self.id)
        assert hasattr(claimed, "generation"), claimed
        return claimed

    def prompt(self, line: Any) -> str:
        return str(self.desk.prompt(line).prompt)

    def finish(self, claimed: Any, outcome: str = "success", **facts: Any) -> Any:
        """What became of a line."""
        begun = {name: facts.pop(name) for name in ("worktree", "git_branch", "git_base", "git_host") if name in facts}
        queue_worker.begin(
            self.desk.world, claimed, agent_id=claimed.lease_owner, instance=f"keeper{claimed.id:03}", **begun
        )
        return queue_worker.complete(self.desk.world, claimed, outcome, **facts)

    def run(self, outcome: str = "success", **facts: Any) -> Any:
        return self.finish(self.claim(), outcome, **facts)


def line(key: str, text: str | None = None, **facts: Any) -> dict[str, Any]:
    return {"key": key, "text": text or f"task {key}", **facts}
