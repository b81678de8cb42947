"""The settings: what the configuration keys come to. Everything below the entry points is given these values.

Each key's purpose and bounds are said here, in its annotation, and nowhere else: `ramet config`, the reference
and the error messages read them from it.
"""

from pathlib import Path
from typing import Annotated, Literal

from msgspec import Meta, Struct, field

_SECRET_VARIABLES = (
    "*_TOKEN",
    "*_API_KEY",
    "*_SECRET",
    "*_SECRET_KEY",
    "*_ACCESS_KEY",
    "*_PASSWORD",
    "PGPASSWORD",
)

_AGENT_VARIABLES = (
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "SHELL",
    "LANG",
    "LC_*",
    "TZ",
    "TERM",
    "TMPDIR",
    "XDG_*",
    "SSH_AUTH_SOCK",
    "SSL_CERT_*",
    "REQUESTS_CA_BUNDLE",
    "NODE_EXTRA_CA_CERTS",
    "*_PROXY",
    "*_proxy",
    "VIRTUAL_ENV",
    "GIT_AUTHOR_*",
    "GIT_COMMITTER_*",
)
"""By default agents also see the variables of their programs; whoever loads the settings names those (`load`)."""


class DatabaseSettings(Struct, frozen=True, kw_only=True):
    """Where everything is remembered."""

    type: Annotated[
        Literal["sqlite", "postgres"],
        Meta(description="Which database: one file of your own, or a server that a team shares."),
    ] = "sqlite"
    path: Annotated[str | None, Meta(description="The SQLite file. Default: ramet.db in RAMET_HOME.")] = None
    url: Annotated[str | None, Meta(description="The PostgreSQL server, as postgres://user@host/name.")] = None
    durability: Annotated[
        Literal["full", "process"],
        Meta(description="full: an acknowledged write survives power loss; process: it survives any crash of Ramet."),
    ] = "full"
    pool_size: Annotated[
        int, Meta(ge=1, le=64, description="How many PostgreSQL connections change things at once.")
    ] = 8
    retries: Annotated[
        int,
        Meta(
            ge=1,
            le=1000,
            description="How often a PostgreSQL transaction that lost against another is tried again.",
        ),
    ] = 50


class DaemonSettings(Struct, frozen=True, kw_only=True):
    """The process that stays up."""

    autostart: Annotated[bool, Meta(description="Whether a command starts the daemon where none runs.")] = True
    start_timeout_seconds: Annotated[
        int, Meta(ge=1, le=600, description="How long a command waits for a daemon that it started.")
    ] = 30
    idle_exit_seconds: Annotated[
        int, Meta(ge=0, le=2**31, description="Stop after so long without a connection; 0 means never.")
    ] = 0
    drain_seconds: Annotated[
        int, Meta(ge=0, le=600, description="How long a stopping daemon waits for requests under way.")
    ] = 10
    max_request_bytes: Annotated[int, Meta(ge=1024, le=2**30, description="The largest request line.")] = (
        8 * 1024 * 1024
    )
    log_max_bytes: Annotated[
        int, Meta(ge=10_000, le=2**40, description="The size at which the log file is rotated.")
    ] = 5 * 1024 * 1024
    log_files: Annotated[int, Meta(ge=1, le=100, description="How many rotated log files are kept.")] = 3


class QuerySettings(Struct, frozen=True, kw_only=True):
    """`ramet query`."""

    timeout_seconds: Annotated[int, Meta(ge=1, le=3600, description="How long one query may run.")] = 30
    max_rows: Annotated[int, Meta(ge=1, le=10_000_000, description="How many rows one query may return.")] = 10_000


class LimitSettings(Struct, frozen=True, kw_only=True):
    """How much one request may ask for, and how long things are kept."""

    page_max: Annotated[
        int,
        Meta(ge=1, le=100_000, description="The longest page of a list; a larger limit is cut to this."),
    ] = 1000
    idempotency_days: Annotated[
        int, Meta(ge=1, le=3650, description="How long a reply is kept for its idempotency key.")
    ] = 7
    stale_seconds: Annotated[
        int,
        Meta(ge=1, le=2**31, description="An open session that is silent for so long is stale."),
    ] = 300


class AiSettings(Struct, frozen=True, kw_only=True):
    """Models that Ramet asks itself, for summaries and for whoever calls `ai.*`."""

    model: Annotated[
        str | None,
        Meta(description="The model that writes, as openai:gpt-5 or anthropic:MODEL. Default: none."),
    ] = None
    embed_model: Annotated[
        str | None,
        Meta(description="The model that makes vectors, as openai:text-embedding-3-small. Default: none."),
    ] = None
    base_url: Annotated[
        str | None,
        Meta(description="Where the configured models are reached, if not at their provider's own address."),
    ] = None
    api_key_env: Annotated[
        str | None,
        Meta(description="The name of the environment variable that holds the key. Default: the provider's own."),
    ] = None
    timeout_seconds: Annotated[int, Meta(ge=1, le=3600, description="How long one attempt may take.")] = 60
    retries: Annotated[
        int,
        Meta(ge=0, le=10, description="How often a model that is busy, failing or silent is asked again."),
    ] = 2


class TokenSettings(Struct, frozen=True, kw_only=True):
    """How the tokens of a text are counted where nobody reports them."""

    counter: Annotated[
        Literal["estimate", "o200k", "cl100k"],
        Meta(description="estimate: four characters each; the others count exactly as OpenAI's models do."),
    ] = "estimate"
    model: Annotated[
        str | None,
        Meta(description="Whose tokens are meant, as anthropic:MODEL; chooses the calibration."),
    ] = None
    calibration: Annotated[
        dict[str, Annotated[float, Meta(ge=0.1, le=10)]],
        Meta(description="By the beginning of a model's name: what its tokens come to for one that is counted."),
    ] = {}


class RedactionSettings(Struct, frozen=True, kw_only=True):
    """What is taken out of everything before it is stored."""

    enabled: Annotated[bool, Meta(description="Whether secrets are taken out at all.")] = True
    patterns: Annotated[
        list[str],
        Meta(description="Secrets of your own, as RE2 regular expressions."),
    ] = []
    environment: Annotated[
        list[str],
        Meta(description="The environment variables whose values are secrets; * stands for anything."),
    ] = field(default_factory=lambda: list(_SECRET_VARIABLES))


class WorkSettings(Struct, frozen=True, kw_only=True):
    """The queue, and how long what runs from it may take, fail and be silent."""

    host: Annotated[
        Annotated[str, Meta(pattern=r"^[a-z0-9][a-z0-9._-]{0,63}$")] | None,
        Meta(description="What this machine is called where several share a database. Default: its own name."),
    ] = None
    lease_seconds: Annotated[
        int, Meta(ge=5, le=86_400, description="How long a claim lasts unless its holder renews it.")
    ] = 60
    timeout_seconds: Annotated[
        int, Meta(ge=0, le=2**31 - 1, description="How long one attempt may take, unless its effort says; 0: no end.")
    ] = 3600
    silent_seconds: Annotated[
        int,
        Meta(
            ge=1,
            le=2**31 - 1,
            description="An agent that says nothing for so long, with no tool at work, is looked at.",
        ),
    ] = 300
    stuck_seconds: Annotated[
        int, Meta(ge=0, le=2**31 - 1, description="One that is silent for so long is stuck, and ended; 0: never.")
    ] = 900
    repeat_limit: Annotated[
        int,
        Meta(
            ge=0,
            le=10_000,
            description="So many times the same tool, arguments and result in a row is a loop; 0: never.",
        ),
    ] = 20
    grace_seconds: Annotated[
        int, Meta(ge=0, le=600, description="How long a process is given after each of SIGINT and SIGTERM.")
    ] = 5
    retries: Annotated[
        int, Meta(ge=0, le=100, description="How often an attempt that failed in passing is made again.")
    ] = 2
    host_retries: Annotated[
        int,
        Meta(ge=0, le=100, description="How often one is made again that failed through no fault of the agent's."),
    ] = 5
    backoff_seconds: Annotated[
        int, Meta(ge=0, le=3600, description="The pause before the second attempt; it doubles with each.")
    ] = 5
    backoff_max_seconds: Annotated[int, Meta(ge=0, le=86_400, description="The longest such pause.")] = 300
    breaker_failures: Annotated[
        int,
        Meta(ge=1, le=1000, description="So many permanent failures of a driver in a row, and it is left alone."),
    ] = 3
    breaker_seconds: Annotated[
        int, Meta(ge=1, le=86_400, description="For how long; then one attempt is let through.")
    ] = 120
    output_max_bytes: Annotated[
        int, Meta(ge=10_000, le=2**40, description="How much of one attempt's output is kept.")
    ] = 64 * 1024 * 1024
    prompt_max_tokens: Annotated[
        int,
        Meta(ge=100, le=10_000_000, description="How large a prompt may become through what its chain produced."),
    ] = 50_000
    tools: Annotated[
        bool,
        Meta(description="Whether agents that can are given Ramet's own tools: spawn, wait, report and read."),
    ] = True
    prefer_newer_file: Annotated[
        bool,
        Meta(description="Whether a report that was edited on disk after its effort ended goes before the database."),
    ] = False
    environment: Annotated[
        list[str],
        Meta(description="The environment variables that agents may see; * stands for anything."),
    ] = field(default_factory=lambda: list(_AGENT_VARIABLES))


class ProfileSettings(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How one driver is run. A profile named after a driver changes that driver."""

    driver: str | None = None
    """Whose adapter; None where the profile has the driver's own name."""
    program: list[str] | None = None
    """The program and its first arguments, in place of what is found in PATH."""
    model: str | None = None
    permission_mode: str | None = None
    """As the program calls it: acceptEdits, workspace-write, …"""
    arguments: list[str] = []
    """More arguments, before the prompt."""
    wrapper: list[str] = []
    """A command that runs the program: a container, a sandbox."""
    environment: dict[str, str] = {}
    """More variables for it."""
    output: Literal["text", "jsonl"] = "text"
    """What `command` reads from the program: plain text, or stream events as JSON lines."""


class DriverSettings(Struct, frozen=True, kw_only=True):
    """Which agent programs run, and how."""

    default: Annotated[
        str | None,
        Meta(description="The driver or profile of efforts that name none. Default: the first that is installed."),
    ] = None
    profiles: Annotated[
        dict[str, ProfileSettings],
        Meta(description="By name: driver, program, model, permission_mode, arguments, wrapper, environment, output."),
    ] = {}


class RunSettings(Struct, frozen=True, kw_only=True):
    """Task files and chains."""

    context_tokens: Annotated[
        int,
        Meta(ge=100, le=100_000_000, description="How much of a sequential run's conversation the next line is given."),
    ] = 100_000
    review_rounds: Annotated[
        int, Meta(ge=1, le=100, description="How often a chain is reviewed before a person has to look at it.")
    ] = 3
    retention_days: Annotated[
        int, Meta(ge=0, le=36_500, description="How long an archived run is kept by `ramet runs clean`.")
    ] = 30


class SpawnSettings(Struct, frozen=True, kw_only=True):
    """How far agents may delegate."""

    depth: Annotated[
        int, Meta(ge=0, le=100, description="How deep sessions may be; one that is as deep may not spawn.")
    ] = 3
    children: Annotated[int, Meta(ge=0, le=1_000_000, description="How many children one session may spawn.")] = 10
    total: Annotated[
        int, Meta(ge=0, le=1_000_000, description="How many sessions may be spawned in one tree, all together.")
    ] = 100
    concurrent: Annotated[
        int, Meta(ge=0, le=100_000, description="How many of one tree may be unfinished at once; 0: any number.")
    ] = 0
    tokens: Annotated[
        int, Meta(ge=0, le=2**53, description="How many tokens one tree may use, unless a budget says; 0: any number.")
    ] = 0
    cost_usd: Annotated[
        float, Meta(ge=0, le=1e12, description="How much one tree may cost, unless a budget says; 0: any amount.")
    ] = 0.0
    orphan_seconds: Annotated[
        int,
        Meta(
            ge=1,
            le=2**31 - 1,
            description="An awaited child that nobody is known to wait for goes to the queue after so long.",
        ),
    ] = 600


class HookSettings(Struct, frozen=True, kw_only=True):
    """What agents that people start themselves are told, and when they are held back."""

    heartbeat: Annotated[
        bool,
        Meta(
            description="Whether every agent has to log as it works; a skill asks for it with the directive heartbeat."
        ),
    ] = False
    heartbeat_warn: Annotated[
        int, Meta(ge=0, le=10_000, description="After so many tool calls without a log entry it is reminded; 0: never.")
    ] = 3
    heartbeat_block: Annotated[
        int, Meta(ge=0, le=10_000, description="After so many it may use no tool before it has logged; 0: never.")
    ] = 10
    directive_gate: Annotated[
        Literal["inject", "block"],
        Meta(
            description="The directives of a directory are told after the first use of it; block: before a change too."
        ),
    ] = "inject"
    contract_tokens: Annotated[
        int, Meta(ge=100, le=100_000, description="How long the resume contract may be that follows a compaction.")
    ] = 2000
    on_daemon_down: Annotated[
        Literal["allow", "block"],
        Meta(
            description="What a hook does that reaches no daemon: let the tool go on, or hold it. "
            "Only your own file counts."
        ),
    ] = "allow"
    deadline_ms: Annotated[
        int,
        Meta(
            ge=10,
            le=2500,
            description="How long a hook waits for its answer; then the tool goes on. Only your own file counts.",
        ),
    ] = 1000
    """At most what leaves a line about the gap: agents end a hook that takes longer (`hooks.settings_files`)."""
    start_deadline_ms: Annotated[
        int,
        Meta(
            ge=10,
            le=25_000,
            description="The same where a context window begins or is compacted. Only your own file counts.",
        ),
    ] = 5000


class NotifySettings(Struct, frozen=True, kw_only=True):
    """Who is told when a root session has ended."""

    desktop: Annotated[bool, Meta(description="Whether the desktop shows it.")] = False
    webhook: Annotated[str | None, Meta(description="The http or https address that it is posted to.")] = None


class Settings(Struct, frozen=True, kw_only=True):
    """All of it."""

    database: DatabaseSettings = DatabaseSettings()
    daemon: DaemonSettings = DaemonSettings()
    query: QuerySettings = QuerySettings()
    limits: LimitSettings = LimitSettings()
    ai: AiSettings = AiSettings()
    tokens: TokenSettings = TokenSettings()
    redaction: RedactionSettings = RedactionSettings()
    work: WorkSettings = WorkSettings()
    drivers: DriverSettings = DriverSettings()
    runs: RunSettings = RunSettings()
    spawn: SpawnSettings = SpawnSettings()
    hooks: HookSettings = HookSettings()
    notify: NotifySettings = NotifySettings()


class Places(Struct, frozen=True, kw_only=True):
    """Where one database's daemon keeps its things."""

    home: Path
    database: Path | None
    """The SQLite file; None on PostgreSQL."""
    socket: Path
    pid_file: Path
    log_file: Path
    backups: Path
    lock_file: Path
    """Held by whoever has the database open: the daemon, or a program that called `ramet.open`."""
    keepers: Path
    """A folder for each agent that runs, or ran and has not been settled."""
    worktrees: Path
