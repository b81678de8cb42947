"""Our own queue: in this process, and through a daemon with several workers on connections of their own."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial

from msgspec.structs import replace

import ramet
from benchmarks.daemons import places_in, running
from benchmarks.harness import timed
from benchmarks.jobs import Site, Worked, measure, store_settings
from ramet.client.connection import Connection
from ramet.clock import SystemClock
from ramet.config.environment import read_environment
from ramet.config.settings import Settings
from ramet.faults import Faults
from ramet.library import Ramet
from ramet.library.local import LocalTransport
from ramet.protocol.work.leases import Claimed
from ramet.store import open_store

TASK = "/bench/task"


@contextmanager
def opened(site: Site) -> Iterator[Ramet]:
    """What `ramet.open` gives; on PostgreSQL, which it does not open, the same put together by hand."""
    if site.url is None:
        with ramet.open(site.folder / "ramet.db") as local:
            yield local
        return
    clock, settings, places = SystemClock(), Settings(database=store_settings(site)), places_in(site.folder)
    store = open_store(settings.database, places, clock=clock, faults=Faults())
    environment = read_environment(os.environ, settings)
    with Ramet(LocalTransport(store, settings, environment, clock, places, os.environ)) as local:
        yield local


def in_process(site: Site, count: int) -> Worked:
    """One worker, one object: each call is flushed before it returns."""
    with opened(site) as local:
        local.db.project.upsert("/bench")
        add = partial(local.work.add, "nothing", task=TASK)
        return measure(count, lambda: [add() for _ in range(count)], lambda: work_off(local, count))


def work_off(local: Ramet, count: int) -> None:
    """Claim and complete so many efforts, one by one."""
    for _ in range(count):
        claimed = local.work.claim("worker")
        assert isinstance(claimed, Claimed), claimed
        local.work.complete(claimed.id, claimed.generation, "success", output_content="nothing")


def through_daemon(site: Site, count: int, connections: int) -> Worked:
    """That many workers, each with one request under way."""
    places = replace(places_in(site.folder), database=places_in(site.folder).database if site.url is None else None)
    with running(places, Settings(database=store_settings(site))):
        with Connection(str(places.socket), 60) as connection:
            connection.call("db.project.upsert", {"path": "/bench"})
            request = {"prompt": "nothing", "task": TASK}
            add_seconds = timed(lambda: [connection.call("work.add", request) for _ in range(count)])
        command = [sys.executable, "-m", "benchmarks.jobs_load", str(places.socket), str(connections)]
        output = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, timeout=300).stdout
    done = json.loads(output)
    assert done["count"] == count, done
    return Worked(count, add_seconds, done["seconds"])
