"""Every error that Ramet reports, one class per cause.

    RametError
    ├── BadRequest                   the request is wrong                    exit 2
    │   ├── ParseError · InvalidRequest · RequestTooLarge · ReplyTooLarge · TooMuchInput · UnknownMethod
    │   ├── InvalidParams · UnknownFilter
    │   ├── UnknownSkill · UnknownPhase · InvalidProof · UnknownContentType · InvalidRange · UnknownDriver
    │   ├── PathOutside · TaskFileInvalid (TaskCycle) · SkillFileInvalid · ImportSourceInvalid · InvalidRule · Forbidden
    │   ├── UnmeasurableBound · ArchiveInvalid · ArchiveVersion
    │   └── QueryRefused · QueryFailed
    ├── NotFound                     it does not exist                       exit 3
    │   └── ProjectNotFound · TaskNotFound · EffortNotFound · SessionNotFound · SkillNotFound ·
    │       AgentNotFound · BranchNotFound · CommitNotFound · ImageNotFound · NoticeNotFound · ReportMissing ·
    │       RunNotFound · LandingNotFound · FileMissing
    ├── Conflict                     the recorded state does not allow it    exit 4
    │   ├── ProjectBusy · EffortHeld · AgentBusy · EffortFinished
    │   ├── SessionError (SessionEnded · SessionOpen · WrongTask)
    │   ├── PhaseNotSequential · BranchExists · BranchInUse · NotInHistory · NothingToUndo · NothingToExpand
    │   ├── SpawnError (SpawnCycle · SpawnDepthExceeded · SpawnLimitExceeded · SpawnTimeTooShort) · BudgetExceeded
    │   ├── LeaseLost · NotFinished · NothingRuns · WorktreeBusy
    │   ├── RunAttended · RunChanged · RunFinished · LandingRefused
    │   └── IdempotencyConflict
    ├── StoreError                   the database failed                     exit 5
    │   ├── DatabaseHeld · DatabaseNewer · DatabaseForeign · DatabaseUntrusted · DatabaseUnreachable
    │   ├── DatabaseDamaged · IndexDamaged · DatabaseMismatch · BackupUnusable
    │   ├── DatabaseRefused · DatabaseReadOnly · DatabaseBusy · DatabaseExhausted · ConnectionsExhausted
    │   ├── StorageFailed · BatchRolledBack · MigrationFailed · QueryTimeout · ReadTimeout
    │   ├── StatementStopped · StatementFailed (DatabaseAltered)
    │   └── DeadlineExceeded · TooContended
    ├── DaemonError                  the daemon failed                       exit 1
    │   └── DaemonUnreachable · DaemonRunning · DaemonStopping (DaemonReplaced) · DaemonFailed · DaemonOlder ·
    │       DaemonNewer · ReplyUnreadable · SocketUnsafe · TooManyConnections · ReadInterrupted · DescriptorsExhausted
    ├── ModelError                   a model failed                          exit 6
    │   └── ModelFailed · ModelMissing
    ├── WorkError                    this machine cannot run the work        exit 7
    │   ├── DriverMissing · LaunchFailed · SandboxUnavailable
    │   ├── WorktreeError (WorktreeRefused · CommitMissing · FolderMissing · MergeConflict · NoStart)
    │   └── GitFailed · SetupFailed · SetupKilled
    └── ConfigError                  the configuration is wrong              exit 2
        └── UnknownKey · InvalidSetting · MissingDriver

A class's docstring is its default message, `hint` its default fix. `code` is stable: programs may depend on it.
`is_transient` says whether to wait and try again. On the wire an error is a JSON-RPC error object whose `data` has
`code`, `field`, `value` and `fix`.
This module imports only the standard library, because hooks and the client do.
"""

from typing import Any, ClassVar

EXIT_FAILURE = 1
EXIT_USAGE = 2
EXIT_NOT_FOUND = 3
EXIT_CONFLICT = 4
EXIT_STORE = 5
EXIT_MODEL = 6
EXIT_WORK = 7

_VALUE_LIMIT = 200


class RametError(Exception):
    """Ramet failed."""

    code: ClassVar[str] = "failed"
    exit_status: ClassVar[int] = EXIT_FAILURE
    rpc_code: ClassVar[int] = -32000
    hint: ClassVar[str] = "see `ramet daemon logs`"
    is_transient: ClassVar[bool] = False
    """Whether it may pass without a change to the request or the configuration. Workers then wait and try again."""

    def __init__(
        self,
        message: str | None = None,
        *,
        field: str | None = None,
        value: object = None,
        fix: str | None = None,
    ) -> None:
        self.message = message or self.__doc__ or self.code
        self.field = field
        self.value = value
        self.fix = fix or self.hint
        super().__init__(self.message)

    def to_wire(self) -> dict[str, Any]:
        """The JSON-RPC error object."""
        data = {"code": self.code, "field": self.field, "value": shorten(self.value), "fix": self.fix}
        return {"code": self.rpc_code, "message": self.message, "data": data}

    @classmethod
    def from_wire(cls, error: dict[str, Any]) -> "RametError":
        """The error that `to_wire` described; an unknown code gives a plain `RametError`."""
        data = error.get("data") or {}
        kind = BY_CODE.get(data.get("code", ""), cls)
        return kind(error.get("message"), field=data.get("field"), value=data.get("value"), fix=data.get("fix"))


def shorten(value: object) -> object:
    """A value as errors show it: scalars unchanged, everything else as text, long text cut."""
    if value is None or isinstance(value, bool | int | float):
        return value
    text = value if isinstance(value, str) else repr(value)
    return text if len(text) <= _VALUE_LIMIT else f"{text[:_VALUE_LIMIT]}… ({len(text)} characters)"


class BadRequest(RametError):
    """The request is not valid."""

    code = "bad_request"
    exit_status = EXIT_USAGE
    rpc_code = -32602
    hint = "check the arguments with `ramet COMMAND --help`; a program finds the parameters in `ramet rpc list --json`"


class ParseError(BadRequest):
    """The line is not a UTF-8 JSON document."""

    code = "parse_error"
    rpc_code = -32700
    hint = "send one JSON-RPC 2.0 request per line, encoded as UTF-8"


class InvalidRequest(BadRequest):
    """The JSON document is not a JSON-RPC 2.0 request."""

    code = "invalid_request"
    rpc_code = -32600
    hint = 'send {"jsonrpc": "2.0", "id": 1, "method": "db.task.list", "params": {}}'


class RequestTooLarge(BadRequest):
    """The request is larger than daemon.max_request_bytes."""

    code = "request_too_large"
    rpc_code = -32600
    hint = "send it in parts, as `ramet` and its library do, or raise daemon.max_request_bytes"


class TooMuchInput(BadRequest):
    """The daemon holds too many requests that were not finished."""

    code = "too_much_input"
    rpc_code = -32600
    hint = "send the whole request at once, and again later"


class ReplyTooLarge(BadRequest):
    """The reply is larger than daemon.max_reply_bytes."""

    code = "reply_too_large"
    rpc_code = -32600
    hint = "ask for less: give `limit`, and continue with `cursor` from `next` of the reply"


class UnknownMethod(BadRequest):
    """There is no such operation."""

    code = "unknown_method"
    rpc_code = -32601
    hint = "`ramet rpc list` lists the operations"


class InvalidParams(BadRequest):
    """A parameter is missing, is unknown or has the wrong type."""

    code = "invalid_params"


class UnknownFilter(BadRequest):
    """The query has a filter that does not exist."""

    code = "unknown_filter"
    hint = "filter with agent:, kind:, path:, project:, role:, session: or since:; quote a word that has a colon"


class UnmeasurableBound(BadRequest):
    """This limit cannot be measured."""

    code = "unmeasurable_bound"
    hint = "set the model's prices.input and prices.output with `ramet config set`, or limit the tokens instead"


class UnknownSkill(BadRequest):
    """This project has no such skill."""

    code = "unknown_skill"
    hint = "choose one from `ramet skill list`, or register it with `ramet skill add NAME --phase LABEL`"


class UnknownPhase(BadRequest):
    """The skill has no such phase."""

    code = "unknown_phase"
    hint = (
        "name one of the skill's phases, or a later sub-phase of the current phase; `ramet skill show NAME` lists them"
    )


class InvalidProof(BadRequest):
    """The proof lacks a field that the phase requires."""

    code = "invalid_proof"
    hint = "give every field that the skill lists for this phase, in the listed type"


class UnknownContentType(BadRequest):
    """There is no such content type."""

    code = "unknown_content_type"
    hint = "use a built-in type, or a type that a program has registered"


class InvalidRange(BadRequest):
    """The range of commits cannot be compressed."""

    code = "invalid_range"
    hint = "name two commits of the branch, the older one first, with no merge between them"


class UnknownDriver(BadRequest):
    """There is no such driver."""

    code = "unknown_driver"
    hint = "choose one from `ramet drivers`, or define a profile under drivers.profiles"


class PathOutside(BadRequest):
    """The path leaves the project."""

    code = "path_outside"
    hint = "give a path inside the project, without a symbolic link that leaves it"


class Forbidden(BadRequest):
    """An agent is not allowed to do this."""

    code = "forbidden"
    hint = "an agent can access only its own session and the sessions below it"


class InvalidRule(BadRequest):
    """This is not a permission rule."""

    code = "invalid_rule"
    hint = "write it as `run: npm test`, `edit: src/**`, `read: ~/notes/**`, `fetch: HOST` or `tool: NAME`"


class ArchiveInvalid(BadRequest):
    """The archive is damaged, or it is no archive of Ramet."""

    code = "archive_invalid"
    hint = "export it again with `ramet export --format ramet`; nothing was imported"


class ArchiveVersion(BadRequest):
    """The archive has another version."""

    code = "archive_version"
    hint = "export it again with this version of Ramet, or import it with the version that wrote it"


class TaskFileInvalid(BadRequest):
    """The task file cannot be read."""

    code = "task_file_invalid"
    hint = "fix the line named above; a task is a line such as `- [ ] 1. Write the tests`"

    def __init__(
        self,
        message: str | None = None,
        *,
        line: int | None = None,
        column: int | None = None,
        field: str | None = None,
        value: object = None,
        fix: str | None = None,
    ) -> None:
        self.line = line
        self.column = column
        where = None if line is None else f"line {line}, column {column or 1}"
        super().__init__(f"{where}: {message}" if where else message, field=field or where, value=value, fix=fix)


class ImportSourceInvalid(BadRequest):
    """The file to import is damaged, or its version is not known."""

    code = "import_source_invalid"
    hint = "restore the file from a backup, or import one of a version that `ramet import --help` names"


class SkillFileInvalid(BadRequest):
    """The SKILL.md file cannot be read."""

    code = "skill_file_invalid"
    hint = "fix the line named above; a SKILL.md starts with `name: …` and `description: …` between two lines of ---"

    def __init__(
        self,
        message: str | None = None,
        *,
        line: int | None = None,
        field: str | None = None,
        value: object = None,
        fix: str | None = None,
    ) -> None:
        self.line = line
        super().__init__(message if line is None else f"line {line}: {message}", field=field, value=value, fix=fix)


class CycleFound(Exception):
    """Base of cycle errors."""


class TaskCycle(TaskFileInvalid, CycleFound):
    """The tasks wait for each other."""

    code = "task_cycle"
    hint = "remove one of the dependencies named above"


class QueryRefused(BadRequest):
    """Only a single read-only statement is allowed here."""

    code = "query_refused"
    hint = "write a single SELECT; `ramet help --all` lists the commands that change data"


class QueryFailed(BadRequest):
    """The database could not run the query."""

    code = "query_failed"
    hint = "check the names of tables and columns"


class NotFound(RametError):
    """It does not exist."""

    code = "not_found"
    exit_status = EXIT_NOT_FOUND
    rpc_code = -32004
    hint = "check the name; `ramet help --all` lists the commands that list things"


class ProjectNotFound(NotFound):
    """There is no such project."""

    code = "project_not_found"
    hint = "register the project with `ramet project add PATH`; `ramet project list` lists the projects"


class TaskNotFound(NotFound):
    """There is no such task."""

    code = "task_not_found"
    hint = "create the task with `ramet task add DIR`; `ramet task list` lists the tasks"


class EffortNotFound(NotFound):
    """There is no such effort."""

    code = "effort_not_found"
    hint = "list the efforts with `ramet queue --all -A`"


class SessionNotFound(NotFound):
    """There is no such session."""

    code = "session_not_found"
    hint = "name a session as s7, 7 or DRIVER:NATIVE_ID; `ramet session list -A` lists the sessions"


class SkillNotFound(NotFound):
    """This project has no such skill."""

    code = "skill_not_found"
    hint = "list the skills with `ramet skill list`"


class AgentNotFound(NotFound):
    """There is no such agent."""

    code = "agent_not_found"
    hint = "register the agent with `ramet agent register ID`; `ramet agent list` lists the agents"


class BranchNotFound(NotFound):
    """There is no such branch."""

    code = "branch_not_found"
    hint = "list the branches with `ramet history branch list`; a commit to a new name starts a branch"


class CommitNotFound(NotFound):
    """There is no such commit."""

    code = "commit_not_found"
    hint = "check the hash with `ramet history log BRANCH`"


class ImageNotFound(NotFound):
    """There is no such image."""

    code = "image_not_found"
    hint = "give the hash after `sha256:` in a message; images that are too large are not kept"


class NoticeNotFound(NotFound):
    """There is no such notice."""

    code = "notice_not_found"
    hint = "list the notices with `ramet notices --all`"


class ReportMissing(NotFound):
    """The report is not on this disk."""

    code = "report_missing"
    hint = "`ramet show EFFORT` shows the report's path and the copy in the database"


class LandingNotFound(NotFound):
    """There is no such landing."""

    code = "landing_not_found"
    hint = "`ramet landings list -A` lists the landings of every project"


class FileMissing(NotFound):
    """There is no such file."""

    code = "file_missing"
    hint = "name a file that exists in the project"


class RunNotFound(NotFound):
    """There is no such run."""

    code = "run_not_found"
    hint = "list the runs with `ramet runs list`; --all includes the archived ones"


class Conflict(RametError):
    """The recorded state does not allow this."""

    code = "conflict"
    exit_status = EXIT_CONFLICT
    rpc_code = -32009
    hint = "check the current state with `ramet show REF`, then decide again"


class EffortHeld(Conflict):
    """Another agent holds this effort."""

    code = "effort_held"
    hint = "wait until that agent finishes, or release the effort with `ramet agent release ID`"


class ProjectBusy(Conflict):
    """The project has work that is not finished."""

    code = "project_busy"
    hint = "finish its efforts first, or drop them: `ramet queue` lists them"


class AgentBusy(Conflict):
    """The agent already holds an active effort."""

    code = "agent_busy"
    hint = "finish that effort with `ramet effort finish EFFORT`, or release it with `ramet agent release ID`"


class EffortFinished(Conflict):
    """The effort is finished."""

    code = "effort_finished"
    hint = "repeat it with `ramet retry EFFORT`, continue it with `ramet resume EFFORT`, or start a new effort"


class SessionError(Conflict):
    """The session's state does not allow this."""

    code = "session_error"
    hint = "list the sessions with `ramet session list`"


class SessionEnded(SessionError):
    """The session has ended."""

    code = "session_ended"
    hint = "continue it in a new session with `ramet session continue SESSION`"


class SessionOpen(SessionError):
    """The session is still open."""

    code = "session_open"
    hint = "end it first: stop its agent, or run `ramet session finish SESSION`"


class WrongTask(SessionError):
    """The two belong to different tasks."""

    code = "wrong_task"
    hint = "use an effort and a session of the same task"


class PhaseNotSequential(Conflict):
    """This phase does not follow the current one."""

    code = "phase_not_sequential"
    hint = "enter the next phase, or give a reason to skip phases or to go back"


class BranchExists(Conflict):
    """A branch with that name already exists."""

    code = "branch_exists"
    hint = "choose another name, or move the branch with `ramet history reset BRANCH COMMIT`"


class BranchInUse(Conflict):
    """A session writes to this branch."""

    code = "branch_in_use"
    hint = "use another branch; a branch named session/N belongs to session N"


class NotInHistory(Conflict):
    """The commit is not part of this branch."""

    code = "not_in_history"
    hint = "choose a commit from `ramet history log BRANCH`"


class NothingToUndo(Conflict):
    """The branch has no rewrite left to undo."""

    code = "nothing_to_undo"
    hint = (
        "`ramet history moves BRANCH` lists the rewrites; `ramet history reset BRANCH COMMIT` removes appended commits"
    )


class NothingToExpand(Conflict):
    """The commit replaces no other commits."""

    code = "nothing_to_expand"
    hint = "name a commit that `ramet history collapse` or `ramet history compress` created"


class SpawnError(Conflict):
    """This child cannot be spawned or collapsed."""

    code = "spawn_error"
    hint = "`ramet history branch tree BRANCH` shows its parents and children"


class SpawnCycle(SpawnError, CycleFound):
    """A branch cannot descend from itself."""

    code = "spawn_cycle"
    hint = "choose the name of a new branch"


class SpawnDepthExceeded(SpawnError):
    """Max spawn depth exceeded."""

    code = "spawn_depth"
    hint = "do the work yourself, or report it to your parent"


class SpawnLimitExceeded(SpawnError):
    """The limit on child sessions is reached."""

    code = "spawn_limit"
    hint = (
        "wait until children end, or raise the limit (`ramet config spawn.children`, spawn.total or spawn.concurrent)"
    )


class SpawnTimeTooShort(SpawnError):
    """The child's time limit exceeds its parent's."""

    code = "spawn_time"
    hint = "give the child fewer seconds, or do not wait for it (--detach)"


class BudgetExceeded(Conflict):
    """The budget does not allow this."""

    code = "budget"
    hint = "`ramet budget` shows the budgets; a person can raise one with `ramet budget SESSION --max-tokens N`"


class LeaseLost(Conflict):
    """Another worker holds the lease now."""

    code = "lease_lost"
    hint = "stop working on this effort: another worker has it, or it is finished"


class NotFinished(Conflict):
    """The effort is not finished."""

    code = "not_finished"
    hint = "wait for it, or stop it with `ramet kill EFFORT`"


class NothingRuns(Conflict):
    """Ramet started no process for it."""

    code = "nothing_runs"
    hint = "you started this session yourself: end it in its own terminal"


class WorktreeBusy(Conflict):
    """Another active effort uses this worktree."""

    code = "worktree_busy"
    hint = "give the effort a worktree of its own"


class LandingRefused(Conflict):
    """The landing is not in a state that allows this."""

    code = "landing_refused"
    hint = "`ramet landings list` shows the state of every landing"


class RunAttended(Conflict):
    """Another process already attends this run."""

    code = "run_attended"
    hint = "watch it with `ramet runs show RUN`, or wait until that process ends"


class RunChanged(Conflict):
    """The task file has changed since the run started."""

    code = "run_changed"
    hint = "start a new run, or resume the recorded tasks with `ramet run --resume RUN --force`"


class RunFinished(Conflict):
    """The run is finished."""

    code = "run_finished"
    hint = "start a new run, or retry its failed tasks with `ramet run --resume RUN --retry-failed`"


class IdempotencyConflict(Conflict):
    """This idempotency key was used for a different request."""

    code = "idempotency_conflict"
    hint = "use a new key for each different request"


class StoreError(RametError):
    """The database failed."""

    code = "store_error"
    exit_status = EXIT_STORE
    rpc_code = -32010
    hint = "run `ramet doctor`"


class DatabaseHeld(StoreError):
    """Another process holds this database."""

    code = "database_held"
    hint = "stop the daemon with `ramet daemon stop`; a Python program can use it through ramet.connect() instead"


class DatabaseNewer(StoreError):
    """The database was written by a newer version of Ramet."""

    code = "database_newer"
    hint = "upgrade Ramet; the database was not changed"


class DatabaseForeign(StoreError):
    """The file is not a Ramet database."""

    code = "database_foreign"
    hint = "set database.path to a Ramet database, or to a file that does not exist yet; this file was not changed"


class DatabaseUntrusted(StoreError):
    """The database is inside a project, and you have not trusted it."""

    code = "database_untrusted"
    hint = "set database.path to a file outside of the project, or trust the file: `ramet trust FILE`"


class DatabaseUnreachable(StoreError):
    """The database cannot be opened."""

    code = "database_unreachable"
    is_transient = True
    hint = "check database.path or database.url with `ramet config`, and check that the server is running"


class DatabaseDamaged(StoreError):
    """The database is damaged."""

    code = "database_damaged"
    hint = "list the damage with `ramet db check`, and keep a copy of the database file before anything else"


class DatabaseMismatch(StoreError):
    """The file is not the database that was here before."""

    code = "database_mismatch"
    hint = "restore the newest backup: `ramet db restore latest`; `ramet db accept` takes the file as it is"


class BackupUnusable(StoreError):
    """The file cannot be restored."""

    code = "backup_unusable"
    hint = "`ramet db backups` lists the backups; nothing was changed"


class IndexDamaged(StoreError):
    """The search index is damaged."""

    code = "index_damaged"
    hint = "try again in a moment: the daemon builds the index again from the database"


class DatabaseRefused(StoreError):
    """The database server refuses this user."""

    code = "database_refused"
    hint = "check the user, the password and the database name of database.url with `ramet config database.url`"


class DatabaseReadOnly(StoreError):
    """The database is read-only."""

    code = "database_read_only"
    is_transient = True
    hint = "make it writable, or name the primary server in database.url; nothing of this request was saved"


class DatabaseBusy(StoreError):
    """Another program holds a lock on the database."""

    code = "database_busy"
    is_transient = True
    hint = "end the program that holds the lock, then try again; nothing of this request was saved"


class DatabaseExhausted(StoreError):
    """The database has no memory left."""

    code = "database_exhausted"
    is_transient = True
    hint = "free memory on the machine of the database, then try again; nothing of this request was saved"


class ConnectionsExhausted(StoreError):
    """The PostgreSQL server has no connection left."""

    code = "connections_exhausted"
    is_transient = True
    hint = "raise max_connections of the server or CONNECTION LIMIT of the role, or lower database.pool_size"


class StatementStopped(StoreError):
    """The database stopped a statement before its end."""

    code = "statement_stopped"
    is_transient = True
    hint = "try again; if the statement was too slow, raise database.timeout_seconds. Nothing of this request was saved"


class StatementFailed(StoreError):
    """The database could not run a statement."""

    code = "statement_failed"
    hint = "this is a defect of Ramet: report it with the last lines of `ramet daemon logs`"


class DatabaseAltered(StatementFailed):
    """The database lacks a table or a column."""

    code = "database_altered"
    hint = "`ramet db check` compares the tables; restore what was changed, or restore a backup"


class DeadlineExceeded(StoreError):
    """The database did not answer in time."""

    code = "deadline_exceeded"
    is_transient = True
    hint = "check that the server answers, or raise database.timeout_seconds; then try again"


class StorageFailed(StoreError):
    """The database cannot write to its disk."""

    code = "storage_failed"
    is_transient = True
    hint = "free disk space or repair the disk, then try again; nothing of this request was saved"


class BatchRolledBack(StoreError):
    """The database rolled back the transaction that this request was part of."""

    code = "batch_rolled_back"
    is_transient = True
    hint = "try again; a program repeats the request with the same idempotency_key. Nothing of it was saved"


class MigrationFailed(StoreError):
    """A migration failed and was rolled back."""

    code = "migration_failed"
    hint = "the database is unchanged; the message names the backup that was made first"


class QueryTimeout(StoreError):
    """The query took longer than query.timeout_seconds."""

    code = "query_timeout"
    hint = "select less, or raise query.timeout_seconds (`ramet config query.timeout_seconds`)"


class ReadTimeout(StoreError):
    """The read took longer than daemon.read_timeout_seconds."""

    code = "read_timeout"
    is_transient = True
    hint = "read less, or raise daemon.read_timeout_seconds (`ramet config daemon.read_timeout_seconds`)"


class TooContended(StoreError):
    """The request kept conflicting with other transactions."""

    code = "too_contended"
    is_transient = True
    hint = "try again; nothing of this request was saved"


class DaemonError(RametError):
    """The daemon failed."""

    code = "daemon_error"
    rpc_code = -32011
    hint = "see `ramet daemon logs`"


class DaemonUnreachable(DaemonError):
    """The daemon does not answer."""

    code = "daemon_unreachable"
    hint = "start it with `ramet daemon start`"


class DaemonRunning(DaemonError):
    """A daemon is already running for this database."""

    code = "daemon_running"
    hint = "use it, or stop it first with `ramet daemon stop`"


class DaemonStopping(DaemonError):
    """The daemon is stopping."""

    code = "daemon_stopping"
    hint = "try again in a moment; the next command starts a new daemon"


class DaemonReplaced(DaemonStopping):
    """The daemon is being replaced by one of a newer build."""

    code = "daemon_replaced"
    hint = "try again in a moment; the new daemon takes over the running agents"


class DaemonOlder(DaemonError):
    """The daemon is older than this ramet."""

    code = "daemon_older"
    hint = "run `ramet daemon stop`; the next command starts a daemon of this build, and running agents continue"


class DaemonNewer(DaemonError):
    """This ramet is older than the daemon."""

    code = "daemon_newer"
    hint = "upgrade it: `pip install -U ramet`, `pipx upgrade ramet` or `uv tool upgrade ramet`"


class ReplyUnreadable(DaemonError):
    """The daemon's reply cannot be read."""

    code = "reply_unreadable"
    hint = "the daemon is probably another build: `pip install -U ramet`, then `ramet daemon stop`"


class ReadInterrupted(DaemonError):
    """The process that answers this read has ended."""

    code = "read_interrupted"
    is_transient = True
    hint = "try again; if it happens again, see `ramet daemon logs`"


class DescriptorsExhausted(DaemonError):
    """The daemon can open no more files."""

    code = "descriptors_exhausted"
    is_transient = True
    hint = "raise the limit (`ulimit -n 4096`), then `ramet daemon stop`; the next command starts the daemon with it"


class DaemonFailed(DaemonError):
    """The daemon could not start."""

    code = "daemon_failed"
    hint = "run `ramet doctor`, which checks everything that Ramet needs"


class SocketUnsafe(DaemonError):
    """Other users can use the socket's directory."""

    code = "socket_unsafe"
    hint = "remove their access with chmod 700"


class TooManyConnections(DaemonError):
    """The daemon has as many connections as daemon.max_connections allows."""

    code = "too_many_connections"
    hint = (
        "close connections that are not used, or raise daemon.max_connections (`ramet config daemon.max_connections`)"
    )


class KeyUnsafe(DaemonError):
    """Other users may know the key of the agents' tokens."""

    code = "key_unsafe"
    hint = "remove the file; another key is made, and agents that are running lose their connection to Ramet"


class ModelError(RametError):
    """A model failed."""

    code = "model_error"
    exit_status = EXIT_MODEL
    rpc_code = -32013
    hint = "check ai.model and its key with `ramet config`"


class ModelFailed(ModelError):
    """The model did not answer."""

    code = "model_failed"
    hint = "try again, or write the text yourself (--text)"


class ModelMissing(ModelError):
    """No model is configured."""

    code = "model_missing"
    hint = "set ai.model, write the text yourself (--text), or use --extract"


class WorkError(RametError):
    """This machine cannot run the work."""

    code = "work_failed"
    exit_status = EXIT_WORK
    rpc_code = -32014
    hint = "run `ramet doctor`"


class DriverMissing(WorkError):
    """The agent program is not installed."""

    code = "driver_missing"
    hint = "`ramet drivers` shows which agent programs are installed, and how to install the others"


class LaunchFailed(WorkError):
    """The agent program could not be started."""

    code = "launch_failed"
    hint = "check the program and its wrapper with `ramet drivers`, and its folder with `ramet worktree list`"


class SandboxUnavailable(WorkError):
    """The profile's sandbox cannot be made."""

    code = "sandbox_unavailable"
    hint = "`ramet doctor` says what is missing; without a sandbox: set the profile's `sandbox` to off"


class WorktreeError(WorkError):
    """The worktree cannot be created or used."""

    code = "worktree_error"
    hint = "`ramet worktree list` lists every worktree and its state"


class WorktreeRefused(WorktreeError):
    """This repository or worktree cannot be used as it is."""

    code = "worktree_refused"


class CommitMissing(WorktreeError):
    """The commit is not in this clone."""

    code = "commit_missing"
    hint = "push its branch where it was made, and fetch it here"


class FolderMissing(WorktreeError):
    """The folder no longer exists."""

    code = "folder_missing"
    hint = "restore the folder, or queue a fresh copy of the effort with `ramet retry EFFORT`"


class SetupFailed(WorkError):
    """The set-up command of a worktree failed."""

    code = "setup_failed"
    hint = "run the command of `ramet config worktree.setup` in the project yourself to see the problem"


class SetupKilled(WorkError):
    """The set-up command of a worktree was killed, or its disk was full."""

    code = "setup_killed"
    hint = "check the memory and the disk of this machine"


class GitFailed(WorkError):
    """Git failed."""

    code = "git_failed"
    hint = "run the same git command yourself to see the problem"


class MergeConflict(WorktreeError):
    """The branches change the same lines."""

    code = "merge_conflict"
    hint = "merge one branch into the other yourself, then continue with `ramet run --resume RUN --retry-failed`"


class NoStart(WorktreeError):
    """A dependency left no branch to start from."""

    code = "no_start"
    hint = "find out why it failed with `ramet show EFFORT`, then continue with `ramet run --resume RUN --retry-failed`"


class ConfigError(RametError):
    """The configuration is wrong."""

    code = "config_error"
    exit_status = EXIT_USAGE
    rpc_code = -32012
    hint = "`ramet config` shows every key, its value and its source"


class UnknownKey(ConfigError):
    """There is no such configuration key."""

    code = "unknown_key"


class InvalidSetting(ConfigError):
    """The configuration value is not valid."""

    code = "invalid_setting"


class MissingDriver(ConfigError):
    """A package that this configuration needs is not installed."""

    code = "missing_driver"
    hint = "install it with: pip install 'ramet[postgres]'"


def _all_errors(root: type[RametError]) -> dict[str, type[RametError]]:
    found = {root.code: root}
    for child in root.__subclasses__():
        found.update(_all_errors(child))
    return found


BY_CODE: dict[str, type[RametError]] = _all_errors(RametError)
"""Every error class by its stable code."""
