"""No read gets onto the event loop by accident: one that is not long has pages, or a reason why it is short.

A read that may take longer than 20 ms on a large database is long (`Operation.is_long`): it runs beside the loop.
"""

import pytest

from ramet.protocol.operations import OPERATIONS

SHORT = {
    "budget.measure": "sums of the current day",
    "daemon.hello": "what the daemon knows of itself, and one session by its id",
    "daemon.part": "the text is kept until the last part is there",
    "daemon.ping": "nothing is read",
    "daemon.rotate_key": "one small file is written",
    "daemon.status": "what the daemon knows of itself",
    "daemon.stop": "nothing is read",
    "db.agents.get": "one agent by its id",
    "landing.get": "one landing by its id, and the state of those that it needs",
    "db.effort.checks": "one effort by its id, and its phases",
    "db.effort.get": "one effort by its id",
    "db.session.contract": "a bounded number of rows behind one session",
    "db.session.get": "one session by its id",
    "db.skills.get": "one skill by its name",
    "drivers.parked": "at most one row for each driver",
    "hosts.list": "at most one row for each host",
    "events.subscribe": "the id of the newest event",
    "hooks.caller": "one session by its process",
    "hooks.event": "a fixed number of rows (tests/conformance/hooks/test_hook_growth.py)",
    "hooks.processes": "the open sessions of this machine",
    "hooks.timings": "what the daemon knows of itself",
    "spawn.results": "the sessions that the request names, each by its id",
    "spawn.stranded": "open children, by an index that has nothing else",
    "spawn.wait": "the sessions that the request names, each by its id",
    "work.blocked": "one effort by its id",
    "work.get": "one effort by its id",
    "work.next": "the first row of an index of queued efforts",
    "work.run": "nothing is read: the request waits",
    "work.stop": "nothing is read: the request waits",
}
"""Reads on the event loop without pages, and why each is short."""

ON_THE_LOOP = {
    operation.name: operation
    for operation in OPERATIONS.values()
    if not operation.changes and not operation.is_long and operation.host in ("engine", "daemon")
}


@pytest.mark.requirement("R447")
def test_every_read_is_long_or_has_pages_or_a_reason_why_it_is_short() -> None:
    paged = {name for name, operation in ON_THE_LOOP.items() if "limit" in operation.request.__struct_fields__}
    assert set(ON_THE_LOOP) - paged - set(SHORT) == set(), "set is_long, give it a limit, or say why it is short"
    assert set(SHORT) - (set(ON_THE_LOOP) - paged) == set(), "no longer short, or no longer without pages: remove it"


def test_the_database_itself_is_only_asked_beside_the_event_loop() -> None:
    # The end of a purge empties the log of the database: readers cannot write, so it runs on a thread.
    short = [each.name for each in OPERATIONS.values() if each.host == "store" and not each.is_long]
    assert short == ["memory.purgePlan"]
