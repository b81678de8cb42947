"""The settings: the values of the configuration keys. The entry points pass them to everything below.

Each key's purpose and limits are defined only here, in its annotation: `ramet config`, the reference and the error
messages read them from it.

Each field also declares its class: who may set it (`OWNER`, `PROJECT`, `NARROWS`, `ADDS`). A key that names a program,
a command line, a driver, an environment variable, an address or a directory outside of the project is the owner's.
"""

from enum import Enum
from pathlib import Path
from typing import Annotated, Literal

from msgspec import Meta, Struct, field


class KeyClass(Enum):
    """Who may set a key. The value is what people read."""

    OWNER = "owner"
    """The user's own file, the environment or a flag; a project's file only if the user trusts it."""
    PROJECT = "project"
    """A project's file, too: data that nothing executes."""
    NARROWS = "narrows"
    """A project's file, too, but only to a tighter limit; 0, if it means no limit, is the widest."""
    ADDS = "adds"
    """A project's file, too, but only to add to the owner's list, for what is stored for that project."""


OWNER, PROJECT, NARROWS, ADDS = KeyClass


_SECRET_VARIABLES = (
    "*_TOKEN",
    "*_API_KEY",
    "*_SECRET",
    "*_SECRET_KEY",
    "*_ACCESS_KEY",
    "*_PASSWORD",
    "PGPASSWORD",
)

_LOCK_FILES = (
    "package-lock.json",
    "npm-shrinkwrap.json",
    "pnpm-lock.yaml",
    "yarn.lock",
    "bun.lock",
    "uv.lock",
    "poetry.lock",
    "requirements.txt",
    "Cargo.lock",
    "go.sum",
    "Gemfile.lock",
    "composer.lock",
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
"""By default agents also see the variables of their programs, which the caller of `load` adds."""


OTHER_CONNECTIONS = 13
"""How many connections to a PostgreSQL server a daemon uses at most beside `database.pool_size`: one for long changes,
two for short reads, eight for long reads, one for the search index and one to learn of other daemons' commits.
"""


class DatabaseSettings(Struct, frozen=True, kw_only=True):
    """The database."""

    type: Annotated[
        Literal["sqlite", "postgres"],
        Meta(description="Database to use: a local SQLite file, or a PostgreSQL server that a team shares."),
        OWNER,
    ] = "sqlite"
    path: Annotated[str | None, Meta(description="SQLite file (default: ramet.db in RAMET_HOME)."), OWNER] = None
    url: Annotated[str | None, Meta(description="PostgreSQL server, such as postgres://user@host/name."), OWNER] = None
    durability: Annotated[
        Literal["full", "process"],
        Meta(description="What an acknowledged write survives. full: power loss; process: any crash of Ramet."),
        OWNER,
    ] = "full"
    pool_size: Annotated[
        int,
        Meta(ge=1, le=64, description="Number of PostgreSQL connections that write at the same time."),
        OWNER,
    ] = 8
    timeout_seconds: Annotated[
        int,
        Meta(ge=1, le=3600, description="Seconds that a request waits for a PostgreSQL server that does not answer."),
        OWNER,
    ] = 20
    retries: Annotated[
        int,
        Meta(
            ge=1,
            le=1000,
            description="Number of retries of a PostgreSQL transaction that conflicts with another one.",
        ),
        OWNER,
    ] = 50


class DaemonSettings(Struct, frozen=True, kw_only=True):
    """The background process."""

    autostart: Annotated[bool, Meta(description="Let commands start the daemon if none is running."), OWNER] = True
    start_timeout_seconds: Annotated[
        int,
        Meta(ge=1, le=600, description="Seconds that a command waits for a daemon that it started."),
        OWNER,
    ] = 30
    idle_exit_seconds: Annotated[
        int,
        Meta(ge=0, le=2**31, description="Stop the daemon after this many seconds without a connection (0: never)."),
        OWNER,
    ] = 0
    drain_seconds: Annotated[
        int,
        Meta(ge=0, le=600, description="Seconds that a stopping daemon waits for requests in progress."),
        OWNER,
    ] = 10
    max_request_bytes: Annotated[
        int,
        Meta(ge=1024, le=2**30, description="Maximum size of a request line, in bytes."),
        OWNER,
    ] = 8 * 1024 * 1024
    max_reply_bytes: Annotated[
        int,
        Meta(ge=65_536, le=2**30, description="Maximum size of a reply, in bytes."),
        OWNER,
    ] = 64 * 1024 * 1024
    read_timeout_seconds: Annotated[
        int,
        Meta(
            ge=1, le=86_400, description="Maximum duration of one long read, such as a check or a backup, in seconds."
        ),
        OWNER,
    ] = 900
    max_unfinished_bytes: Annotated[
        int,
        Meta(
            ge=1024,
            le=2**32,
            description="Maximum size of the unfinished requests of all connections, in bytes; at least two requests.",
        ),
        OWNER,
    ] = 32 * 1024 * 1024
    max_unfinished_seconds: Annotated[
        int,
        Meta(ge=1, le=3600, description="Seconds after which an unfinished request is refused."),
        OWNER,
    ] = 30
    max_parts_bytes: Annotated[
        int,
        Meta(ge=1024, le=2**32, description="Maximum size of a request that is sent in parts, in bytes."),
        OWNER,
    ] = 32 * 1024 * 1024
    max_connections: Annotated[
        int,
        Meta(
            ge=10,
            le=100_000,
            description="Maximum number of connections; agents have at most half of them.",
        ),
        OWNER,
    ] = 1000
    log_max_bytes: Annotated[
        int,
        Meta(ge=10_000, le=2**40, description="Size at which the log file is rotated, in bytes."),
        OWNER,
    ] = 5 * 1024 * 1024
    log_files: Annotated[int, Meta(ge=1, le=100, description="Number of rotated log files to keep."), OWNER] = 3


class QuerySettings(Struct, frozen=True, kw_only=True):
    """`ramet query`."""

    timeout_seconds: Annotated[
        int, Meta(ge=1, le=3600, description="Maximum duration of one query, in seconds."), OWNER
    ] = 30
    max_rows: Annotated[
        int,
        Meta(ge=1, le=10_000_000, description="Maximum number of rows that one query returns."),
        OWNER,
    ] = 10_000
    max_bytes: Annotated[
        int,
        Meta(ge=1024, le=2**30, description="Maximum size of the rows that one query returns, in bytes."),
        OWNER,
    ] = 16 * 1024 * 1024


class LimitSettings(Struct, frozen=True, kw_only=True):
    """Limits of requests, and retention times."""

    page_max: Annotated[
        int,
        Meta(ge=1, le=100_000, description="Maximum length of one page of a list; a larger limit is reduced to this."),
        OWNER,
    ] = 1000
    idempotency_days: Annotated[
        int,
        Meta(ge=1, le=3650, description="Days that a reply is kept for its idempotency key."),
        OWNER,
    ] = 7
    stale_seconds: Annotated[
        int,
        Meta(ge=1, le=2**31, description="Seconds without a heartbeat after which an open session is stale."),
        OWNER,
    ] = 300


class AiSettings(Struct, frozen=True, kw_only=True):
    """Models that Ramet calls itself, for summaries and for callers of `ai.*`."""

    model: Annotated[
        str | None,
        Meta(description="Model that generates text, such as openai:gpt-5 or anthropic:MODEL (default: none)."),
        OWNER,
    ] = None
    embed_model: Annotated[
        str | None,
        Meta(description="Model that computes vectors, such as openai:text-embedding-3-small (default: none)."),
        OWNER,
    ] = None
    base_url: Annotated[
        str | None,
        Meta(description="Address of the configured models (default: their provider's own)."),
        OWNER,
    ] = None
    api_key_env: Annotated[
        str | None,
        Meta(description="Name of the environment variable that holds the API key (default: the provider's own)."),
        OWNER,
    ] = None
    timeout_seconds: Annotated[
        int,
        Meta(ge=1, le=3600, description="Maximum duration of one attempt to call a model, in seconds."),
        OWNER,
    ] = 60
    retries: Annotated[
        int,
        Meta(ge=0, le=10, description="Number of retries if a model is busy, fails or does not answer."),
        OWNER,
    ] = 2


class SearchSettings(Struct, frozen=True, kw_only=True):
    """Search by meaning, beside the words. It only adds to what the words find."""

    embeddings: Annotated[
        Literal["off", "directory", "endpoint"],
        Meta(
            description="Source of the vectors for search by meaning. directory: the model in search.model_directory; "
            "endpoint: ai.embed_model, which then gets every stored text."
        ),
        OWNER,
    ] = "off"
    model_directory: Annotated[
        str | None,
        Meta(description="Directory with the tokenizer.json and model.safetensors of a static model (default: none)."),
        OWNER,
    ] = None


class TokenSettings(Struct, frozen=True, kw_only=True):
    """How the tokens of a text are counted if no provider reports them."""

    counter: Annotated[
        Literal["estimate", "o200k", "cl100k"],
        Meta(
            description="How to count tokens. estimate: four characters each; the others: exactly like OpenAI's models."
        ),
        OWNER,
    ] = "estimate"
    model: Annotated[
        str | None,
        Meta(description="Model whose tokens are counted, such as anthropic:MODEL; selects the calibration."),
        OWNER,
    ] = None
    calibration: Annotated[
        dict[str, Annotated[float, Meta(ge=0.1, le=10)]],
        Meta(description="Tokens of a model per counted token, by the start of the model's name."),
        OWNER,
    ] = {}


class RedactionSettings(Struct, frozen=True, kw_only=True):
    """Secrets that are removed before anything is stored."""

    enabled: Annotated[bool, Meta(description="Remove secrets before anything is stored."), OWNER] = True
    patterns: Annotated[
        list[str],
        Meta(description="Additional secrets to remove, as RE2 regular expressions. A project adds to your own."),
        ADDS,
    ] = []
    environment: Annotated[
        list[str],
        Meta(description="Environment variables whose values are secrets (* matches any text)."),
        OWNER,
    ] = field(default_factory=lambda: list(_SECRET_VARIABLES))


class WorkSettings(Struct, frozen=True, kw_only=True):
    """The queue, and the limits of attempts: duration, retries and silence."""

    host: Annotated[
        Annotated[str, Meta(pattern=r"^[a-z0-9][a-z0-9._-]{0,63}$")] | None,
        Meta(description="Name of this machine, if several share a database (default: the machine's own name)."),
        OWNER,
    ] = None
    lease_seconds: Annotated[
        int,
        Meta(ge=5, le=86_400, description="Seconds that a claim lasts unless its holder renews it."),
        OWNER,
    ] = 60
    timeout_seconds: Annotated[
        int,
        Meta(
            ge=0,
            le=2**31 - 1,
            description="Maximum duration of one attempt in seconds, unless its effort sets one (0: no limit).",
        ),
        NARROWS,
    ] = 3600
    silent_seconds: Annotated[
        int,
        Meta(
            ge=1,
            le=2**31 - 1,
            description="Seconds without output or a running tool after which an agent is checked for activity.",
        ),
        NARROWS,
    ] = 300
    stuck_seconds: Annotated[
        int,
        Meta(
            ge=0,
            le=2**31 - 1,
            description="Seconds of silence after which an agent is stuck and is stopped (0: never).",
        ),
        NARROWS,
    ] = 900
    repeat_limit: Annotated[
        int,
        Meta(
            ge=0,
            le=10_000,
            description="Identical tool calls and results in a row after which an agent is stopped (0: never).",
        ),
        NARROWS,
    ] = 20
    grace_seconds: Annotated[
        int,
        Meta(ge=0, le=600, description="Seconds that a process gets to exit after SIGINT, and again after SIGTERM."),
        OWNER,
    ] = 5
    lingering_seconds: Annotated[
        int,
        Meta(
            ge=1,
            le=86_400,
            description="Seconds that a program may keep running after its agent's last turn, for a background task.",
        ),
        OWNER,
    ] = 60
    retries: Annotated[
        int,
        Meta(ge=0, le=100, description="Number of retries after a transient failure of an agent."),
        OWNER,
    ] = 2
    host_retries: Annotated[
        int,
        Meta(ge=0, le=100, description="Number of retries after a failure that is not the agent's fault."),
        OWNER,
    ] = 5
    limit_seconds: Annotated[
        int,
        Meta(
            ge=0,
            le=86_400,
            description="Pause after a usage limit whose end is unknown. It doubles each time, up to an hour.",
        ),
        OWNER,
    ] = 300
    backoff_seconds: Annotated[
        int,
        Meta(
            ge=0,
            le=3600,
            description="Pause before the second attempt in seconds; it doubles with each further attempt.",
        ),
        OWNER,
    ] = 5
    backoff_max_seconds: Annotated[
        int,
        Meta(ge=0, le=86_400, description="Maximum pause between two attempts, in seconds."),
        OWNER,
    ] = 300
    breaker_failures: Annotated[
        int,
        Meta(ge=1, le=1000, description="Permanent failures in a row after which a driver is parked."),
        OWNER,
    ] = 3
    breaker_seconds: Annotated[
        int,
        Meta(ge=1, le=86_400, description="Seconds that a failing driver stays parked; then one attempt is made."),
        OWNER,
    ] = 120
    host_breaker_failures: Annotated[
        int,
        Meta(
            ge=1,
            le=1000,
            description="Failures of a host in a row, each before an agent started, after which it claims no efforts.",
        ),
        OWNER,
    ] = 3
    host_breaker_seconds: Annotated[
        int,
        Meta(
            ge=1,
            le=86_400,
            description="Seconds until such a host tries one effort. They double each time, up to 10 minutes.",
        ),
        OWNER,
    ] = 30
    min_free_mb: Annotated[
        int,
        Meta(
            ge=0,
            le=1_000_000_000,
            description="Free megabytes of disk for Ramet's files below which a host claims no efforts (0: no check).",
        ),
        OWNER,
    ] = 100
    output_max_bytes: Annotated[
        int,
        Meta(ge=10_000, le=2**40, description="Maximum size of one attempt's output that is kept, in bytes."),
        NARROWS,
    ] = 64 * 1024 * 1024
    prompt_max_tokens: Annotated[
        int,
        Meta(ge=100, le=10_000_000, description="Maximum size of a prompt with the outputs of its chain, in tokens."),
        NARROWS,
    ] = 50_000
    skill_max_tokens: Annotated[
        int,
        Meta(
            ge=100,
            le=1_000_000,
            description="Maximum size of a skill's text and templates in a prompt, in tokens.",
        ),
        NARROWS,
    ] = 10_000
    tools: Annotated[
        bool,
        Meta(description="Give agents that support it Ramet's own tools, such as spawn, recall, report and budget."),
        OWNER,
    ] = True
    prefer_newer_file: Annotated[
        bool,
        Meta(description="Use the report on disk instead of the database if it was edited after its effort ended."),
        PROJECT,
    ] = False
    environment: Annotated[
        list[str],
        Meta(description="Environment variables that agents may see (* matches any text)."),
        OWNER,
    ] = field(default_factory=lambda: list(_AGENT_VARIABLES))


class ProfileSettings(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How to run a driver. A profile with the name of a driver changes that driver."""

    driver: str | None = None
    """The driver; None if the profile has the driver's own name."""
    program: list[str] | None = None
    """The program and its first arguments, instead of the program in PATH."""
    model: str | None = None
    permission_mode: str | None = None
    """The program's own name of the mode: acceptEdits, workspace-write, …"""
    arguments: list[str] = []
    """Additional arguments, before the prompt."""
    wrapper: list[str] = []
    """A command that runs the program, such as a container or a sandbox."""
    sandbox: Literal["off", "workspace", "strict"] = "off"
    """What the agent can read, write and reach: everything that its user can, its worktree and the network, or its
    worktree and the hosts that are allowed.
    """
    environment: dict[str, str] = {}
    """Additional environment variables for the program."""
    output: Literal["text", "jsonl"] = "text"
    """The output of the program of a `command` driver: plain text, or stream events as JSON lines."""


class DriverSettings(Struct, frozen=True, kw_only=True):
    """The agent programs to run."""

    default: Annotated[
        str | None,
        Meta(description="Driver or profile for efforts that name none (default: the first installed one)."),
        OWNER,
    ] = None
    profiles: Annotated[
        dict[str, ProfileSettings],
        Meta(
            description="Driver profiles by name. Each may set driver, program, model, permission_mode, arguments, "
            "wrapper, sandbox, environment and output."
        ),
        OWNER,
    ] = {}


class SandboxSettings(Struct, frozen=True, kw_only=True):
    """The sandboxes of profiles that have one."""

    allow_hosts: Annotated[
        list[str],
        Meta(
            description="Hosts that agents in a strict sandbox can reach besides those of their models: example.org, "
            "*.example.org or example.org:8080 (default ports: 443 and 80)."
        ),
        OWNER,
    ] = []
    read_paths: Annotated[
        list[str],
        Meta(description="Files and directories that sandboxed agents can read, such as ~/.cargo or ~/.nvm."),
        OWNER,
    ] = []


class ProjectRules(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The permission rules for one project, which `ramet allow` adds to."""

    allow: list[str] = []
    ask: list[str] = []
    deny: list[str] = []


class PermissionSettings(Struct, frozen=True, kw_only=True):
    """What agents may do without asking, in rules that every agent program gets in its own words."""

    allow: Annotated[
        list[str],
        Meta(description="Rules that allow, such as run: npm test *, edit: ~/notes/** or fetch: docs.python.org."),
        OWNER,
    ] = []
    ask: Annotated[
        list[str],
        Meta(description="Rules that need a person's answer; until questions reach people, they deny."),
        ADDS,
    ] = []
    deny: Annotated[
        list[str],
        Meta(description="Rules that refuse, even if other rules allow it. A project adds to your own."),
        ADDS,
    ] = []
    projects: Annotated[
        dict[str, ProjectRules],
        Meta(description="More rules for one project, by its path: allow, ask and deny. `ramet allow` adds them."),
        OWNER,
    ] = {}


class CheckSettings(Struct, frozen=True, kw_only=True):
    """The commands that check a project. In a file they are directly below `checks:`, each under its name."""

    commands: Annotated[
        dict[str, str],
        Meta(description="Commands that check a project by name, such as test: make test. Agents may run them."),
        OWNER,
    ] = {}


class LandSettings(Struct, frozen=True, kw_only=True):
    """How the branches of agents get into yours."""

    method: Annotated[
        Literal["merge", "squash", "rebase"],
        Meta(description="How `ramet land` puts a branch on top of its target."),
        PROJECT,
    ] = "merge"
    check_seconds: Annotated[
        int, Meta(ge=1, le=86_400, description="Seconds after which a check of a landing is ended."), OWNER
    ] = 1800


class RunSettings(Struct, frozen=True, kw_only=True):
    """Task files and chains."""

    context_tokens: Annotated[
        int,
        Meta(
            ge=100,
            le=100_000_000,
            description="Maximum size of a sequential run's conversation for the next line, in tokens.",
        ),
        PROJECT,
    ] = 100_000
    review_rounds: Annotated[
        int,
        Meta(ge=1, le=100, description="Number of reviews of a chain before a person has to decide."),
        PROJECT,
    ] = 3
    retention_days: Annotated[
        int,
        Meta(ge=0, le=36_500, description="Days that `ramet runs clean` keeps an archived or finished run."),
        PROJECT,
    ] = 30


class RetentionSettings(Struct, frozen=True, kw_only=True):
    """How long the texts of sessions and runs are kept."""

    sessions_days: Annotated[
        int,
        Meta(ge=0, le=36_500, description="Days after which an ended session's texts are removed; 0 keeps them."),
        OWNER,
    ] = 0
    runs_days: Annotated[
        int,
        Meta(ge=0, le=36_500, description="Days after which a finished run's texts are removed; 0 keeps them."),
        OWNER,
    ] = 0


class BackupSettings(Struct, frozen=True, kw_only=True):
    """The backups that the daemon of a SQLite database makes by itself."""

    every_hours: Annotated[
        int,
        Meta(ge=0, le=8760, description="Hours between two backups of a SQLite database that has changed (0: none)."),
        OWNER,
    ] = 24
    keep_days: Annotated[
        int,
        Meta(ge=1, le=3650, description="Number of days of which the last backup is kept."),
        OWNER,
    ] = 7
    keep_weeks: Annotated[
        int,
        Meta(ge=0, le=520, description="Number of weeks of which the last backup is kept, in addition to the days."),
        OWNER,
    ] = 4


class SpawnSettings(Struct, frozen=True, kw_only=True):
    """Limits of delegation by agents."""

    depth: Annotated[
        int,
        Meta(ge=0, le=100, description="Maximum depth of sessions; a session at this depth cannot spawn."),
        OWNER,
    ] = 3
    children: Annotated[
        int,
        Meta(ge=0, le=1_000_000, description="Maximum number of children that one session may spawn."),
        OWNER,
    ] = 10
    total: Annotated[
        int,
        Meta(ge=0, le=1_000_000, description="Maximum number of sessions that may be spawned in one tree."),
        OWNER,
    ] = 100
    concurrent: Annotated[
        int,
        Meta(ge=0, le=100_000, description="Maximum number of unfinished sessions in one tree (0: no limit)."),
        OWNER,
    ] = 0
    drivers: Annotated[
        list[str],
        Meta(
            description="Drivers and profiles that a child may have besides that of its parent. None gives it more "
            "than its parent has; shell and command have to be listed here."
        ),
        OWNER,
    ] = []
    tokens: Annotated[
        int,
        Meta(
            ge=0,
            le=2**53,
            description="Maximum number of tokens that one tree may use, unless a budget is set (0: no limit).",
        ),
        OWNER,
    ] = 0
    cost_usd: Annotated[
        float,
        Meta(ge=0, le=1e12, description="Maximum cost of one tree in USD, unless a budget is set (0: no limit)."),
        OWNER,
    ] = 0.0
    orphan_seconds: Annotated[
        int,
        Meta(
            ge=1,
            le=2**31 - 1,
            description="Seconds after which an awaited child is requeued if no session is known to wait for it.",
        ),
        OWNER,
    ] = 600


_Tokens = Annotated[int, Meta(ge=0, le=2**53)]
_BudgetDollars = Annotated[float, Meta(ge=0, le=1e12)]


class ProjectBudget(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What the agents of one project may use; 0: no limit."""

    daily_usd: _BudgetDollars = 0.0
    daily_tokens: _Tokens = 0
    total_usd: _BudgetDollars = 0.0
    """Of all days together."""
    total_tokens: _Tokens = 0


class BudgetSettings(Struct, frozen=True, kw_only=True):
    """What may be used in a day before no more work starts. Agents that people start count, but are not stopped."""

    daily_usd: Annotated[
        float,
        Meta(
            ge=0, le=1e12, description="Start no more work when all projects have cost this much today (0: no limit)."
        ),
        OWNER,
    ] = 0.0
    daily_tokens: Annotated[
        int,
        Meta(
            ge=0, le=2**53, description="Start no more work when all projects used as many tokens today (0: no limit)."
        ),
        OWNER,
    ] = 0
    project_daily_usd: Annotated[
        float,
        Meta(ge=0, le=1e12, description="Start no more work in a project that has cost this much today (0: no limit)."),
        NARROWS,
    ] = 0.0
    project_daily_tokens: Annotated[
        int,
        Meta(
            ge=0, le=2**53, description="Start no more work in a project that used as many tokens today (0: no limit)."
        ),
        NARROWS,
    ] = 0
    projects: Annotated[
        dict[str, ProjectBudget],
        Meta(
            description="Budgets of single projects, by their paths: daily_usd, daily_tokens, total_usd and "
            "total_tokens. The lowest limit counts."
        ),
        OWNER,
    ] = {}


class HookSettings(Struct, frozen=True, kw_only=True):
    """Hooks of agents that people start: which are recorded, their texts, gates and deadlines."""

    record: Annotated[
        Literal["registered", "all"],
        Meta(
            description="Which sessions hooks record. registered: those inside registered projects (`ramet init`); "
            "all: also those elsewhere, whose directories become projects."
        ),
        OWNER,
    ] = "registered"
    heartbeat: Annotated[
        bool,
        Meta(description="Require log entries from every agent; a skill requires them with the directive heartbeat."),
        OWNER,
    ] = False
    heartbeat_warn: Annotated[
        int,
        Meta(
            ge=0, le=10_000, description="Tool calls without a log entry after which an agent is reminded (0: never)."
        ),
        OWNER,
    ] = 3
    heartbeat_block: Annotated[
        int,
        Meta(
            ge=0,
            le=10_000,
            description="Tool calls without a log entry after which tools are blocked until there is one (0: never).",
        ),
        OWNER,
    ] = 10
    directive_gate: Annotated[
        Literal["inject", "block"],
        Meta(
            description="When an agent gets a directory's directives. inject: after its first tool call there; "
            "block: also before a change there."
        ),
        OWNER,
    ] = "inject"
    contract_tokens: Annotated[
        int,
        Meta(ge=100, le=100_000, description="Maximum length of the resume contract after a compaction, in tokens."),
        OWNER,
    ] = 2000
    on_daemon_down: Annotated[
        Literal["allow", "block"],
        Meta(description="What a hook does if no daemon answers: allow the tool, or block it (user file only)."),
        OWNER,
    ] = "allow"
    deadline_ms: Annotated[
        int,
        Meta(
            ge=10,
            le=2500,
            description="Milliseconds that a hook waits for an answer before it lets the tool run (user file only).",
        ),
        OWNER,
    ] = 1000
    """The maximum leaves time to record the gap: agents end a hook that takes longer (`hooks.settings_files`)."""
    start_deadline_ms: Annotated[
        int,
        Meta(
            ge=10,
            le=25_000,
            description="Milliseconds that a hook waits when a context window starts or is compacted (user file only).",
        ),
        OWNER,
    ] = 5000


class RecallSettings(Struct, frozen=True, kw_only=True):
    """Earlier sessions of the project that agents get to read without asking for them."""

    start_bytes: Annotated[
        int,
        Meta(
            ge=0,
            le=2048,
            description="Maximum size of what an agent gets from earlier sessions when its context window starts, in "
            "bytes; 0 turns it off.",
        ),
        NARROWS,
    ] = 2048
    prompt_bytes: Annotated[
        int,
        Meta(
            ge=0,
            le=1536,
            description="Maximum size of what an agent gets from earlier sessions with a prompt, in bytes; 0 turns it "
            "off.",
        ),
        NARROWS,
    ] = 1536


class WorktreeSettings(Struct, frozen=True, kw_only=True):
    """Where agents work, and what git may run there."""

    git_filters: Annotated[
        list[str],
        Meta(
            description="The content filters of your own git configuration that Ramet's git runs, by name, as [lfs]. "
            "Others do not run."
        ),
        OWNER,
    ] = []
    setup: Annotated[
        str | None,
        Meta(description="Shell command that prepares each new worktree, such as `npm ci`; it runs outside sandboxes."),
        OWNER,
    ] = None
    setup_seconds: Annotated[
        int, Meta(ge=1, le=86_400, description="Seconds after which the set-up command of a worktree is ended."), OWNER
    ] = 600
    lock_files: Annotated[
        list[str],
        Meta(
            description="Files of the project that decide whether a prepared worktree is up to date. Those that do not "
            "exist are ignored."
        ),
        OWNER,
    ] = field(default_factory=lambda: list(_LOCK_FILES))
    reuse: Annotated[
        list[str],
        Meta(
            description="Folders that the set-up command makes, as [node_modules, .venv]. Other worktrees with the "
            "same lock files get a copy, and the command does not run there."
        ),
        OWNER,
    ] = []
    reuse_by: Annotated[
        Literal["copy", "link"],
        Meta(
            description="How folders are reused if the file system cannot copy on write: by a whole copy, or by hard "
            "links, through which an agent can change the files of others."
        ),
        OWNER,
    ] = "copy"


class NotifySettings(Struct, frozen=True, kw_only=True):
    """Notifications when a root session has ended."""

    desktop: Annotated[bool, Meta(description="Show a desktop notification when a root session has ended."), OWNER] = (
        False
    )
    webhook: Annotated[
        str | None,
        Meta(description="Address (http or https) that gets a notification when a root session has ended."),
        OWNER,
    ] = None


_Dollars = Annotated[float, Meta(ge=0, le=1_000_000)]


class PriceSettings(Struct, frozen=True, kw_only=True):
    """The prices of models that Ramet's own table lacks or has wrong, in USD for a million tokens."""

    input: Annotated[
        dict[str, _Dollars],
        Meta(description="Price of a model's input, by the model's name. A model needs an output price, too."),
        OWNER,
    ] = {}
    output: Annotated[dict[str, _Dollars], Meta(description="Price of a model's output, by its name."), OWNER] = {}
    cache_read: Annotated[
        dict[str, _Dollars],
        Meta(description="Price of input that a model reads from its cache, by its name (default: as input)."),
        OWNER,
    ] = {}
    cache_write: Annotated[
        dict[str, _Dollars],
        Meta(description="Price of input that a model writes to its cache, by its name (default: as input)."),
        OWNER,
    ] = {}
    context_tokens: Annotated[
        dict[str, Annotated[float, Meta(ge=1, le=1_000_000_000)]],
        Meta(description="Size of a model's context window in tokens, by its name."),
        OWNER,
    ] = {}


class Settings(Struct, frozen=True, kw_only=True):
    """All settings."""

    database: DatabaseSettings = DatabaseSettings()
    daemon: DaemonSettings = DaemonSettings()
    query: QuerySettings = QuerySettings()
    limits: LimitSettings = LimitSettings()
    ai: AiSettings = AiSettings()
    search: SearchSettings = SearchSettings()
    tokens: TokenSettings = TokenSettings()
    prices: PriceSettings = PriceSettings()
    redaction: RedactionSettings = RedactionSettings()
    work: WorkSettings = WorkSettings()
    drivers: DriverSettings = DriverSettings()
    sandbox: SandboxSettings = SandboxSettings()
    permissions: PermissionSettings = PermissionSettings()
    checks: CheckSettings = CheckSettings()
    land: LandSettings = LandSettings()
    runs: RunSettings = RunSettings()
    retention: RetentionSettings = RetentionSettings()
    backup: BackupSettings = BackupSettings()
    spawn: SpawnSettings = SpawnSettings()
    budget: BudgetSettings = BudgetSettings()
    hooks: HookSettings = HookSettings()
    recall: RecallSettings = RecallSettings()
    worktree: WorktreeSettings = WorktreeSettings()
    notify: NotifySettings = NotifySettings()


class Places(Struct, frozen=True, kw_only=True):
    """The files of one database's daemon."""

    home: Path
    database: Path | None
    """The SQLite file; None on PostgreSQL."""
    socket: Path
    """The user's socket."""
    agents_socket: Path
    """The socket of agents, on which every call needs a token."""
    pid_file: Path
    log_file: Path
    index: Path
    """The search index, which is derived from the database and can be deleted."""
    backups: Path
    lock_file: Path
    """Locked by the process that has the database open: the daemon, or a program that called `ramet.open`."""
    keepers: Path
    """A folder for each agent that is running, or that has ended and is not settled yet."""
    worktrees: Path

    @property
    def name(self) -> str:
        """The name of the database's own files in the home: `ramet`, or one with a hash of its path or server."""
        return self.log_file.stem

    @property
    def marker(self) -> Path:
        """What the home remembers of a SQLite file, so that another one in its place is noticed."""
        return self.home / f"{self.name}.marker"

    @property
    def swap(self) -> Path:
        """A replacement of the SQLite file that was decided and may not be finished."""
        return self.home / f"{self.name}.swap"

    @property
    def damage_mark(self) -> Path:
        """What says that the database is damaged: beside the file, or with the other files of a server's daemon."""
        return self.lock_file.with_suffix(".damaged")
