"""Everything that Ramet refuses or fails at, one class per cause.

    RametError
    ├── BadRequest                   the request itself is wrong             exit 2
    │   ├── ParseError · InvalidRequest · RequestTooLarge · UnknownMethod
    │   ├── InvalidParams
    │   ├── UnknownSkill · UnknownPhase · InvalidProof · UnknownContentType · InvalidRange · UnknownDriver
    │   ├── PathOutside · TaskFileInvalid (TaskCycle) · SkillFileInvalid · Forbidden
    │   └── QueryRefused · QueryFailed
    ├── NotFound                     no such thing                           exit 3
    │   └── ProjectNotFound · TaskNotFound · EffortNotFound · SessionNotFound · SkillNotFound ·
    │       AgentNotFound · BranchNotFound · CommitNotFound · NoticeNotFound · ReportMissing · RunNotFound ·
    │       FileMissing
    ├── Conflict                     the facts do not allow it               exit 4
    │   ├── EffortHeld · AgentBusy · EffortFinished · SessionEnded · WrongTask
    │   ├── PhaseNotSequential · BranchExists · BranchInUse · NotInHistory · NothingToUndo · NothingToExpand
    │   ├── SpawnError (SpawnCycle) · SessionError
    │   ├── SpawnDepthExceeded · SpawnLimitExceeded · SpawnTimeTooShort · BudgetExceeded
    │   ├── LeaseLost · NotFinished · NothingRuns · WorktreeBusy
    │   ├── RunAttended · RunChanged · RunFinished
    │   └── IdempotencyConflict
    ├── StoreError                   the database cannot                     exit 5
    │   ├── DatabaseHeld · DatabaseNewer · DatabaseForeign · DatabaseUnreachable
    │   ├── StorageFailed · BatchRolledBack · MigrationFailed · QueryTimeout
    │   └── TooContended
    ├── DaemonError                  the daemon cannot                       exit 1
    │   └── DaemonUnreachable · DaemonRunning · DaemonStopping · DaemonFailed · SocketUnsafe
    ├── ModelError                   a model did not answer                  exit 6
    │   └── ModelFailed · ModelMissing
    ├── WorkError                    the machine cannot run it               exit 7
    │   ├── DriverMissing · LaunchFailed
    │   ├── WorktreeError · GitFailed
    │   └── MergeConflict · NoStart
    └── ConfigError                  the configuration is wrong              exit 2
        └── UnknownKey · InvalidSetting · MissingDriver

A class's docstring is its default message, `hint` its default fix. `code` is stable: programs may depend on
it. On the wire an error is a JSON-RPC error object whose `data` has `code`, `field`, `value` and `fix`.
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
        """The error that `to_wire` described; one of an unknown code becomes a plain `RametError`."""
        data = error.get("data") or {}
        kind = BY_CODE.get(data.get("code", ""), cls)
        return kind(error.get("message"), field=data.get("field"), value=data.get("value"), fix=data.get("fix"))


def shorten(value: object) -> object:
    """A value as an error may show it: scalars as they are, all else as text, long text cut."""
    if value is None or isinstance(value, bool | int | float):
        return value
    text = value if isinstance(value, str) else repr(value)
    return text if len(text) <= _VALUE_LIMIT else f"{text[:_VALUE_LIMIT]}… ({len(text)} characters)"


class BadRequest(RametError):
    """The request is not valid."""

    code = "bad_request"
    exit_status = EXIT_USAGE
    rpc_code = -32602
    hint = "see `ramet rpc list` for what each operation takes"


class ParseError(BadRequest):
    """The line is not a JSON document in UTF-8."""

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
    hint = "send less at once, or raise daemon.max_request_bytes"


class UnknownMethod(BadRequest):
    """There is no such operation."""

    code = "unknown_method"
    rpc_code = -32601
    hint = "`ramet rpc list` names every operation"


class InvalidParams(BadRequest):
    """A parameter is missing, unknown, or of the wrong type."""

    code = "invalid_params"


class UnknownSkill(BadRequest):
    """There is no such skill in this project."""

    code = "unknown_skill"
    hint = "register it with db.skills.upsert, or use a built-in skill"


class UnknownPhase(BadRequest):
    """The skill has no such phase."""

    code = "unknown_phase"
    hint = "name a phase of the skill, or a later sub-phase of the current one"


class InvalidProof(BadRequest):
    """The proof does not have what the phase asks for."""

    code = "invalid_proof"
    hint = "give every field that the skill lists for this phase, with its type"


class UnknownContentType(BadRequest):
    """There is no such content type."""

    code = "unknown_content_type"
    hint = "use a built-in type, or register it with history.register"


class InvalidRange(BadRequest):
    """The range of commits cannot be compressed."""

    code = "invalid_range"
    hint = "name a first and a last commit of the branch, in order, with no merge between them"


class UnknownDriver(BadRequest):
    """There is no such driver."""

    code = "unknown_driver"
    hint = "`ramet drivers` lists them; a profile of your own goes under drivers.profiles"


class PathOutside(BadRequest):
    """The path leads outside."""

    code = "path_outside"
    hint = "give a path that stays inside the project, with no symbolic link that leads out of it"


class Forbidden(BadRequest):
    """An agent may not ask for this."""

    code = "forbidden"
    hint = "an agent may ask only for its own session and for those below it"


class TaskFileInvalid(BadRequest):
    """The task file cannot be read."""

    code = "task_file_invalid"
    hint = "mend the line that is named; docs/task-files.md has the whole grammar"

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


class SkillFileInvalid(BadRequest):
    """The SKILL.md cannot be read."""

    code = "skill_file_invalid"
    hint = "mend the line that is named; docs/skills.md says what a SKILL.md has"

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
    """Something would come before itself, be it a history or a task: a mark that such errors share."""


class TaskCycle(TaskFileInvalid, CycleFound):
    """Tasks wait for each other."""

    code = "task_cycle"
    hint = "take one of the dependencies away that are named"


class QueryRefused(BadRequest):
    """Only one statement that reads is allowed here."""

    code = "query_refused"
    hint = "write a single SELECT; what changes something goes through its operation (`ramet rpc list`)"


class QueryFailed(BadRequest):
    """The database could not run the query."""

    code = "query_failed"
    hint = "check the names against docs/reference/schema.md"


class NotFound(RametError):
    """There is no such thing."""

    code = "not_found"
    exit_status = EXIT_NOT_FOUND
    rpc_code = -32004
    hint = "list what is there first"


class ProjectNotFound(NotFound):
    """There is no such project."""

    code = "project_not_found"
    hint = "register the project with db.project.upsert (`ramet project add PATH`)"


class TaskNotFound(NotFound):
    """There is no such task."""

    code = "task_not_found"
    hint = "create the task with db.task.upsert, or see `ramet task list`"


class EffortNotFound(NotFound):
    """There is no such effort."""

    code = "effort_not_found"
    hint = "see `ramet effort list TASK`"


class SessionNotFound(NotFound):
    """There is no such session."""

    code = "session_not_found"
    hint = "name a session by its integer id or as driver:native_id; see `ramet session list`"


class SkillNotFound(NotFound):
    """There is no such skill in this project."""

    code = "skill_not_found"
    hint = "see `ramet skill list`"


class AgentNotFound(NotFound):
    """There is no such agent."""

    code = "agent_not_found"
    hint = "register the agent with db.agents.register, or see `ramet agent list`"


class BranchNotFound(NotFound):
    """There is no such branch."""

    code = "branch_not_found"
    hint = "see `ramet history branch list`; committing to a new name starts a branch"


class CommitNotFound(NotFound):
    """There is no such commit."""

    code = "commit_not_found"
    hint = "give a longer part of the hash; see `ramet history log BRANCH`"


class NoticeNotFound(NotFound):
    """There is no such notice."""

    code = "notice_not_found"
    hint = "`ramet notices --all` lists them"


class ReportMissing(NotFound):
    """There is no report on the disk."""

    code = "report_missing"
    hint = "`ramet show REF` says where an effort's report is kept, and shows what the database has"


class FileMissing(NotFound):
    """There is no such file."""

    code = "file_missing"
    hint = "name a file of the project; `fs.paths.resolve` says what is at a path"


class RunNotFound(NotFound):
    """There is no such run."""

    code = "run_not_found"
    hint = "`ramet runs list` shows the runs; --all those that were archived too"


class Conflict(RametError):
    """What is recorded does not allow this."""

    code = "conflict"
    exit_status = EXIT_CONFLICT
    rpc_code = -32009
    hint = "look at the row and decide again"


class EffortHeld(Conflict):
    """Another agent holds this effort."""

    code = "effort_held"
    hint = "wait until its holder finishes, or let the holder go first with db.agents.assign(id, null)"


class AgentBusy(Conflict):
    """The agent already holds an active effort."""

    code = "agent_busy"
    hint = "finish that effort, or let it go with db.agents.assign(id, null)"


class EffortFinished(Conflict):
    """The effort is finished."""

    code = "effort_finished"
    hint = "start a new one on the task (db.effort.start), or take this one up again (`ramet retry`, `ramet resume`)"


class SessionEnded(Conflict):
    """The session has ended."""

    code = "session_ended"
    hint = "start a session that continues it: db.session.start with prev_session_id"


class WrongTask(Conflict):
    """The two belong to different tasks."""

    code = "wrong_task"
    hint = "use an effort and a session of the same task"


class PhaseNotSequential(Conflict):
    """This phase does not follow the current one."""

    code = "phase_not_sequential"
    hint = "enter the next phase, or give a reason for skipping or going back"


class BranchExists(Conflict):
    """There is a branch of that name already."""

    code = "branch_exists"
    hint = "choose another name, or move the branch with history.reset"


class BranchInUse(Conflict):
    """A session writes to this branch."""

    code = "branch_in_use"
    hint = "branches named session/N belong to their session"


class NotInHistory(Conflict):
    """The commit is not part of this branch."""

    code = "not_in_history"
    hint = "name a commit that `ramet history log BRANCH` shows"


class NothingToUndo(Conflict):
    """The branch has no rewrite left to take back."""

    code = "nothing_to_undo"
    hint = "see `ramet history moves BRANCH`; plain appends are taken back with history.reset"


class NothingToExpand(Conflict):
    """The commit stands for itself."""

    code = "nothing_to_expand"
    hint = "name a commit that collapse or compress made"


class SpawnError(Conflict):
    """A history cannot be spawned or collapsed so."""

    code = "spawn_error"
    hint = "see `ramet rpc call history.spawns` for the branch's relatives"


class SpawnCycle(SpawnError, CycleFound):
    """A history would descend from itself."""

    code = "spawn_cycle"
    hint = "name a new branch"


class SpawnDepthExceeded(Conflict):
    """Max spawn depth exceeded."""

    code = "spawn_depth"
    hint = "do the work yourself, or report it to your parent"


class SpawnLimitExceeded(Conflict):
    """There are as many children as there may be."""

    code = "spawn_limit"
    hint = "wait for children to end, or raise spawn.* in the configuration"


class SpawnTimeTooShort(Conflict):
    """The parent would be over before the child."""

    code = "spawn_time"
    hint = "give the child fewer seconds, or detach it"


class BudgetExceeded(Conflict):
    """The budget does not allow it."""

    code = "budget"
    hint = "see `ramet budget`; a person may raise it"


class SessionError(Conflict):
    """A session cannot be continued so."""

    code = "session_error"
    hint = "see `ramet session list`"


class LeaseLost(Conflict):
    """The lease is somebody else's now."""

    code = "lease_lost"
    hint = "stop what you are doing for this effort: another worker has it, or it is finished"


class NotFinished(Conflict):
    """The effort is not finished."""

    code = "not_finished"
    hint = "wait for it, or end it first with `ramet kill REF`"


class NothingRuns(Conflict):
    """Nothing runs there that Ramet started."""

    code = "nothing_runs"
    hint = "a session that was started by hand is ended where it was started"


class WorktreeBusy(Conflict):
    """Another active effort works in this worktree."""

    code = "worktree_busy"
    hint = "let it have a worktree of its own"


class RunAttended(Conflict):
    """Somebody attends this run already."""

    code = "run_attended"
    hint = "watch it with `ramet runs show REF`, or wait until it is left"


class RunChanged(Conflict):
    """The task file has changed since the run began."""

    code = "run_changed"
    hint = "start a new run, or resume this one as it was recorded with --force"


class RunFinished(Conflict):
    """The run is finished."""

    code = "run_finished"
    hint = "start a new run; --retry-failed takes up what failed"


class IdempotencyConflict(Conflict):
    """This idempotency key was used for a different request."""

    code = "idempotency_conflict"
    hint = "use a fresh key for each distinct request"


class StoreError(RametError):
    """The database failed."""

    code = "store_error"
    exit_status = EXIT_STORE
    rpc_code = -32010
    hint = "run `ramet doctor`"


class DatabaseHeld(StoreError):
    """Another process holds this database."""

    code = "database_held"
    hint = "use ramet.connect() to go through the daemon that holds it, or stop it with `ramet daemon stop`"


class DatabaseNewer(StoreError):
    """The database was written by a newer version of Ramet."""

    code = "database_newer"
    hint = "upgrade Ramet; nothing was changed"


class DatabaseForeign(StoreError):
    """The file is not a Ramet database."""

    code = "database_foreign"
    hint = "point database.path at a Ramet database or at a file that does not exist yet; nothing was changed"


class DatabaseUnreachable(StoreError):
    """The database cannot be opened."""

    code = "database_unreachable"
    hint = "check database.path or database.url (`ramet config`), and that the server runs"


class StorageFailed(StoreError):
    """The database could not write to its disk."""

    code = "storage_failed"
    hint = "free disk space or mend the disk, then try again; nothing of this request was kept"


class BatchRolledBack(StoreError):
    """The database rolled back the transaction that this request was part of."""

    code = "batch_rolled_back"
    hint = "send it again, with the same idempotency_key if it had one; nothing of it was kept"


class MigrationFailed(StoreError):
    """A migration failed and was rolled back."""

    code = "migration_failed"
    hint = "the database is as it was before; the backup made first is named in the message"


class QueryTimeout(StoreError):
    """The query took longer than query.timeout_seconds."""

    code = "query_timeout"
    hint = "ask for less, or raise query.timeout_seconds"


class TooContended(StoreError):
    """Other transactions kept getting in the way."""

    code = "too_contended"
    hint = "try again; nothing of this request was kept"


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
    """A daemon already runs for this database."""

    code = "daemon_running"
    hint = "use it, or stop it first with `ramet daemon stop`"


class DaemonStopping(DaemonError):
    """The daemon is stopping."""

    code = "daemon_stopping"
    hint = "try again in a moment; the client starts a new one"


class DaemonFailed(DaemonError):
    """The daemon could not start."""

    code = "daemon_failed"
    hint = "read the reason in `ramet daemon logs`"


class SocketUnsafe(DaemonError):
    """The socket's directory could be used by somebody else."""

    code = "socket_unsafe"
    hint = "make the directory yours alone: chmod 700"


class ModelError(RametError):
    """A model did not do what it was asked."""

    code = "model_error"
    exit_status = EXIT_MODEL
    rpc_code = -32013
    hint = "check ai.model and its key (`ramet config`)"


class ModelFailed(ModelError):
    """The model did not answer."""

    code = "model_failed"
    hint = "try again, or give the text yourself"


class ModelMissing(ModelError):
    """No model is configured."""

    code = "model_missing"
    hint = "set ai.model, give the text yourself, or use method extract"


class WorkError(RametError):
    """This machine could not do the work."""

    code = "work_failed"
    exit_status = EXIT_WORK
    rpc_code = -32014
    hint = "run `ramet doctor`"


class DriverMissing(WorkError):
    """No agent program is installed for this."""

    code = "driver_missing"
    hint = "`ramet drivers` says what is installed and how to get the others"


class LaunchFailed(WorkError):
    """The agent program could not be started."""

    code = "launch_failed"
    hint = "check the program, its wrapper and its folder: `ramet drivers`, `ramet worktree list`"


class WorktreeError(WorkError):
    """The worktree cannot be made or used."""

    code = "worktree_error"
    hint = "`ramet worktree list` shows every worktree and its state"


class GitFailed(WorkError):
    """Git failed."""

    code = "git_failed"
    hint = "run the same git command by hand to see what is wrong"


class MergeConflict(WorktreeError):
    """What was to be merged changes the same lines."""

    code = "merge_conflict"
    hint = "merge one of the branches into the other by hand; then `ramet run --resume REF --retry-failed` goes on"


class NoStart(WorktreeError):
    """What this depends on left nothing to start from."""

    code = "no_start"
    hint = "see why that failed; then `ramet run --resume REF --retry-failed` goes on"


class ConfigError(RametError):
    """The configuration is wrong."""

    code = "config_error"
    exit_status = EXIT_USAGE
    rpc_code = -32012
    hint = "`ramet config` shows every key, its value and where it comes from"


class UnknownKey(ConfigError):
    """There is no such configuration key."""

    code = "unknown_key"


class InvalidSetting(ConfigError):
    """The configuration value is not allowed."""

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
