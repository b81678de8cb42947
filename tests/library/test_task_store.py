"""Seed 003's `TaskStore`: one contract, kept on both databases and through the daemon."""

import os
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import ramet
from ramet import ConnectedTaskStore, PostgresTaskStore, SqliteTaskStore, Task, TaskStore
from ramet.errors import (
    Conflict,
    DaemonUnreachable,
    DatabaseHeld,
    EffortFinished,
    EffortHeld,
    EffortNotFound,
    LeaseLost,
    UnknownSkill,
)

Store = SqliteTaskStore | PostgresTaskStore | ConnectedTaskStore
Open = Callable[[], Store]


@pytest.fixture(params=["sqlite", "postgres", "connected"])
def open_store(request: pytest.FixtureRequest, tmp_path: Path) -> Open:
    """Opens the store of the project `shop`, of each kind."""
    project = tmp_path / "shop"
    if request.param == "sqlite":
        return lambda: SqliteTaskStore(tmp_path / "tasks.db", project)
    if request.param == "postgres":
        url: str = request.getfixturevalue("postgres_url")
        return lambda: PostgresTaskStore(url, project)
    request.getfixturevalue("daemon_home")
    return lambda: ConnectedTaskStore(project, timeout_seconds=60)


@pytest.fixture
def store(open_store: Open) -> Iterator[Store]:
    with open_store() as opened:
        yield opened


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    return tmp_path / "shop"


def found(store: Store, task: Task) -> Task:
    again = store.get(task.id)
    assert again is not None
    return again


@pytest.mark.requirement("R172", "R173", "R355")
def test_every_store_satisfies_the_protocol(store: Store) -> None:
    assert isinstance(store, TaskStore)
    protocol: TaskStore = store
    task = protocol.add("mend the cart")
    assert (task.prompt, task.task_type, task.status) == ("mend the cart", "task", "pending")
    assert protocol.get(task.id) == task
    assert protocol.get(task.id + 1) is None


@pytest.mark.requirement("R156", "R157")
def test_a_task_has_the_fields_of_the_seed_and_no_output_at_first(store: Store) -> None:
    task = store.add("x")
    assert (task.report_file, task.output_content, task.branch, task.log_file) == (None, None, None, None)
    assert (task.has_commits, task.stats, task.based_on, task.depends_on) == (False, None, None, ())


@pytest.mark.requirement("R162", "R172")
def test_a_completed_task_keeps_everything_that_was_said_about_it(store: Store) -> None:
    task = store.add("plan it", task_type="plan")
    store.mark_in_progress(task)
    assert found(store, task).status == "in_progress"
    store.mark_completed(
        task,
        branch="ramet/e1",
        log_file="logs/1.log",
        report_file=".ramet/e1/1_PLAN.md",
        output_content="# Plan\n",
        has_commits=True,
        stats={"cost_usd": 0.5, "turns": 3},
    )
    done = found(store, task)
    assert (done.status, done.task_type, done.branch) == ("completed", "plan", "ramet/e1")
    assert (done.log_file, done.report_file) == ("logs/1.log", ".ramet/e1/1_PLAN.md")
    assert (done.output_content, done.has_commits, done.stats) == ("# Plan\n", True, {"cost_usd": 0.5, "turns": 3})


@pytest.mark.requirement("R162")
def test_a_completed_task_may_have_nothing_to_say(store: Store) -> None:
    task = store.add("x")
    store.mark_completed(task, branch=None, has_commits=False)
    done = found(store, task)
    assert (done.status, done.output_content, done.report_file, done.has_commits) == ("completed", None, None, False)


@pytest.mark.requirement("R180", "R172")
def test_the_next_pending_task_honours_dependencies_and_order(store: Store) -> None:
    plan = store.add("plan", task_type="plan")
    build = store.add("build", task_type="implement", based_on=plan.id)
    other = store.add("other", depends_on=[plan.id, build.id])
    urgent = store.add("urgent", priority=5)
    assert build.depends_on == (plan.id,)
    order = []
    while (task := store.get_next_pending()) is not None:
        order.append(task.id)
        store.mark_in_progress(task)
        store.mark_completed(task)
    assert order == [urgent.id, plan.id, build.id, other.id]


@pytest.mark.requirement("R181", "R172")
def test_a_blocked_task_names_what_it_waits_for_and_its_status(store: Store) -> None:
    plan = store.add("plan", task_type="plan")
    build = store.add("build", based_on=plan.id)
    assert store.is_task_blocked(plan) == (False, None, None)
    assert store.is_task_blocked(build) == (True, plan.id, "pending")
    store.mark_in_progress(plan)
    assert store.is_task_blocked(build) == (True, plan.id, "in_progress")
    store.mark_failed(plan, reason="no idea")
    assert store.is_task_blocked(build) == (True, plan.id, "failed")
    assert store.get_next_pending() is None
    with pytest.raises(Conflict, match="is error"):
        store.mark_in_progress(build)


@pytest.mark.requirement("R180")
def test_a_task_is_taken_once(store: Store) -> None:
    task = store.add("x")
    store.mark_in_progress(task)
    with pytest.raises(EffortHeld):
        store.mark_in_progress(task)
    store.mark_completed(task)
    with pytest.raises(EffortFinished):
        store.mark_completed(task)
    with pytest.raises(EffortNotFound):
        store.mark_in_progress(Task(id=99, prompt="x"))


@pytest.mark.requirement("R180")
def test_two_programs_that_share_a_server_never_get_the_same_task(tmp_path: Path, postgres_url: str) -> None:
    stores = [PostgresTaskStore(postgres_url, tmp_path / "shop") for _ in range(3)]
    tasks = [stores[0].add(f"task {number}").id for number in range(12)]
    done: list[list[int]] = [[] for _ in stores]

    def work(number: int) -> None:
        store = stores[number]
        while (task := store.get_next_pending()) is not None:
            try:
                store.mark_in_progress(task)
            except (EffortHeld, EffortFinished):
                continue
            done[number].append(task.id)
            store.mark_completed(task, output_content=f"by {number}")

    threads = [threading.Thread(target=work, args=(number,)) for number in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert sorted(task for own in done for task in own) == tasks
    for number, own in enumerate(done):
        assert {stores[0].get_task_output(Task(id=task, prompt="")) for task in own} <= {f"by {number}"}
    for store in stores:
        store.close()


def test_a_program_that_lost_its_task_is_told_so(store: Store) -> None:
    task = store.add("x")
    store.mark_in_progress(task)
    store._ramet.fleet.kill(effort_id=task.id)
    with pytest.raises(LeaseLost):
        store.mark_completed(task)
    assert found(store, task).status == "failed"


@pytest.mark.requirement("R163", "R165", "R177")
def test_the_output_is_the_databases_first_and_then_the_files(store: Store, shop: Path) -> None:
    (shop / "plans").mkdir(parents=True, exist_ok=True)
    (shop / "plans" / "1.md").write_text("from the file")
    old, new = store.add("old", task_type="plan"), store.add("new", task_type="plan")
    store.mark_completed(old, report_file="plans/1.md")
    store.mark_completed(new, report_file="plans/1.md", output_content="from the database")
    assert store.get_task_output(old) == "from the file"
    assert store.get_task_output(new) == "from the database"


@pytest.mark.requirement("R164")
def test_an_empty_text_in_the_database_is_an_answer(store: Store, shop: Path) -> None:
    shop.mkdir(exist_ok=True)
    (shop / "1.md").write_text("from the file")
    task = store.add("x", task_type="plan")
    store.mark_completed(task, report_file="1.md", output_content="")
    assert store.get_task_output(task) == ""


@pytest.mark.requirement("R166", "R184")
@pytest.mark.parametrize("what", ["missing", "binary", "folder", "outside", "absolute", "link", "unsaid", "pipe"])
def test_where_there_is_no_text_there_is_none(store: Store, shop: Path, what: str) -> None:
    shop.mkdir(exist_ok=True)
    secret = shop.parent / "secret.md"
    secret.write_text("not yours")
    (shop / "binary").write_bytes(b"\xff\xfe\x00")
    (shop / "folder").mkdir()
    (shop / "link").symlink_to(secret)
    os.mkfifo(shop / "pipe")
    report_file = {"outside": "../secret.md", "absolute": str(secret), "unsaid": None}.get(what, what)
    task = store.add("x")
    store.mark_completed(task, report_file=report_file)
    assert store.get_task_output(task) is None


@pytest.mark.requirement("R154", "R155")
def test_a_database_from_before_has_its_rows_and_no_outputs(tmp_path: Path, shop: Path) -> None:
    path = tmp_path / "tasks.db"
    with ramet.open(path) as r:
        r.db.project.upsert(str(shop))
        r.db.task.upsert(str(shop))
        effort = r.db.effort.start(str(shop), "plan")
    with sqlite3.connect(path) as raw:
        assert raw.execute("SELECT output_content FROM efforts").fetchall() == [(None,)]
    raw.close()
    with SqliteTaskStore(path, shop) as store:
        assert found(store, Task(id=effort.id, prompt="")).output_content is None
        assert store.get_task_output(Task(id=effort.id, prompt="")) is None


@pytest.mark.requirement("R159", "R173")
def test_what_one_program_completed_another_reads(open_store: Open, shop: Path) -> None:
    with open_store() as first:
        task = first.add("plan", task_type="plan")
        first.mark_completed(task, report_file=None, output_content="the plan\n\u2713")
    with open_store() as second:
        assert second.get_task_output(task) == "the plan\n\u2713"
        assert found(second, task).report_file is None


@pytest.mark.requirement("R159")
def test_a_text_is_read_on_a_machine_that_has_not_the_report_which_the_row_names(open_store: Open, shop: Path) -> None:
    """A listed departure: the path stays on the row, for a person on the machine that ran the effort."""
    with open_store() as first:
        task = first.add("plan", task_type="plan")
        first.mark_completed(task, report_file=".ramet/e1/1_PLAN.md", output_content="the plan")
    assert not (shop / ".ramet/e1/1_PLAN.md").exists()
    with open_store() as second:
        assert (second.get_task_output(task), found(second, task).output_content) == ("the plan", "the plan")
        assert found(second, task).report_file == ".ramet/e1/1_PLAN.md"


def test_each_store_offers_the_tasks_of_its_own_project(store: Store, tmp_path: Path) -> None:
    store.add("here")
    mill = tmp_path / "mill"
    store._ramet.db.project.upsert(str(mill))
    store._ramet.work.add("there", task=str(mill), priority=9)
    task = store.get_next_pending()
    assert task is not None
    assert task.prompt == "here"


def test_a_type_that_nobody_knows_is_refused(store: Store) -> None:
    with pytest.raises(UnknownSkill):
        store.add("x", task_type="sing")
    assert store.get_next_pending() is None


def test_a_closed_store_says_so_and_may_be_opened_again(open_store: Open) -> None:
    store = open_store()
    task = store.add("x")
    store.close()
    store.close()
    with pytest.raises(Exception, match="closed"):
        store.get(task.id)
    with open_store() as again:
        assert again.get(task.id) == task


def ramet_command(*arguments: str) -> None:
    """A command of a person who works in the project."""
    command = [str(Path(sys.executable).with_name("ramet")), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=100, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.requirement("R355")
def test_a_connected_store_shares_the_default_database_with_ramet_work(daemon_home: Path, shop: Path) -> None:
    subprocess.run(["git", "init", "-q", str(shop)], check=True)
    identity = ["-c", "user.name=Shop", "-c", "user.email=shop@localhost"]
    subprocess.run(["git", *identity, "commit", "-q", "--allow-empty", "-m", "A shop"], cwd=shop, check=True)
    with ConnectedTaskStore(shop, timeout_seconds=60) as store:
        with pytest.raises(DatabaseHeld):
            SqliteTaskStore(daemon_home / "ramet" / "ramet.db", shop)
        mine = store.add("echo planned by a program", task_type="plan", driver="shell")
        kept = store.add("nobody else's", priority=9)
        store.mark_in_progress(kept)
        ramet_command("add", "echo planned by a person", "--skill", "plan", "--driver", "shell")
        ramet_command("work", "--once")
        assert [found(store, Task(id=number, prompt="")).status for number in (mine.id, mine.id + 2)] == [
            "completed"
        ] * 2
        assert store.get_task_output(mine) == "planned by a program"
        assert found(store, kept).status == "in_progress", "the program has it"
        store.mark_completed(kept, output_content="by the program")
        assert found(store, kept).output_content == "by the program"


@pytest.mark.requirement("R355")
def test_a_connected_store_loads_no_database_module(daemon_home: Path) -> None:
    program = (
        "import sys, ramet\n"
        "with ramet.ConnectedTaskStore('.') as store: assert store.get(1) is None\n"
        "print(*[name for name in sys.modules if name in ('apsw', 'psycopg', 'ramet.store')])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=120)
    assert done.stdout.split() == []


@pytest.mark.requirement("R355")
def test_a_store_without_a_daemon_that_may_not_start_one_fails_with_what_to_do(shop: Path) -> None:
    with pytest.raises(DaemonUnreachable) as refused:
        ConnectedTaskStore(shop, autostart=False)
    assert refused.value.fix


@pytest.mark.requirement("R355")
def test_the_page_about_task_stores_is_in_the_navigation_and_has_an_example_that_runs() -> None:
    root = Path(__file__).parents[2]
    assert "task-store.md" in (root / "mkdocs.yml").read_text()
    page = (root / "docs" / "task-store.md").read_text()
    assert "```python" in page, "tests/docs/test_code.py runs it"
    for method in [name for name in dir(TaskStore) if not name.startswith("_")]:
        assert f"`{method}(" in page
