"""The composition root: the one place where a daemon's parts are built and joined."""

import asyncio
import hashlib
import os
import uuid
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import partial

from ramet.ai import Models
from ramet.clock import Clock
from ramet.config.environment import Environment
from ramet.config.host import machine_name
from ramet.config.layers import load_own
from ramet.config.settings import Places, Settings
from ramet.daemon.executors.executor import Executor
from ramet.daemon.executors.host_threads import WorkplaceThreads
from ramet.daemon.executors.model_executor import AssistedExecutor
from ramet.daemon.executors.requester import Asking
from ramet.daemon.executors.writer import Writer
from ramet.daemon.hooks import vanished_agents
from ramet.daemon.hooks.channels import open_channels
from ramet.daemon.hooks.disk_lookups import Lookers, Patience
from ramet.daemon.hooks.notifications import Notifying
from ramet.daemon.hooks.service import Hooking
from ramet.daemon.hooks.transcript_feed import Ingesting
from ramet.daemon.hooks.vanished_agents import Vanishing
from ramet.daemon.pid_file import read_pid_file
from ramet.daemon.wire.tokens import Tokens
from ramet.engine import Engine
from ramet.errors import DaemonRunning, DatabaseHeld, RametError
from ramet.faults import Faults
from ramet.hooks.program import is_heard_by, keep_program_current
from ramet.model.hooks.hook import HookEvent
from ramet.protocol.hooks import HookFacts
from ramet.runner.answers import answer
from ramet.runner.host import Workplace
from ramet.runner.runner_context import Workshop
from ramet.store import Store, open_store
from ramet.store.database.sqlite.store import SqliteStore
from ramet.store.database.store import Topic
from ramet.vendors.hook_registry import own_directives
from ramet.workspace.files import surroundings
from ramet.workspace.git.command import Git


def new_event_loop() -> asyncio.AbstractEventLoop:
    """The fast loop (uvloop) where it is installed, the standard one elsewhere."""
    try:
        import uvloop  # noqa: PLC0415
    except ImportError:
        return asyncio.new_event_loop()
    return uvloop.new_event_loop()


@contextmanager
def naming_the_holder(places: Places) -> Iterator[None]:
    """Where a daemon holds the database, say that it runs and which process it is."""
    try:
        yield
    except DatabaseHeld as held:
        pid = read_pid_file(places.pid_file)
        if str(pid) != held.value:
            raise  # a program that called `ramet.open`, or a daemon that is only starting
        raise DaemonRunning(f"a daemon already runs for this database: pid {pid}", value=pid) from held


def take_store(settings: Settings, places: Places, clock: Clock, faults: Faults) -> Store:
    """Open the database, and hold its lock until it is closed."""
    with naming_the_holder(places):
        return open_store(settings.database, places, clock=clock, faults=faults)


def build_executor(
    store: Store,
    engine: Engine,
    settings: Settings,
    environment: Environment,
    *,
    clock: Clock,
    faults: Faults,
    on_commit: Callable[[Topic], None],
    loop: asyncio.AbstractEventLoop,
) -> Executor:
    """What runs operations on this kind of database."""
    executor: Executor
    if isinstance(store, SqliteStore):
        executor = Writer(store, engine, settings.query, clock=clock, faults=faults, on_commit=on_commit, loop=loop)
    else:
        from ramet.daemon.executors.pool import Pool  # noqa: PLC0415 - needs an optional package
        from ramet.store.database.postgres.store import PostgresStore  # noqa: PLC0415

        assert isinstance(store, PostgresStore)  # noqa: S101
        executor = Pool(
            store,
            engine,
            settings,
            clock=clock,
            faults=faults,
            on_commit=on_commit,
            loop=loop,
        )
    return AssistedExecutor(executor, store, engine, Models(settings, environment), clock=clock, loop=loop)


def build_workplace(
    asking: Asking, settings: Settings, places: Places, environ: Mapping[str, str], loop: asyncio.AbstractEventLoop
) -> tuple[Workplace, WorkplaceThreads]:
    """This machine's disk, and what answers with it at hand."""
    workplace = Workplace(asking.ask_from_thread, settings, places, environ)
    return workplace, WorkplaceThreads(lambda operation, request: answer(workplace, operation, request), loop)


def build_workshop(
    asking: Asking, workplace: Workplace, tokens: Tokens, faults: Faults, environ: Mapping[str, str]
) -> Workshop:
    """What everything that runs agents here is given."""
    places = workplace.places
    return Workshop(
        ask=asking.ask,
        workplace=workplace,
        settings=workplace.settings,
        places=places,
        environ=environ,
        faults=faults,
        name=_worker_name(places, workplace.host),
        identify=lambda: uuid.uuid4().hex,
        token=tokens.make,
    )


def build_hooking(asking: Asking, workplace: Workplace, loop: asyncio.AbstractEventLoop) -> tuple[Hooking, Ingesting]:
    """Who answers the hooks of agents that people started themselves, and who reads their transcripts behind them."""
    places, host = workplace.places, workplace.host
    patience = Patience.of(load_own(workplace.environ).settings.hooks)  # which the hook program keeps to
    gather = partial(_gather, Git(workplace.environ, patience.git))
    lookers = Lookers(patience)
    ingesting = Ingesting(
        asking.ask,
        gather,
        lookers,
        places.home / "gaps.jsonl",
        patience.read,
        host,
        are_gaps_ours=partial(is_heard_by, places),
    )
    hooking = Hooking(
        asking,
        gather,
        partial(vanished_agents.find_process, host=host),
        lookers,
        loop,
        is_gated=workplace.settings.hooks.directive_gate == "block",
        reading=ingesting,
    )
    return hooking, ingesting


def _gather(git: Git, event: HookEvent) -> HookFacts:
    """What the disk says about where a hook was called."""
    return surroundings.gather(git, event, own_directives(event.vendor))


def build_vanishing(asking: Asking, workplace: Workplace, ingesting: Ingesting) -> Vanishing:
    """Who finds out that such agents are gone."""
    return Vanishing(asking.ask, ingesting.read_session, workplace.host)


def renew_hook_program(environ: Mapping[str, str], places: Places) -> None:
    """Let what agents run at their hooks know how things are now; it goes on as it is where it cannot be written."""
    with suppress(OSError, RametError):
        keep_program_current(environ, places)


async def begin_notifying(
    asking: Asking, worker: str, settings: Settings, environ: Mapping[str, str]
) -> Notifying | None:
    """Who tells people of what has ended; None where nobody wants to be told."""
    channels = open_channels(settings.notify, environ)
    if not channels:
        return None
    notifying = Notifying(channels, asking.ask, worker)
    await notifying.begin()
    return notifying


def _worker_name(places: Places, host: str | None) -> str:
    """What this daemon's slots are named after: the machine, and which of its homes this one is.

    Machines that share a database may have the same name and the same paths, so there a home has a number of its own.
    """
    if host is None:
        return f"{machine_name()}.{hashlib.sha256(os.fsencode(places.home)).hexdigest()[:4]}"
    identity = places.home / "identity"
    with suppress(FileExistsError), identity.open("x") as fresh:
        fresh.write(uuid.uuid4().hex[:8])
    return f"{host}.{identity.read_text()}"
