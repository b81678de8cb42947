"""A machine on a real database and a real disk: efforts of a project in a git repository."""

from pathlib import Path
from typing import Any

import msgspec
from tests.conformance import queue_worker
from tests.workspace.repositories import Shop
from tests.world import World

from ramet.config.settings import Places, Settings
from ramet.engine.record.skills import Discovered
from ramet.model.principal import USER, of_session
from ramet.protocol.operation import Change, Request
from ramet.protocol.wire.frames import decode_params, find_operation
from ramet.runner.machine import Machine
from ramet.runner.operations import answer
from ramet.runner.project_files.new_work import examine


class Desk:
    """One project, its database, its disk, and the operations of the machine."""

    def __init__(self, world: World, shop: Shop) -> None:
        self.world = world
        self.shop = shop
        self.project = shop.project
        self.task = f"{shop.project}/tasks/cart"
        self.machine = Machine(self.ask, Settings(), _places(shop), shop.environ)
        world.call("db.project.upsert", path=str(shop.project))

    def ask(self, request: Request[Any]) -> Any:
        return self.world.call(request.op.name, **msgspec.to_builtins(request))

    def call(self, name: str, /, **params: Any) -> Any:
        """An operation of the machine, its parameters as they come over the wire."""
        operation = find_operation(name)
        return answer(self.machine, decode_params(operation, msgspec.json.encode(params)))

    def submit(self, name: str, /, *, asker: int | None = None, **params: Any) -> Any:
        """A change, with the skills that it names and its base read first, as a daemon does it."""
        operation = find_operation(name)
        request = decode_params(operation, msgspec.json.encode(params))
        assert isinstance(request, Change)
        found, start = examine(self.machine, request, asker)
        principal = USER if asker is None else of_session(asker)
        return self.world.perform(principal, operation, Discovered(asked=request, found=found, start=start))

    def add(self, skill: str, prompt: str = "mend the cart", **params: Any) -> Any:
        if "based_on" not in params:
            params.setdefault("task", self.task)
        return self.world.call("work.add", prompt=prompt, skill=skill, **params)

    def run(self, skill: str, outcome: str = "success", **facts: Any) -> Any:
        """An effort that has been run; what is said of it is what a worker would report."""
        added = {name: facts.pop(name) for name in ("based_on", "prompt", "task") if name in facts}
        begun = {name: facts.pop(name) for name in ("worktree", "git_branch", "git_base") if name in facts}
        claimed = queue_worker.claim(self.world, effort_id=self.add(skill, **added).id)
        queue_worker.begin(self.world, claimed, **begun)
        return queue_worker.complete(self.world, claimed, outcome, **facts)

    def write(self, path: str, text: str) -> Path:
        """A file of the project's."""
        file = self.project / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        return file

    def prompt(self, effort: Any) -> Any:
        return self.call("work.prompt", effort_id=effort.id)


def _places(shop: Shop) -> Places:
    home = shop.root / "ramet"
    home.mkdir(exist_ok=True)
    names = ("socket", "pid_file", "log_file", "index", "backups", "lock_file", "keepers")
    known = {name: home / name for name in names}
    agents_socket = home / "agents" / "agents.sock"
    return Places(home=home, database=None, worktrees=shop.folder, agents_socket=agents_socket, **known)
