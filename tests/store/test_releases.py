"""Releases: the present code opens a database that a release wrote, and reads its history back.

`tests/data/releases.json` lists the releases. `tools/record_release.py` adds one, with the history that is read here.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import apsw
import pytest
from tests.store.dumps import dump_schema
from tests.world import World, open_in, open_world

import ramet
from ramet.errors import DatabaseNewer
from ramet.store.database.schema import migrations
from ramet.store.database.schema.migrations import load_migrations

DATA = Path(__file__).parent.parent / "data"
RELEASES: list[dict[str, Any]] = json.loads((DATA / "releases.json").read_text(encoding="utf-8"))

CART, TILL, SIGN = (f"/projects/shop/tasks/{name}" for name in ("cart", "till", "sign"))


def load_sqlite(release: dict[str, Any], path: Path) -> None:
    database = apsw.Connection(str(path))
    database.execute((DATA / release["dumps"]["sqlite"]).read_text(encoding="utf-8"))
    database.close()


def load_postgres(release: dict[str, Any], url: str) -> None:
    import psycopg

    with psycopg.connect(url) as database:
        database.execute((DATA / release["dumps"]["postgres"]).read_bytes())


@pytest.fixture(params=RELEASES, ids=lambda release: release["version"])
def release(request: pytest.FixtureRequest) -> Any:
    return request.param


@pytest.fixture
def upgraded(release: dict[str, Any], tmp_path: Path, database_url: str | None) -> Iterator[World]:
    """A database that a release wrote, opened with the present code."""
    load(release, tmp_path, database_url)
    with open_world(tmp_path, database_url) as world:
        yield world


def load(release: dict[str, Any], folder: Path, url: str | None) -> None:
    """The database as the release left it."""
    if url is None:
        load_sqlite(release, folder / "ramet.db")
    else:
        load_postgres(release, url)


def count_rows(world: World, tables: list[str]) -> dict[str, int]:
    return {table: world.sql(f"SELECT count(*) FROM {table}")[0][0] for table in tables}


@pytest.mark.requirement("R315")
def test_an_upgrade_starts_at_the_schema_of_the_release_and_keeps_every_row(
    release: dict[str, Any], upgraded: World
) -> None:
    assert upgraded.store.migrated.before == release["schema_version"]
    assert count_rows(upgraded, list(release["rows"])) == release["rows"]
    assert upgraded.call("db.check").findings == []


@pytest.mark.requirement("R315")
def test_a_release_refuses_what_was_upgraded_since_and_changes_nothing(
    release: dict[str, Any], tmp_path: Path, database_url: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The other direction: the release knows its own migrations and none after them."""
    load(release, tmp_path, database_url)
    with open_world(tmp_path, database_url) as world:
        before, latest = world.dump(), world.store.schema_version
    known = [step for step in load_migrations("sqlite") if step.number <= release["schema_version"]]
    with monkeypatch.context() as patch:
        patch.setattr(migrations, "load_migrations", lambda dialect: known)
        with pytest.raises(DatabaseNewer) as refusal:
            open_in(tmp_path, database_url)
    assert (refusal.value.field, refusal.value.value) == ("schema_version", latest)
    with open_world(tmp_path, database_url) as again:
        assert again.dump() == before


@pytest.mark.requirement("R315")
def test_an_upgraded_database_has_the_schema_of_a_new_one(
    upgraded: World, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    url = None if upgraded.is_sqlite else request.getfixturevalue("worlds_schema")
    with open_world(tmp_path / "new", url) as new:
        assert dump_schema(upgraded) == dump_schema(new)


@pytest.mark.requirement("R315")
def test_projects_efforts_and_their_phases_are_read_after_an_upgrade(upgraded: World) -> None:
    projects = upgraded.call("db.project.list").items
    assert [project.path for project in projects] == ["/projects/shop", "/projects/blog"]
    painted = upgraded.call("db.effort.get", effort_id=1)
    assert (painted.task_id, painted.skill, painted.outcome) == (CART, "paint", "success")
    assert [phase.phase_label for phase in painted.phases] == ["1: Look", "2: Paint"]
    states = [(effort.lifecycle, effort.outcome) for effort in upgraded.call("db.effort.list", task_id=TILL).items]
    ended = [("finished", outcome) for outcome in ("dropped", "error", "cancelled", "timeout")]
    assert states == [("finished", "success"), ("active", None), ("queued", None), *ended, ("queued", None)]


@pytest.mark.requirement("R315")
def test_a_history_is_logged_and_compiled_as_before_an_upgrade(upgraded: World) -> None:
    log = upgraded.call("history.log", branch="main").items
    assert (len(log), log[0].preview, log[-1].preview) == (10, "Prices rise in spring.", "You build a shop.")
    compiled = upgraded.call("history.compile", branch="main", format="text").messages
    assert [(message["role"], message["content"]) for message in compiled] == [
        ("system", "[System]\nYou build a shop."),
        ("user", "[User]\nWhat does a cart cost?"),
        ("assistant", "[Assistant]\nA cart costs 90 crowns."),
        ("assistant", "[Assistant]\nOak is dearer than pine."),
        ("assistant", '[Tool call: Bash]\n{"command": "ls"}'),
        ("tool", "[Tool result]\ncart.py"),
        ("system", "[System]\n[Session checkpoint]\n\nPrices are known.\n\nNext steps:\n- Choose a wood."),
        ("user", "[User]\nPrices rise in spring."),
    ]


@pytest.mark.requirement("R315")
def test_a_rewrite_from_before_an_upgrade_can_be_undone(upgraded: World) -> None:
    def starts() -> list[str]:
        compiled = upgraded.call("history.compile", branch="sketches").messages
        return [message["content"].partition(":")[0] for message in compiled]

    assert starts() == ["Two sketches with too few wheels.", "Sketch 3", "Sketch 4"]
    upgraded.call("history.undo", branch="sketches")
    assert starts() == ["Sketch 1", "Sketch 2", "Sketch 3", "Sketch 4"]


@pytest.mark.requirement("R315")
def test_runs_and_their_conversations_and_findings_are_read_after_an_upgrade(upgraded: World) -> None:
    sign, door = (upgraded.call("run.get", run_id=number) for number in (1, 2))
    assert (sign.task_id, sign.state, door.state) == (SIGN, "interrupted", "finished")
    assert [(line.key, line.state) for line in sign.lines] == [("1", "completed"), ("2", "failed"), ("3", "pending")]
    turns = [turn.content for turn in sign.conversation]
    assert (len(turns), turns[0], turns[-1]) == (6, "Draw it with a cart.", "The chisel broke.")
    found = [(finding.severity, finding.file, finding.state) for finding in door.findings]
    assert found == [("BLOCKER", "door.py", "gone"), ("NIT", "hinge.py", "gone"), ("FOLLOWUP", "lock.py", "open")]


@pytest.mark.requirement("R315")
def test_a_tree_and_its_budget_are_read_after_an_upgrade(upgraded: World) -> None:
    rows = {row.goal: row for row in upgraded.call("spawn.tree", task_id=CART).items}
    parent, done, waiting = (rows[goal] for goal in ("Open the shop.", "Count the carts.", "Sweep the floor."))
    assert [row.parent_session_id for row in (parent, done, waiting)] == [None, parent.id, parent.id]
    assert (parent.outcome, done.outcome, waiting.outcome) == (None, "success", None)
    budget = upgraded.call("budget.get", session_id=parent.id).own
    assert (budget.tokens, budget.spent_tokens, budget.spent_cost_usd) == (10_000, 42, 0.5)


@pytest.mark.requirement("R315")
def test_a_session_recorded_by_hooks_is_read_after_an_upgrade(upgraded: World) -> None:
    session = "claude:47442aa6-e4ab-41e7-bb50-4f9c173aba97"
    messages = upgraded.call("db.messages.list", session_id=session).items
    assert [(message.role, message.content) for message in messages] == [
        ("user", "Repair the cart."),
        ("assistant", '{"command": "ls"}'),
        ("tool", "cart.py"),
        ("assistant", "The wheel is fixed."),
        ("system", "A wheel was loose and is fixed."),
        ("user", "Now paint it."),
    ]
    (compaction,) = upgraded.call("db.session.compactions", session_id=session).items
    assert upgraded.call("history.show", hash=compaction.commit).text == "The wheel is fixed."


@pytest.mark.requirement("R315")
def test_work_continues_after_an_upgrade_with_new_ids(release: dict[str, Any], upgraded: World) -> None:
    assert upgraded.call("events.list", limit=1).items[0].kind == "project.added"
    effort = upgraded.call("db.effort.start", task_id=CART, skill="plan")
    session = upgraded.call("db.session.start", task_id=CART, effort_id=effort.id)
    upgraded.call("db.messages.append", session_id=session.id, role="user", content="Plan the cart.")
    rows = release["rows"]
    assert (effort.id, session.id) == (rows["efforts"] + 1, rows["sessions"] + 1)
    assert upgraded.call("db.check").findings == []


@pytest.mark.requirement("R315")
def test_a_program_opens_a_file_of_a_release(
    release: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for variable in ("HOME", "RAMET_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_RUNTIME_DIR"):
        monkeypatch.setenv(variable, str(tmp_path))
    monkeypatch.chdir(tmp_path)
    load_sqlite(release, tmp_path / "shop.db")
    with ramet.open(tmp_path / "shop.db") as r:
        assert [project.path for project in r.db.project.list().items] == ["/projects/shop", "/projects/blog"]
        assert r.history.log("main").items[-1].preview == "You build a shop."
        assert r.db.check().passed


@pytest.mark.requirement("R315")
def test_a_backup_of_an_upgraded_database_has_every_row(
    release: dict[str, Any], upgraded: World, tmp_path: Path
) -> None:
    copy = upgraded.call("db.backup", path=str(tmp_path / "copy" / "ramet.db"))
    with open_world(Path(copy.path).parent, None) as backup:
        assert count_rows(backup, list(release["rows"])) == release["rows"]
        assert backup.call("db.check").findings == []
