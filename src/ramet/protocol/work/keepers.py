"""What a keeper is told when it is started, and what it writes down so that the next daemon finds it.

Each keeper has a folder of its own, named after its instance: `keeper.json` (who it is and whom it holds),
`spool.jsonl` (what it heard, one numbered event on each line), `keeper.log` (what went wrong with the keeper itself)
and, when it is asked to end its agent, `stop.json`.
"""

from msgspec import Struct

from ramet.config.settings import ProfileSettings
from ramet.model.work.stream import StreamEvent

RECORD_FILE = "keeper.json"
SPOOL_FILE = "spool.jsonl"
STOP_FILE = "stop.json"
LOG_FILE = "keeper.log"
MARKER = "RAMET_KEEPER"
"""The variable in the environment of everything that an agent starts, whose value is the keeper's instance. It is how
the processes of an agent are found when their parents are gone.
"""


class Launch(Struct, frozen=True, kw_only=True):
    """One process to run: what a driver makes of a prompt."""

    arguments: list[str]
    stdin: str = ""
    environment: dict[str, str] = {}
    """Everything that the process sees; nothing is inherited."""
    directory: str


class KeeperSpec(Struct, frozen=True, kw_only=True):
    """What a keeper reads from its standard input: one line of JSON. It is never written to disk as a whole."""

    instance: str
    session_id: int
    effort_id: int
    generation: int
    driver: str
    profile: ProfileSettings
    launch: Launch
    folder: str
    socket: str
    timeout_seconds: int | None
    silent_seconds: int
    """After so long without a word, and with no tool at work, the agent is looked at; after `stuck_seconds` ended."""
    stuck_seconds: int
    repeat_limit: int
    grace_seconds: float
    """Between asking, telling and killing."""
    output_max_bytes: int
    lease_seconds: int
    is_fenced: bool
    """Whether somebody else may take the lease over: an agent whose keeper cannot renew it is then ended in time."""
    leased_at: float | None = None
    """When the lease began, by the machine's monotonic clock; None means just now."""


class KeeperRecord(Struct, frozen=True, kw_only=True):
    """`keeper.json`: processes are named by pid and start, because a pid alone is somebody else's tomorrow."""

    instance: str
    session_id: int
    effort_id: int
    generation: int
    driver: str
    pid: int
    started_at: float
    agent_pid: int | None = None
    agent_started_at: float | None = None


class Spooled(Struct, frozen=True, kw_only=True):
    """One line of `spool.jsonl`."""

    seq: int
    event: StreamEvent
