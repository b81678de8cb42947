"""Requests and replies about drivers: which there are, and which are parked."""

from msgspec import Struct, field

from ramet.errors import EffortNotFound, LeaseLost
from ramet.model.work.driver import DriverRow
from ramet.protocol.fields import DriverName, Id, Path
from ramet.protocol.operation import Change, Operation, Request
from ramet.protocol.replies import Page
from ramet.protocol.work.leases import Completed, Generation


class ListDrivers(Request[Page[DriverRow]], frozen=True, kw_only=True):
    """The agent programs that Ramet can run: which are installed, and what they can do."""

    op = Operation("drivers.list", host="machine")

    versions: bool = True
    """Whether each program is asked for its version, which takes a moment."""
    directory: Path | None = None
    """Where the caller is: its project file, environment and flags count then, not the daemon's."""
    environment: dict[str, str] = field(default_factory=dict)
    settings: dict[str, str] = field(default_factory=dict)


class ParkedDriver(Struct, frozen=True, kw_only=True):
    """A driver that is not used for a while: its account is at a limit, or it failed again and again."""

    driver: str
    until: str
    reason: str
    failures: int


class ListParked(Request[Page[ParkedDriver]], frozen=True, kw_only=True):
    """The drivers that are not used for a while, until when and why."""

    op = Operation("drivers.parked")


class Released(Struct, frozen=True, kw_only=True):
    """A driver that may be used again."""

    driver: str
    effort_ids: list[int]
    """What waited for it, and may begin now."""
    already: bool = False
    """It was not parked."""


class ReleaseDriver(Change[Released], frozen=True, kw_only=True):
    """Let a parked driver be used again at once, and what waits for it begin."""

    op = Operation("drivers.release")

    driver: DriverName
    """The driver, or the profile of one, that may be used again."""


class Admission(Struct, frozen=True, kw_only=True):
    """Whether an attempt may begin."""

    is_admitted: bool
    requeued: Completed | None = None
    """The effort, back in the queue until its driver may be used again."""


class AdmitDriver(Change[Admission], frozen=True, kw_only=True):
    """Let a claimed effort begin with a driver; where that is parked, put the effort back until it is not."""

    op = Operation("drivers.admit", errors=(EffortNotFound, LeaseLost), audience="internal")

    effort_id: Id
    generation: Generation
    driver: DriverName
    """The driver, or the profile of one, that is to run the effort."""
