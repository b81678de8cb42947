"""Agents and people at work in one repository: what `memory.why` is asked about afterwards."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from tests.conformance import queue_worker
from tests.runner.desk import Desk

from ramet.model.instant import from_datetime
from ramet.runner.memory import made_commits

Call = tuple[str, dict[str, Any], str]
"""A tool, what it is given, and its result."""
CART = """def total(cart):
    amount = sum(item.price for item in cart.items)
    discount = find_discount(cart.customer)
    return amount - discount
"""


class Done(NamedTuple):
    """An effort whose attempt has ended."""

    effort_id: int
    session_id: int
    branch: str


class Office:
    """One project, in which a person and agents work."""

    def __init__(self, desk: Desk) -> None:
        self.desk = desk
        self.top = desk.project
        self._efforts = 0
        self.commit("src/shop.py", "import cart\n\n\ndef open_shop():\n    print('welcome to the shop')\n")

    def git(self, *words: str, cwd: Path | None = None) -> str:
        return self.desk.shop.run(cwd or self.top, *words)

    def commit(self, path: str, text: str) -> str:
        """A person's commit of one file."""
        self.desk.write(path, text)
        self.git("add", "-A")
        self.git("commit", "-q", "-m", f"change {path}")
        return self.git("rev-parse", "HEAD").strip()

    def run(self, *calls: Callable[[Path], Call], prompt: str = "add a cart", in_place: bool = False) -> Done:
        """An agent's effort, in a worktree of its own or in the person's checkout."""
        self._efforts += 1
        branch, base = f"ramet/w{self._efforts}", self.git("rev-parse", "HEAD").strip()
        tree = self.top if in_place else self.desk.shop.root / f"tree{self._efforts}"
        place = {} if in_place else {"worktree": str(tree), "git_branch": branch, "git_base": base}
        if not in_place:
            self.git("worktree", "add", "-q", "-b", branch, str(tree))
        world, effort = self.desk.world, self.desk.add("do", prompt)
        claimed = queue_worker.claim(world, f"host/{self._efforts}", effort_id=effort.id)
        attempt = queue_worker.begin(world, claimed, driver="claude", **place)
        self._report(attempt, [call(tree) for call in calls])
        queue_worker.complete(world, claimed)
        if not in_place:
            self.git("add", "-A", cwd=tree)
            self.git("commit", "-q", "-m", f"do: {prompt}\n\nRamet-Effort: e{effort.id}", cwd=tree)
            head = self.git("rev-parse", "HEAD", cwd=tree).strip()
            since_ms = from_datetime(attempt.session.created_at)
            made_commits.record(self.desk.machine, effort.id, str(self.top), branch, base, head, since_ms)
            self.git("worktree", "remove", "--force", str(tree))
        return Done(effort.id, attempt.session.id, branch)

    def _report(self, attempt: Any, calls: list[Call]) -> None:
        events: list[dict[str, Any]] = []
        for number, (tool, given, result) in enumerate(calls):
            events.append({"kind": "tool_call", "call_id": f"c{number}", "name": tool, "input": given})
            events.append({"kind": "tool_result", "call_id": f"c{number}", "name": tool, "output": result})
        queue_worker.report(self.desk.world, attempt, *events, queue_worker.end())

    def why(self, path: str, first: int | None = None, last: int | None = None, **params: Any) -> Any:
        return self.desk.call("memory.why", path=str(self.top / path), first=first, last=last, **params)

    def efforts_of(self, path: str) -> list[int | None]:
        """The effort of each line that says something, or None."""
        reply = self.why(path)
        text = (self.top / path).read_text().splitlines()
        found: list[int | None] = []
        for part in reply.ranges:
            effort = None if part.source is None else reply.sources[part.source].effort_id
            found += [effort for number in range(part.first, part.last + 1) if text[number - 1].strip()]
        return found


def writes(path: str, text: str) -> Callable[[Path], Call]:
    """A new file, with the tool that says so."""

    def call(tree: Path) -> Call:
        (tree / path).parent.mkdir(parents=True, exist_ok=True)
        (tree / path).write_text(text)
        return "Write", {"file_path": str(tree / path), "content": text}, "File created successfully"

    return call


def edits(path: str, old: str, new: str) -> Callable[[Path], Call]:
    """A change of a file, with the tool that says so."""

    def call(tree: Path) -> Call:
        text = (tree / path).read_text()
        assert old in text
        (tree / path).write_text(text.replace(old, new, 1))
        return "Edit", {"file_path": str(tree / path), "old_string": old, "new_string": new}, "updated"

    return call


def commands(path: str, text: str) -> Callable[[Path], Call]:
    """A command that writes a file, which its call does not say."""

    def call(tree: Path) -> Call:
        writes(path, text)(tree)
        return "Bash", {"command": f"make {path}"}, "done"

    return call
