"""A daemon's life: take the database, open the socket, tell the starter, stay, drain, and leave nothing behind.

The order is what makes it safe. The lock comes first, because it proves that no other daemon runs and that a
socket or pid file found is stale. It goes last, after both files are gone, so that the next daemon's files are
never removed by this one.
"""

import asyncio
import logging
import os
import signal
from collections.abc import Coroutine, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Any

from ramet.clock import Clock
from ramet.config.environment import Environment
from ramet.config.settings import Places, Settings
from ramet.daemon import composition
from ramet.daemon.composition import Given
from ramet.daemon.executors.index_feeder import IndexFeeder
from ramet.daemon.executors.preparation_process import forked_preparation
from ramet.daemon.executors.requester import Requester
from ramet.daemon.log import LineFormatter, close_log, open_log
from ramet.daemon.memory import keep_large_buffers_apart
from ramet.daemon.readers.own_files import read_own_files
from ramet.daemon.readers.reader_pool import ReaderPool
from ramet.daemon.server import Identity, Parts, Server
from ramet.daemon.stalls import LoopMeter
from ramet.daemon.wire.connections import allow_files
from ramet.daemon.wire.pid_file import read_pid_file, write_pid_file
from ramet.daemon.wire.socket_file import follow_socket, open_socket
from ramet.daemon.wire.tokens import Tokens
from ramet.daemon.work_calls import WorkCalls
from ramet.errors import DaemonRunning, DatabaseHeld, RametError
from ramet.faults import Faults
from ramet.model.redaction import Redactor
from ramet.runner.attempts.crew import Crew
from ramet.runner.attempts.slot_loans import SlotLoans
from ramet.store import Store
from ramet.store.database.store import Topic

log = logging.getLogger(__name__)

_END_SECONDS = 5.0
"""How long what is done beside the requests may take to end."""
_THREADS = 16
"""For what prepares and settles attempts: it waits for git and for the disk, not for the processor."""


def serve(
    settings: Settings,
    environment: Environment,
    places: Places,
    clock: Clock,
    faults: Faults,
    environ: Mapping[str, str],
) -> None:
    """Run until somebody asks it to stop. `environ` is what agents may be shown a part of."""
    os.umask(0o077)
    handler = open_log(places.log_file, settings.daemon, Redactor(values=environment.denied))
    fork_server = None
    try:
        engine = composition.build_engine(settings, environment, places)
        read_own_files()
        if settings.redaction.enabled:  # the user's own patterns too, now that they are known to be right
            handler.setFormatter(LineFormatter(engine.redactor))
        source = composition.search_by_meaning(engine, settings, environment)
        keep_large_buffers_apart()
        allow_files(settings.daemon.max_connections)
        # Before the lock, the database and the first thread: a forked process would share them.
        fork_server = composition.fork_readers(engine, settings, places, clock)
        with forked_preparation(engine) as preparation:
            store = composition.take_store(settings, places, clock, faults)
            _log_migration(store)
            given = Given(
                store, preparation, source, fork_server, settings, environment, places, clock, faults, environ
            )
            with asyncio.Runner(loop_factory=composition.new_event_loop) as runner:
                runner.run(_live(given))
    except (DaemonRunning, DatabaseHeld):
        raise  # the log belongs to whoever runs
    except Exception as error:
        reason = error.message if isinstance(error, RametError) else "internal error"
        log.error("daemon failed pid=%d reason=%s", os.getpid(), reason, exc_info=error)  # noqa: TRY400
        raise
    finally:
        if fork_server is not None:
            fork_server.stop()
        close_log(handler)


async def _live(given: Given) -> None:
    places = given.places
    tokens = Tokens.of_home(places.home, str(places.socket))  # first: it may be refused, and no thread runs yet
    loop, engine = asyncio.get_running_loop(), given.preparation.engine
    meter = LoopMeter.install(loop)
    loop.set_default_executor(ThreadPoolExecutor(_THREADS, thread_name_prefix="runner"))
    processes = ReaderPool(given.fork_server, given.settings.daemon, loop)
    guard = composition.build_guard(given, processes)
    executor = composition.build_executor(
        given,
        processes,
        meter,
        guard,
        on_commit=lambda topic: _committed(server, index_feeder, topic),  # both are made below
    )
    composition.tell_of_damage(guard, executor, loop)
    requester = Requester(executor, loop, meter)
    index_feeder = composition.build_index_feeder(
        given.store, engine, given.source, processes, requester.ask_from_thread
    )
    clock = given.store.clock(given.clock)
    machine, threads = composition.build_machine(requester, given.settings, places, given.environ, clock, loop)
    context = composition.build_context(requester, machine, tokens, given.faults, given.environ)
    crew = Crew(context)
    try:
        slot_loans = SlotLoans(context, crew)
        hook_service, transcript_feed = composition.build_hook_service(requester, machine, loop)
        calling_sessions = composition.build_calling_sessions(requester, machine, loop)
        work_calls = WorkCalls(crew, slot_loans, requester, loop, composition.build_landing_queue(context, loop))
        parts = Parts(
            work_calls,
            threads,
            tokens,
            hook_service,
            calling_sessions,
            given.preparation.open_large,
            meter,
            given.store.clock_skew,
            lambda: guard.ban,
        )
        identity = _identity(given.store, places)
        server = Server(executor, given.settings.daemon, identity, loop, engine.redactor, parts)
        notifications = await composition.begin_notifications(requester, context.name, given.settings, given.environ)
        await _open(server, crew, given)
        following = [
            slot_loans.tend(),
            crew.guard.follow(),
            work_calls.landing_queue.follow(),
            transcript_feed.follow(),
            composition.build_vanished_agents(requester, machine, transcript_feed).follow(),
            index_feeder.follow(server.count_requests),
            *composition.follow_memory(requester, given.settings),
            *composition.follow_backups(requester, given, guard),
        ]
        if notifications is not None:
            following.append(notifications.follow())
        await _follow(server, places, following, given.store)
        await server.drain()
        hook_service.close()
        if notifications is not None:
            await notifications.close()
    finally:
        await crew.close()
        requester.close()
        _remove_files(places)
        executor.close()
    log.info("daemon stopped pid=%d", os.getpid())


async def _open(server: Server, crew: Crew, given: Given) -> None:
    """Let clients in, and tell the starter."""
    # Keepers of a former daemon are adopted before anybody can ask for their efforts.
    await crew.adopt()
    loop, places = asyncio.get_running_loop(), given.places
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, server.stop)
    sockets = [open_socket(path, os.getuid()) for path in (places.socket, places.agents_socket)]
    await server.listen(*sockets)
    write_pid_file(places.pid_file)
    composition.renew_hook_program(given.environ, places)
    log.info("daemon started pid=%d store=%s", os.getpid(), given.store.describe())
    _detach()


def _committed(server: Server, index_feeder: IndexFeeder, topic: Topic) -> None:
    server.committed(topic)
    index_feeder.wake()


async def _follow(server: Server, places: Places, following: Sequence[Coroutine[Any, Any, None]], store: Store) -> None:
    """Do what is done beside the requests, until the server is asked to stop or its home is gone."""
    loop = asyncio.get_running_loop()
    tasks = [loop.create_task(each) for each in (follow_socket(places.socket, server.stop), *following)]
    await server.stopping()
    store.hurry()
    for task in tasks:
        task.cancel()
    await asyncio.wait(tasks, timeout=_END_SECONDS)


def _identity(store: Store, places: Places) -> Identity:
    return Identity(
        socket=str(places.socket),
        store=store.describe(),
        schema_version=store.schema_version,
        owner_uid=os.getuid(),
    )


def _log_migration(store: Store) -> None:
    done = store.migrated
    if done.applied or done.repaired:
        repaired = ",".join(done.repaired) or None
        log.info("schema migrated from=%d to=%d repaired=%s backup=%s", done.before, done.after, repaired, done.backup)
    if done.differences:
        first, more = done.differences[0], len(done.differences) - 1
        log.warning("schema differs: %s; %d more; `ramet db check` lists them", first, more)


def _detach() -> None:
    """Let go of the starter: its directory, its terminal and its pipes, whose end tells it that we answer."""
    os.chdir("/")
    nowhere = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(nowhere, descriptor)
    os.close(nowhere)


def _remove_files(places: Places) -> None:
    """Remove our socket and pid file, not those of a daemon that was started after the home was deleted or moved."""
    with suppress(OSError):  # files that cannot be removed must not keep the database from being closed
        if read_pid_file(places.pid_file) == os.getpid():
            places.socket.unlink(missing_ok=True)
            places.agents_socket.unlink(missing_ok=True)
            places.pid_file.unlink(missing_ok=True)
