"""Requests and replies about drivers: known ones and parked ones."""

from msgspec import Struct, field

from ramet.errors import EffortNotFound, LeaseLost
from ramet.model.record.budget import BudgetUse
from ramet.model.work.driver import DriverRow
from ramet.protocol.fields import DriverName, Id, Path
from ramet.protocol.operation import Change, Operation, Request
from ramet.protocol.record.daily_budgets import Bounds
from ramet.protocol.replies import Page
from ramet.protocol.work.leases import Completed, Generation


class ListDrivers(Request[Page[DriverRow]], frozen=True, kw_only=True):
    """List the agent programs that Ramet can run, whether they are installed, and what they can do."""

    op = Operation("drivers.list", host="machine")

    versions: bool = True
    """Whether to ask each program for its version, which takes a moment."""
    directory: Path | None = None
    """The caller's directory. Its project file, environment and flags then apply instead of the daemon's."""
    environment: dict[str, str] = field(default_factory=dict)
    settings: dict[str, str] = field(default_factory=dict)


class ParkedDriver(Struct, frozen=True, kw_only=True):
    """A driver that is not used for a while, because its account is at a limit or it failed repeatedly."""

    driver: str
    until: str
    reason: str
    failures: int


class ListParked(Request[Page[ParkedDriver]], frozen=True, kw_only=True):
    """List the parked drivers, until when they are parked, and why."""

    op = Operation("drivers.parked")


class Released(Struct, frozen=True, kw_only=True):
    """A driver that may be used again."""

    driver: str
    effort_ids: list[int]
    """The efforts that waited for it and may start now."""
    already: bool = False
    """Whether it was not parked."""


class ReleaseDriver(Change[Released], frozen=True, kw_only=True):
    """Release a parked driver now, so that the efforts that wait for it can start."""

    op = Operation("drivers.release")

    driver: DriverName
    """The driver or profile to release."""


class Admission(Struct, frozen=True, kw_only=True):
    """Whether an attempt may start."""

    is_admitted: bool
    requeued: Completed | None = None
    """The effort, if it is back in the queue until its driver is released."""


class AdmitDriver(Change[Admission], frozen=True, kw_only=True):
    """Admit a claimed effort to a driver. If the driver is parked, requeue the effort until it is released."""

    op = Operation("drivers.admit", errors=(EffortNotFound, LeaseLost), audience="internal")

    effort_id: Id
    generation: Generation
    driver: DriverName
    """The driver or profile that is to run the effort."""


class Hold(Struct, frozen=True, kw_only=True):
    """The budgets that keep an effort from starting; none: it may start."""

    reached: list[BudgetUse]
    requeued: Completed | None = None
    """The effort, if it was claimed and is back in the queue."""


class HoldWork(Change[Hold], frozen=True, kw_only=True):
    """Keep an effort in the queue if a daily or project budget is used up, and raise one notice for each budget and
    day.
    """

    op = Operation("work.hold", errors=(EffortNotFound, LeaseLost), audience="internal")

    effort_id: Id
    bounds: Bounds
    generation: Generation | None = None
    """The lease of an effort that is claimed: it goes back to the queue."""
