"""The input of a keeper at its start, and the files that it writes so that the next daemon finds it.

Each keeper has its own folder, named after its instance: `keeper.json` (the processes of the keeper and its agent),
`spool.jsonl` (the agent's stream, one numbered event per line), `keeper.log` (errors of the keeper itself),
`looks.jsonl` (what commands changed in the agent's own worktree, as hashes of lines) and, when the keeper is asked to
end its agent, `stop.json`.
"""

from msgspec import Struct

from ramet.config.settings import ProfileSettings
from ramet.model.work.stream import StreamEvent

RECORD_FILE = "keeper.json"
SPOOL_FILE = "spool.jsonl"
STOP_FILE = "stop.json"
LOG_FILE = "keeper.log"
LOOKS_FILE = "looks.jsonl"
MARKER = "RAMET_KEEPER"
"""The environment variable of all processes that an agent starts. Its value is the keeper's instance. It identifies the
processes of an agent when their parents are gone.
"""


class Launch(Struct, frozen=True, kw_only=True):
    """One process to run, which a driver builds from a prompt."""

    arguments: list[str]
    stdin: str = ""
    environment: dict[str, str] = {}
    """The whole environment of the process; nothing is inherited."""
    directory: str
    is_confined: bool = False
    """Whether it runs in a sandbox. `bwrap` is then the first process: it must not act on signals that are meant for
    the agent, everything inside ends with it, and it reports a signal as 128 and its number.
    """


class Proxy(Struct, frozen=True, kw_only=True):
    """The proxy that is the agent's only way to the network."""

    socket: str
    """Where it listens; a file in the keeper's folder."""
    hosts: list[str]
    """The hosts that it allows."""


class KeeperRedaction(Struct, frozen=True, kw_only=True):
    """The secrets that a keeper removes from its agent's output before it writes any of it to disk."""

    is_enabled: bool = True
    patterns: list[str] = []
    values: list[str] = []


class KeeperSpec(Struct, frozen=True, kw_only=True):
    """The line of JSON that a keeper reads from its standard input. It is never written to disk as a whole."""

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
    """After so many seconds without output or a running tool the agent's CPU time is checked; after `stuck_seconds` the
    agent is ended.
    """
    stuck_seconds: int
    repeat_limit: int
    grace_seconds: float
    """The pause between SIGINT, SIGTERM and SIGKILL."""
    lingering_seconds: int
    """How long the program may keep running after the agent's last turn."""
    output_max_bytes: int
    lease_seconds: int
    is_fenced: bool
    """Whether another worker may take over the lease. The keeper then ends its agent in time if it cannot renew it."""
    leased_at: float | None = None
    """When the lease started, by the machine's steady clock; None means just now."""
    proxy: Proxy | None = None
    """Started before the agent; only for a strict sandbox."""
    redaction: KeeperRedaction = KeeperRedaction()
    worktree: str | None = None
    """The worktree that only this agent works in. The keeper checks it for changes after each call."""


class KeeperRecord(Struct, frozen=True, kw_only=True):
    """`keeper.json`. Processes are identified by pid and start time, because the kernel reuses pids."""

    instance: str
    session_id: int
    effort_id: int
    generation: int
    driver: str
    pid: int
    started_at: float
    agent_pid: int | None = None
    agent_started_at: float | None = None
    protocol: int = 1
    """What the keeper says to the daemon, and writes into its spool. The keepers of a build run on after an upgrade, so
    a daemon understands its own number and the one before.
    """


class Spooled(Struct, frozen=True, kw_only=True):
    """One line of `spool.jsonl`."""

    seq: int
    event: StreamEvent
