"""What everything that runs is given: whom to ask, where things are, how things are called."""

from collections.abc import Callable, Mapping

from msgspec import Struct

from ramet.config.host import machine_name
from ramet.config.settings import Places, Settings
from ramet.faults import Faults
from ramet.model.runs.run import Run
from ramet.protocol.operation import AsyncAsk
from ramet.runner.machine import Machine


class RunnerContext(Struct, frozen=True, kw_only=True):
    """One daemon's machine."""

    ask: AsyncAsk
    machine: Machine
    """The same for what runs on a thread and touches the disk."""
    settings: Settings
    places: Places
    environ: Mapping[str, str]
    faults: Faults
    name: str
    """What the slots of this daemon are named after."""
    identify: Callable[[], str]
    """A new identity: 32 hexadecimal digits that nobody else has."""
    token: Callable[[int], str]
    """By which the agent of a session proves that it is that."""

    @property
    def host(self) -> str | None:
        """What this machine is called where several share a database; None where nobody does."""
        return self.machine.host

    @property
    def host_name(self) -> str:
        """What this machine is called in any case: its own trouble is on record also where it is alone."""
        return self.settings.work.host or machine_name()

    def is_ours(self, agent_id: str | None) -> bool:
        """Whether a slot is this daemon's; what another one left is on its own disk."""
        return (agent_id or "").startswith(f"{self.name}/")


class Order(Struct, frozen=True, kw_only=True):
    """Who makes an attempt, and with what."""

    slot: str
    driver: str | None = None
    """For an effort that names none."""
    environment: dict[str, str] = {}
    """The environment of whoever asked for the work; the agent sees what is allowed of it."""
    settings: dict[str, str] = {}
    """Configuration keys that were set for this work alone."""
    run: Run | None = None
    """The run that is attended, where it is one of its lines."""
