"""The composition root: the one place that builds and joins a daemon's parts."""

import asyncio
import hashlib
import logging
import os
import socket
import uuid
from collections.abc import Callable, Coroutine, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import partial
from typing import Any, NamedTuple, NoReturn

import msgspec

from ramet.ai import Models
from ramet.ai.vector_sources import open_vector_source
from ramet.clock import Clock
from ramet.config.environment import Environment
from ramet.config.host import machine_name
from ramet.config.layers import load_own
from ramet.config.settings import Places, RecallSettings, Settings
from ramet.daemon.daily_backups import DailyBackups
from ramet.daemon.damage.database_guard import DatabaseGuard
from ramet.daemon.executors.content_retention import ContentRetention
from ramet.daemon.executors.executor import Executor
from ramet.daemon.executors.garbage_executor import GarbageExecutor
from ramet.daemon.executors.index_feeder import IndexFeeder
from ramet.daemon.executors.machine_threads import MachineThreads
from ramet.daemon.executors.model_executor import ModelExecutor
from ramet.daemon.executors.preparation_process import PreparationProcess
from ramet.daemon.executors.requester import Requester
from ramet.daemon.executors.writer import Writer
from ramet.daemon.hooks import vanished_agents
from ramet.daemon.hooks.calling_sessions import CallingSessions
from ramet.daemon.hooks.channels import open_channels
from ramet.daemon.hooks.disk_lookups import DiskLookups, Patience
from ramet.daemon.hooks.notifications import Notifications
from ramet.daemon.hooks.project_redaction import ProjectRedaction
from ramet.daemon.hooks.recall import RecalledHistory
from ramet.daemon.hooks.service import HookService
from ramet.daemon.hooks.transcript_feed import TranscriptFeed
from ramet.daemon.hooks.unrecorded_sessions import UnrecordedSessions
from ramet.daemon.hooks.vanished_agents import VanishedAgents
from ramet.daemon.readers.fork_server import ForkServer, serve_forks
from ramet.daemon.readers.reader_pool import ReaderPool
from ramet.daemon.readers.reader_process import ReaderProcess
from ramet.daemon.readers.snapshots import Snapshots
from ramet.daemon.stalls import LoopMeter
from ramet.daemon.wire.pid_file import read_pid_file
from ramet.daemon.wire.tokens import Tokens
from ramet.engine import Engine
from ramet.engine.memory.search.vectors import VectorFeed
from ramet.errors import ConfigError, DaemonRunning, DatabaseHeld, InvalidSetting, ModelMissing, RametError
from ramet.faults import Faults
from ramet.hooks.program import is_heard_by, keep_program_current
from ramet.model.hooks.hook import HookEvent
from ramet.model.instant import to_iso
from ramet.model.memory.search.vector_source import VectorSource
from ramet.model.principal import RUNNER
from ramet.protocol.hooks.hooks import HookFacts
from ramet.protocol.operation import Ask
from ramet.protocol.system.damage import NoteDamage, WriteBan
from ramet.runner.context import RunnerContext
from ramet.runner.landing.landing_queue import LandingQueue
from ramet.runner.machine import Machine
from ramet.runner.operations import answer
from ramet.runner.project_files import session_files
from ramet.runner.project_files.new_work import examine
from ramet.store import Store, open_store, open_to_read
from ramet.store.database.blobs import Codec
from ramet.store.database.sqlite.store import SqliteStore
from ramet.store.database.store import Topic
from ramet.store.memory.index.search_index import SearchIndex
from ramet.vendors import registry, selection
from ramet.workspace import surroundings
from ramet.workspace.git.command import Git

log = logging.getLogger(__name__)


class Given(NamedTuple):
    """What a daemon is made of, before its event loop runs."""

    store: Store
    preparation: PreparationProcess
    source: VectorSource | None
    fork_server: ForkServer
    settings: Settings
    environment: Environment
    places: Places
    clock: Clock
    faults: Faults
    environ: Mapping[str, str]


def new_event_loop() -> asyncio.AbstractEventLoop:
    """The fast loop (uvloop) if it is installed, else the standard one."""
    try:
        import uvloop  # noqa: PLC0415
    except ImportError:
        return asyncio.new_event_loop()
    return uvloop.new_event_loop()


@contextmanager
def naming_the_holder(places: Places) -> Iterator[None]:
    """If a daemon holds the database, say that it is running and which process it is."""
    try:
        yield
    except DatabaseHeld as held:
        pid = read_pid_file(places.pid_file)
        if str(pid) != held.value:
            raise  # a program that called `ramet.open`, or a daemon that is only starting
        raise DaemonRunning(f"a daemon is already running for this database: pid {pid}", value=pid) from held


def take_store(settings: Settings, places: Places, clock: Clock, faults: Faults) -> Store:
    """Open the database, and hold its lock until it is closed."""
    with naming_the_holder(places):
        return open_store(settings.database, places, clock=clock, faults=faults)


def build_engine(settings: Settings, environment: Environment, places: Places) -> Engine:
    """What performs operations: in the daemon, and in the processes that read for it."""
    return Engine.configured(
        settings,
        environment,
        selection.confinements(settings.drivers),
        resume_commands=registry.resume_commands(),
        index=SearchIndex(places.index),
    )


def search_by_meaning(engine: Engine, settings: Settings, environment: Environment) -> VectorSource | None:
    """Where the vectors of texts come from, if that is configured; queries are compared with them."""
    try:
        source = open_vector_source(settings, environment)
    except ModelMissing as error:
        log.warning("search by meaning is off: %s", error)
        return None
    if source is not None:
        engine.search_by_meaning(source)
    return source


def build_reader(engine: Engine, settings: Settings, places: Places, clock: Clock) -> ReaderProcess:
    """What a process does that only reads. It opens the database when it is asked something."""
    store = open_to_read(settings.database, places)
    engine.max_reply_bytes = settings.daemon.max_reply_bytes
    snapshots = Snapshots(store, engine, settings.query, store.clock(clock))
    return ReaderProcess(snapshots, engine.redactor, engine.index, settings.daemon.max_reply_bytes)


def start_line(settings: Settings, places: Places) -> Callable[[int], bytes]:
    """What `python -m ramet.daemon readers` is told on its standard input, by the number of its control socket."""

    def write(control: int) -> bytes:
        start = {"settings": settings, "places": places, "order": {"control": control}}
        return msgspec.json.encode(start, enc_hook=os.fspath) + b"\n"

    return write


def fork_readers(engine: Engine, settings: Settings, places: Places, clock: Clock) -> ForkServer:
    """The process that forks readers. To be called before a thread runs or a database is open."""
    fork_server = ForkServer(start_line(settings, places))
    fork_server.fork(build_reader(engine, settings, places, clock))
    return fork_server


def serve_readers(
    settings: Settings, environment: Environment, places: Places, clock: Clock, control: object
) -> NoReturn:
    """Be the process that forks readers, started as a program."""
    if not isinstance(control, int):
        raise InvalidSetting("only a daemon starts `readers`", field="control", value=control)
    engine = build_engine(settings, environment, places)
    search_by_meaning(engine, settings, environment)
    serve_forks(socket.socket(fileno=control), build_reader(engine, settings, places, clock))


def build_executor(
    given: Given,
    processes: ReaderPool,
    meter: LoopMeter,
    guard: DatabaseGuard,
    *,
    on_commit: Callable[[Topic], None],
) -> Executor:
    """What runs operations on this kind of database, after a model's answer if they need one."""
    store, preparation, settings = given.store, given.preparation, given.settings
    clock = store.clock(given.clock)
    preparation.attach(meter.loop)
    processes.on_no_connection = store.note_scarcity
    executor: Executor
    if isinstance(store, SqliteStore):
        executor = Writer(
            store,
            preparation,
            settings.query,
            clock=clock,
            faults=given.faults,
            on_commit=on_commit,
            meter=meter,
            guard=guard,
            processes=processes,
        )
    else:
        from ramet.daemon.executors.pool import Pool  # noqa: PLC0415 - needs an optional package
        from ramet.store.database.postgres.store import PostgresStore  # noqa: PLC0415

        assert isinstance(store, PostgresStore)  # noqa: S101
        executor = Pool(
            store,
            preparation,
            settings,
            clock=clock,
            faults=given.faults,
            on_commit=on_commit,
            meter=meter,
            guard=guard,
            processes=processes,
        )
    executor = GarbageExecutor(executor, meter)
    models = Models(settings, given.environment)
    return ModelExecutor(executor, store, preparation.engine, models, clock=clock, loop=meter.loop, meter=meter)


def build_guard(given: Given, processes: ReaderPool) -> DatabaseGuard:
    """Who lets nothing be written once anybody has seen a sign of damage."""
    guard = DatabaseGuard(given.places.damage_mark, lambda: to_iso(given.clock.now_ms()))
    signs = given.store.signs
    signs.tell = processes.on_damaged_database = guard.note
    if signs.first is not None:
        guard.note(signs.first)
    return guard


def tell_of_damage(guard: DatabaseGuard, executor: Executor, loop: asyncio.AbstractEventLoop) -> None:
    """Have the event and the notice written when damage is found, as long as the database takes them."""

    def tell(ban: WriteBan) -> None:
        if ban.state == "damaged":
            note = NoteDamage(reason=ban.reason, since=ban.since)
            executor.submit(note.op, note, RUNNER, _log_if_untold)

    def tell_soon(ban: WriteBan) -> None:
        loop.call_soon_threadsafe(tell, ban)

    guard.on_ban = tell_soon


def _log_if_untold(reply: Any) -> None:
    if isinstance(reply, RametError):
        log.error("the damage could not be written to the database error=%s", reply.message)


def build_index_feeder(
    store: Store, engine: Engine, source: VectorSource | None, processes: ReaderPool, ask: Ask
) -> IndexFeeder:
    """Who keeps the search index behind the database, and gives its texts vectors if there is a source of them."""
    is_shared = not isinstance(store, SqliteStore)
    embed = None if source is None else VectorFeed(engine.index, Codec(), source, ask).step
    index_feeder = IndexFeeder(store, engine.index, is_shared=is_shared, embed=embed)
    processes.freshen = index_feeder.freshen
    processes.on_damaged_index = index_feeder.note_damage
    return index_feeder


def build_machine(
    requester: Requester,
    settings: Settings,
    places: Places,
    environ: Mapping[str, str],
    clock: Clock,
    loop: asyncio.AbstractEventLoop,
) -> tuple[Machine, MachineThreads]:
    """This machine's disk, and what answers with it at hand."""
    machine = Machine(requester.ask_from_thread, settings, places, environ, clock=clock)
    ask = requester.ask_from_thread
    return machine, MachineThreads(partial(answer, machine), partial(examine, machine), ask, loop, requester.meter)


def build_context(
    requester: Requester, machine: Machine, tokens: Tokens, faults: Faults, environ: Mapping[str, str]
) -> RunnerContext:
    """What everything that runs agents here is given."""
    places = machine.places
    return RunnerContext(
        ask=requester.ask,
        machine=machine,
        settings=machine.settings,
        places=places,
        environ=environ,
        faults=faults,
        name=_worker_name(places, machine.host),
        identify=lambda: uuid.uuid4().hex,
        token=tokens.make,
    )


def build_landing_queue(context: RunnerContext, loop: asyncio.AbstractEventLoop) -> LandingQueue:
    """What lands branches here, woken by each operation that queues one."""
    landing_queue = LandingQueue(context, loop)
    context.machine.on_landing = landing_queue.wake
    return landing_queue


def build_hook_service(
    requester: Requester, machine: Machine, loop: asyncio.AbstractEventLoop
) -> tuple[HookService, TranscriptFeed]:
    """Who answers the hooks of agents that people started themselves, and who reads their transcripts behind them."""
    places, host = machine.places, machine.host
    patience = Patience.of(load_own(machine.environ).settings.hooks)  # which the hook program keeps to
    gather = partial(_gather, machine.git.within(patience.git), machine)
    lookers = DiskLookups(patience)
    only_registered = machine.settings.hooks.record == "registered"
    redacting = ProjectRedaction(requester, machine.redactor_in, machine.redactor)
    transcript_feed = TranscriptFeed(
        redacting.ask,
        gather,
        lookers,
        places.home / "gaps.jsonl",
        patience.read,
        host,
        are_gaps_ours=partial(is_heard_by, places),
        only_registered=only_registered,
    )
    recalled = RecalledHistory(redacting, machine.settings.recall, partial(_recall_settings, machine), loop)
    hook_service = HookService(
        recalled,
        gather,
        partial(vanished_agents.find_process, host=host),
        lookers,
        loop,
        is_gated=machine.settings.hooks.directive_gate == "block",
        reading=transcript_feed,
        unrecorded=UnrecordedSessions(places.home) if only_registered else None,
        gap_file=places.home / "gaps.jsonl",
    )
    return hook_service, transcript_feed


def _recall_settings(machine: Machine, folder: str) -> RecallSettings:
    """How much of earlier sessions agents get in a folder. A project's file can only lower it."""
    try:
        return machine.settings_in(folder).recall
    except (ConfigError, OSError):
        return machine.settings.recall


def build_calling_sessions(requester: Requester, machine: Machine, loop: asyncio.AbstractEventLoop) -> CallingSessions:
    """Who knows processes by the programs that started them."""
    return CallingSessions(requester.ask, machine.host, loop)


def _gather(git: Git, machine: Machine, event: HookEvent) -> HookFacts:
    """What the disk says about the directory of a hook."""
    vendor = registry.hooks().get(event.vendor)
    own = None if vendor is None else vendor.own_directives
    facts = surroundings.gather(git, event, own, registry.directive_files())
    return session_files.add(machine.environ, event, facts)


def build_vanished_agents(requester: Requester, machine: Machine, transcript_feed: TranscriptFeed) -> VanishedAgents:
    """Who finds out that such agents are gone."""
    return VanishedAgents(requester.ask, transcript_feed.read_session, machine.host)


def follow_memory(requester: Requester, settings: Settings) -> list[Coroutine[Any, Any, None]]:
    """What is done beside the requests about what is remembered."""
    return [ContentRetention(requester.ask, settings.retention).follow()]


def follow_backups(requester: Requester, given: Given, guard: DatabaseGuard) -> list[Coroutine[Any, Any, None]]:
    """The backups that are made by themselves: of a file. A server is backed up by its administrator."""
    if not isinstance(given.store, SqliteStore):
        return []
    places, settings = given.places, given.settings.backup
    made = DailyBackups(
        requester.ask,
        settings,
        places.backups,
        places.name,
        given.clock,
        remember=given.store.remember,
        is_damaged=lambda: guard.ban is not None,
    )
    return [made.follow()]


def renew_hook_program(environ: Mapping[str, str], places: Places) -> None:
    """Update the program that agents run at their hooks; if it cannot be written, the old one stays."""
    with suppress(OSError, RametError):
        keep_program_current(environ, places)


async def begin_notifications(
    requester: Requester, worker: str, settings: Settings, environ: Mapping[str, str]
) -> Notifications | None:
    """The notifications of ended sessions; None if none are configured."""
    channels = open_channels(settings.notify, environ)
    if not channels:
        return None
    notifications = Notifications(channels, requester.ask, worker)
    await notifications.begin()
    return notifications


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
