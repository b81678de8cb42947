"""The daemon dies inside a rewrite of a history: the next one finds the history whole, and before or after it."""

import os
import random
import shutil
import threading
from pathlib import Path
from typing import Any

import pytest
from tests.crash.daemons import Daemon, Home

from ramet.client.connection import Connection
from ramet.errors import DaemonUnreachable, RametError

DAY = "2026-01-01T00:00:{:02d}Z"
KILLS = int(os.environ.get("RAMET_CRASH_CYCLES", "25"))

Request = tuple[str, dict[str, Any]]

Parts = dict[str, str]


def tell(connection: Connection) -> Parts:
    """Branches that parted, a child with something to report, and a branch that was let go; the hashes on main."""
    said = {}
    for number in range(6):
        reply = say(connection, "main", number)
        said[f"main {number}"] = str(reply["hash"])
        if number == 2:
            connection.call("history.branch", {"name": "side", "from": "main"})
            connection.call("history.branch", {"name": "gone", "from": "main"})
    for branch in ("side", "gone"):
        for number in range(10, 13):
            say(connection, branch, number)
    connection.call("history.spawn", {"parent": "main", "child": "kid", "purpose": "look"})
    say(connection, "kid", 20)
    connection.call("history.delete", {"branch": "gone"})
    return said


def say(connection: Connection, branch: str, second: int) -> Any:
    text = f"{branch} {second} " + "says something of some length. " * 20
    return connection.call("history.commit", {"branch": branch, "text": text, "at": DAY.format(second)})


def requests(said: Parts) -> dict[str, Request]:
    """One request for each way in which a history is rewritten or added to in several rows."""
    return {
        "compress": ("history.compress", {"branch": "main", "from": said["main 1"], "to": said["main 4"]}),
        "merge": ("history.merge", {"into": "main", "from": "side"}),
        "spawn": (
            "history.spawn",
            {"parent": "main", "child": "new", "purpose": "p", "inherit": "selective", "filter": {"last_turns": 4}},
        ),
        "collapse": ("history.collapse", {"child": "kid", "text": "it is done"}),
        "gc": ("history.gc", {"retention_days": 0}),
    }


REWRITES = ("compress", "merge", "spawn", "collapse", "gc")


def look(connection: Connection) -> dict[str, Any]:
    """All that a history shows of itself."""
    branches = connection.call("history.branches")["items"]
    counts = "SELECT (SELECT count(*) FROM commits), (SELECT count(*) FROM segments), (SELECT count(*) FROM blobs)"
    return {
        "branches": branches,
        "compiled": [connection.call("history.compile", {"branch": row["name"]}) for row in branches],
        "moves": connection.call("history.moves", {"branch": "main"}),
        "spawns": connection.call("history.spawns", {"branch": "main"}),
        "counts": connection.call("db.query", {"sql": counts})["rows"],
    }


def is_whole(connection: Connection) -> bool:
    return bool(connection.call("history.check")["findings"] == [])


def lose(daemon: Daemon, request: Request) -> None:
    """Send a request that the daemon does not live to answer."""
    method, params = request
    with daemon.connect() as connection, pytest.raises(DaemonUnreachable, match="not known whether"):
        connection.call(method, {**params, "idempotency_key": "once"})
    assert daemon.died_by_its_fault()


def die_and_look(home: Home, point: str, request: Request, before: dict[str, Any]) -> None:
    lose(home.start(f"{point}:1"), request)
    method, params = request
    with home.start().connect() as connection:
        found = look(connection)
        assert is_whole(connection)
        is_one_step = method != "history.gc"  # the next one takes the steps that are left
        assert (found == before) == (point == "before_commit") or not is_one_step
        connection.call(method, {**params, "idempotency_key": "once"})
        after = look(connection)
        assert is_whole(connection)
        assert after != before
        if point != "before_commit" and is_one_step:
            assert after == found
    home.close()


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Parts, dict[str, Any]]:
    """A home whose history has been told, what was said, and how it looks."""
    home = Home(tmp_path_factory.mktemp("t") / "home")
    daemon = home.start()
    with daemon.connect() as connection:
        said = tell(connection)
        before = look(connection)
    home.close()
    return home.path, said, before


@pytest.mark.requirement("R56")
@pytest.mark.parametrize("rewrite", REWRITES)
@pytest.mark.parametrize("point", ["before_commit", "after_commit_before_reply"])
def test_death_around_a_rewrite_leaves_a_history_before_or_after_it(
    told: tuple[Path, Parts, dict[str, Any]], place: Path, point: str, rewrite: str
) -> None:
    path, said, before = told
    shutil.copytree(path, place / "home", ignore=shutil.ignore_patterns("*.sock", "*.pid", "*.lock"))
    die_and_look(Home(place / "home"), point, requests(said)[rewrite], before)


@pytest.mark.slow
@pytest.mark.requirement("R56")
@pytest.mark.parametrize("rewrite", REWRITES)
@pytest.mark.parametrize("point", ["before_commit", "after_commit_before_reply"])
def test_death_around_a_rewrite_on_a_server_leaves_a_history_before_or_after_it(
    postgres_home: Home, point: str, rewrite: str
) -> None:
    with postgres_home.start().connect() as connection:
        said = tell(connection)
        before = look(connection)
    postgres_home.close()
    die_and_look(postgres_home, point, requests(said)[rewrite], before)


class Rewriter:
    """A client that rewrites one history over and over, and knows what was under way when the daemon died."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)
        self._count = 0
        self.pending: Request | None = None
        self.before: dict[str, Any] = {}
        self.done = 0

    def work(self, daemon: Daemon) -> None:
        """Until the daemon is gone."""
        try:
            with daemon.connect() as connection:
                while True:
                    self._step(connection)
        except DaemonUnreachable:
            return

    def settle(self, connection: Connection) -> None:
        """What was under way is not there at all, or all of it: sending it again then changes nothing."""
        found = look(connection)
        assert is_whole(connection)
        if self.pending is None:
            assert found == self.before
            return
        method, params = self.pending
        try:
            connection.call(method, params)
        except RametError:
            assert found == self.before
        assert is_whole(connection)
        assert found in (self.before, look(connection))

    def _step(self, connection: Connection) -> None:
        self.pending, self.before = None, look(connection)
        method, params = self._next(connection)
        self._count += 1
        self.pending = method, {**params, "idempotency_key": f"rewrite {self._count}"}
        try:
            connection.call(*self.pending)
        except DaemonUnreachable:
            raise
        except RametError:
            pass
        self.pending, self.before = None, look(connection)
        self.done += 1

    def _next(self, connection: Connection) -> Request:
        commits = [row["hash"] for row in connection.call("history.log", {"branch": "main", "limit": 30})["items"]][
            ::-1
        ]
        first, last = sorted(self._random.choices(range(len(commits)), k=2))
        name = f"kid{self._random.randrange(4)}"
        return self._random.choice(
            [
                ("history.commit", {"branch": "main", "text": f"more {self._count}"}),
                ("history.commit", {"branch": "side", "text": f"more {self._count}"}),
                ("history.compress", {"branch": "main", "from": commits[first], "to": commits[last]}),
                ("history.merge", {"into": "main", "from": "side", "strategy": "both"}),
                ("history.reset", {"branch": "main", "to": commits[max(first, 3)]}),
                ("history.undo", {"branch": "main"}),
                ("history.spawn", {"parent": "main", "child": name, "purpose": "p"}),
                ("history.collapse", {"child": name, "text": f"done {self._count}"}),
                ("history.gc", {"retention_days": 0}),
            ]
        )


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.requirement("R56")
def test_a_history_that_is_killed_at_any_moment_is_never_between(sqlite_home: Home) -> None:
    rewriter, moments = Rewriter(1), random.Random(2)
    for cycle in range(KILLS):
        daemon = sqlite_home.start()
        with daemon.connect() as connection:
            if cycle == 0:
                tell(connection)
                rewriter.before = look(connection)
            rewriter.settle(connection)
        thread = threading.Thread(target=rewriter.work, args=(daemon,))
        thread.start()
        # The random moment is the point here; nothing is waited for.
        threading.Event().wait(moments.uniform(0.05, 0.4))
        daemon.kill()
        thread.join(60)
        assert not thread.is_alive()
    assert rewriter.done > KILLS
