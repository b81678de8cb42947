"""`drivers.list`: the agent programs on this machine, and which of them are parked."""

from msgspec.structs import replace

from ramet.model.work.driver import DriverRow
from ramet.protocol.replies import Page
from ramet.protocol.work.drivers import ListDrivers, ListParked, ParkedDriver
from ramet.runner.answers import answers
from ramet.runner.machine import Machine
from ramet.vendors import selection


@answers(ListDrivers)
def list_drivers(machine: Machine, request: ListDrivers) -> Page[DriverRow]:
    """The operation `drivers.list`."""
    environ = request.environment or machine.environ
    settings = machine.settings
    if request.directory is not None:
        settings = machine.settings_in(request.directory, environ, request.settings)
    rows = selection.installed(settings.drivers, environ, versions=request.versions)
    if request.environment:
        own = selection.locate_programs(settings.drivers, machine.environ)
        rows = [_compare(row, own[row.name]) for row in rows]
    parked = {each.driver: each for each in machine.ask(ListParked()).items}
    return Page(items=[_with_parking(row, parked.get(row.name)) for row in rows])


def _compare(row: DriverRow, own: str | None) -> DriverRow:
    """The row, with what the daemon itself would find."""
    return row if row.program == own else replace(row, is_elsewhere=True, daemon_program=own)


def _with_parking(row: DriverRow, parked: ParkedDriver | None) -> DriverRow:
    return row if parked is None else replace(row, parked_until=parked.until, parked_reason=parked.reason)
