"""The engine: from an operation's name to its function, once, in the transaction that it is given.

A request that carries an idempotency key is done once: its reply is kept in the same transaction, and the same request
with the same key gets that reply again.
"""

import hashlib
from collections.abc import Callable
from typing import Any, Self

import msgspec
from msgspec import Raw, Struct
from msgspec.structs import replace

from ramet.config.environment import Environment
from ramet.config.settings import HookSettings, LimitSettings, RunSettings, Settings, SpawnSettings, WorkSettings
from ramet.engine import events, notices, secrets
from ramet.engine.contents import Contents
from ramet.engine.history import (
    child_branches,
    commits,
    compression,
    contexts,
    garbage,
    merges,
    model_answers,
)
from ramet.engine.history.commits import PreparedCommit
from ramet.engine.history.compiler import Compiler
from ramet.engine.history.model_answers import Filled
from ramet.engine.hooks import (
    compactions,
    effort_starts,
    handoffs,
    hooks,
    notes,
    resume_contracts,
    transcripts,
)
from ramet.engine.record import (
    agents,
    budgets,
    efforts,
    messages,
    projects,
    sessions,
    skills,
    tasks,
)
from ramet.engine.runs import runs
from ramet.engine.spawn import children, trees
from ramet.engine.transaction import Rules, Transaction
from ramet.engine.work import (
    admission,
    attempts,
    awaited_children,
    chains,
    kills,
    leases,
    parked_drivers,
    queue,
    reports,
)
from ramet.errors import IdempotencyConflict
from ramet.model.history.commit import estimate_tokens
from ramet.model.history.tokens import TokenCounter, make_counter
from ramet.model.principal import asking_session
from ramet.model.redaction import Redactor
from ramet.protocol.ai import Answer, Question
from ramet.protocol.history import Commit, Edit
from ramet.protocol.hooks import AddEntries, HookUserPrompt, RecordHook
from ramet.protocol.operations import Operation
from ramet.protocol.requests import AppendMessage, Change, Request
from ramet.protocol.work import BeginAttempt, ReportStream
from ramet.store import idempotency
from ramet.store.database.blobs import Codec
from ramet.store.database.connection import Connection

Handler = Callable[[Transaction, Any], Any]

COMPILING: dict[str, Callable[[Transaction, Compiler, Any], Any]] = {
    "history.compile": contexts.compile_branch,
    "history.diff": contexts.diff,
    "history.compress": compression.compress,
    "history.spawn": child_branches.spawn,
    "spawn.agent": children.spawn_agent,
    "spawn.agents": children.spawn_agents,
}
"""The operations that read a branch as a model would."""

HANDLERS: dict[str, Handler] = {
    "db.project.upsert": projects.upsert,
    "db.project.list": projects.list_all,
    "db.task.upsert": tasks.upsert,
    "db.task.find": tasks.find,
    "db.task.list": tasks.list_all,
    "db.effort.start": efforts.start,
    "db.effort.finish": efforts.finish,
    "db.effort.phase": efforts.enter_phase,
    "db.effort.get": efforts.get,
    "db.effort.list": efforts.list_of_task,
    "db.effort.validate": efforts.validate,
    "db.session.start": sessions.start,
    "db.session.finish": sessions.finish,
    "db.session.bindEffort": sessions.bind_effort,
    "db.session.heartbeat": sessions.heartbeat,
    "db.session.updateContextUsage": sessions.update_context_usage,
    "db.session.updateLoadedFiles": sessions.update_loaded_files,
    "db.session.get": sessions.get,
    "db.session.find": sessions.find_matching,
    "db.skills.upsert": skills.upsert,
    "db.skills.get": skills.get,
    "db.skills.list": skills.list_all,
    "db.skills.delete": skills.delete,
    "db.skills.find": skills.find_matching,
    "db.messages.append": messages.append,
    "db.messages.list": messages.list_page,
    "db.agents.register": agents.register,
    "db.agents.get": agents.get,
    "db.agents.list": agents.list_all,
    "db.agents.assign": agents.assign,
    "db.counts": agents.count,
    "fleet.status": agents.show_fleet,
    "fleet.stale": agents.show_stale,
    "events.list": events.list_after,
    "history.commit": commits.commit,
    "history.log": commits.log,
    "history.show": commits.show,
    "history.branch": commits.create_branch,
    "history.branches": commits.list_branches,
    "history.delete": commits.delete,
    "history.reset": commits.reset,
    "history.undo": commits.undo,
    "history.moves": commits.list_moves,
    "history.merge": merges.merge,
    "history.pick": commits.pick,
    "history.edit": commits.edit,
    "history.annotate": commits.annotate,
    "history.tag": commits.tag,
    "history.at": commits.at,
    "history.register": commits.register,
    "history.collapse": child_branches.collapse,
    "history.expand": child_branches.expand,
    "history.spawns": child_branches.show_tree,
    "history.latest": child_branches.latest,
    "history.gc": garbage.collect,
    "work.add": queue.add,
    "work.get": queue.get,
    "work.list": queue.list_page,
    "work.next": queue.show_next,
    "work.blocked": queue.show_blocked,
    "work.claim": leases.claim,
    "work.renew": leases.renew,
    "work.begin": attempts.begin,
    "work.report": reports.report,
    "work.complete": leases.complete,
    "work.retry": queue.retry,
    "work.resume": queue.resume,
    "work.drop": queue.drop,
    "work.chain": chains.show,
    "work.output": queue.set_output,
    "fleet.kill": kills.kill,
    "fleet.notices": notices.list_newest,
    "fleet.dismiss": notices.dismiss,
    "run.start": runs.start,
    "run.get": runs.get,
    "run.list": runs.list_page,
    "run.attend": runs.attend,
    "run.leave": runs.leave,
    "run.turn": runs.add_turn,
    "run.turns": runs.list_turns,
    "run.archive": runs.archive,
    "run.clean": runs.clean,
    "drivers.parked": parked_drivers.list_parked,
    "drivers.release": parked_drivers.release,
    "drivers.admit": admission.admit,
    "spawn.expect": awaited_children.expect,
    "spawn.stranded": awaited_children.list_stranded,
    "spawn.tend": awaited_children.tend,
    "spawn.results": children.list_results,
    "spawn.report": children.report,
    "spawn.cancel": kills.cancel,
    "spawn.collapse": children.collapse,
    "spawn.children": trees.list_children,
    "spawn.ancestors": trees.list_ancestors,
    "spawn.tree": trees.show,
    "budget.get": budgets.get,
    "budget.set": budgets.set_limit,
    "commands.effort.begin": effort_starts.begin_effort,
    "hooks.record": hooks.record,
    "hooks.sessionStart": hooks.session_start,
    "hooks.sessionEnd": hooks.session_end,
    "hooks.preToolUse": hooks.pre_tool_use,
    "hooks.postToolUse": hooks.post_tool_use,
    "hooks.postToolUseFailure": hooks.post_tool_use_failure,
    "hooks.userPrompt": hooks.user_prompt,
    "hooks.preCompact": hooks.pre_compact,
    "hooks.permissionRequest": hooks.permission_request,
    "hooks.notification": hooks.notification,
    "hooks.stop": hooks.stop,
    "hooks.subagentStart": hooks.subagent_start,
    "hooks.subagentStop": hooks.subagent_stop,
    "hooks.taskCompleted": hooks.task_completed,
    "hooks.teammateIdle": hooks.teammate_idle,
    "hooks.fleetStart": hooks.fleet_start,
    "hooks.processes": hooks.list_processes,
    "hooks.vanished": hooks.vanish,
    "hooks.logged": notes.note,
    "db.session.handoff": handoffs.hand_off,
    "db.session.continue": handoffs.go_on,
    "db.session.contract": resume_contracts.show,
    "db.session.compactions": compactions.list_of_session,
    "ingest.add": transcripts.add,
    "ingest.list": transcripts.list_all,
    "ai.generate": model_answers.give,
    "ai.embed": model_answers.give,
}
"""The other operations that the engine answers, and the functions that do."""

DAY_MS = 86_400_000


class Call(Struct, frozen=True):
    """An operation about to be performed, with what could be prepared outside the transaction."""

    operation: Operation
    request: Request
    prepared: Any
    principal: str
    answer: Answer | None = None
    """What a model answered, where one was asked for it."""


class Engine:
    """Performs operations. Everything is in the database; what it keeps of its own are answers worked out before."""

    def __init__(
        self,
        *,
        limits: LimitSettings,
        codec: Codec,
        redactor: Redactor,
        count_tokens: TokenCounter = estimate_tokens,
        work: WorkSettings | None = None,
        runs: RunSettings | None = None,
        spawn: SpawnSettings | None = None,
        hooks: HookSettings | None = None,
    ) -> None:
        self._rules = Rules(
            limits=limits,
            work=work or WorkSettings(),
            runs=runs or RunSettings(),
            spawn=spawn or SpawnSettings(),
            hooks=hooks or HookSettings(),
        )
        self._codec = codec
        self.redactor = redactor
        self._contents = Contents(redactor, codec, count_tokens)
        self._compiler = Compiler()

    @classmethod
    def configured(cls, settings: Settings, environment: Environment) -> Self:
        """As the settings say, with the secrets that the entry point found."""
        redaction, tokens = settings.redaction, settings.tokens
        return cls(
            limits=settings.limits,
            codec=Codec(),
            redactor=Redactor(redaction.patterns, environment.denied, is_enabled=redaction.enabled),
            count_tokens=make_counter(tokens.counter, tokens.model, tokens.calibration),
            work=settings.work,
            runs=settings.runs,
            spawn=settings.spawn,
            hooks=settings.hooks,
        )

    def prepare(self, operation: Operation, request: Request, principal: str) -> Call:
        """What needs no transaction: redact, hash and compress. May run on any thread."""
        match request:
            case AppendMessage():
                prepared: Any = messages.PreparedMessage(request, self._contents.prepare(request.content))
            case Commit():
                prepared = PreparedCommit(request, self._contents.prepare_commit(request))
            case Edit():
                prepared = PreparedCommit(request, self._contents.prepare(request.text))
            case BeginAttempt():
                prepared = attempts.PreparedAttempt(request, self._contents.prepare(request.prompt))
            case AddEntries():
                prepared = transcripts.prepare(request, self._contents)
            case RecordHook() | HookUserPrompt():
                prepared = hooks.prepare(request, self._contents)
            case ReportStream():
                prepared = reports.prepare(request, self._contents, self.redactor)
            case Filled():
                return Call(operation, request.asked, request.done, principal, request.answer)
            case _:
                prepared = secrets.redact(request, self.redactor)
        return Call(operation, request, prepared, principal)

    def question(self, db: Connection, call: Call, now_ms: int) -> Question | Raw:
        """What a model has to be asked before a change can be made; or the reply, where it was made before."""
        tx = self._transaction(db, now_ms, call.principal)
        request = call.request
        if isinstance(request, Change) and request.idempotency_key is not None:
            kept = _find_kept(tx, call, request, request.idempotency_key)
            if kept is not None:
                return kept
        return model_answers.question(tx, self._compiler, self.redactor, request)

    def perform(self, db: Connection, call: Call, now_ms: int) -> Any:
        """Do it, inside the transaction that is open on `db`."""
        tx = self._transaction(db, now_ms, call.principal)
        handler = self._handler(call.operation.name)
        if call.answer is not None:
            handler = model_answers.recording(handler, call.answer)
        request = call.request
        if isinstance(request, Change) and request.idempotency_key is not None:
            return self._once(tx, handler, call, request, request.idempotency_key)
        return handler(tx, call.prepared)

    def _transaction(self, db: Connection, now_ms: int, principal: str) -> Transaction:
        return Transaction(
            db,
            now_ms,
            rules=self._rules,
            codec=self._codec,
            contents=self._contents,
            asker=asking_session(principal),
        )

    def _handler(self, name: str) -> Handler:
        compiling = COMPILING.get(name)
        if compiling is None:
            return HANDLERS[name]
        return lambda tx, request: compiling(tx, self._compiler, request)

    def _once(self, tx: Transaction, handler: Handler, call: Call, request: Change, key: str) -> Any:
        kept = _find_kept(tx, call, request, key)
        if kept is not None:
            return kept
        reply = handler(tx, call.prepared)
        encoded = msgspec.json.encode(model_answers.to_keep(reply, self.redactor))
        idempotency.keep(tx.db, call.principal, key, _hash_request(call.operation, request), encoded, tx.now_ms)
        return reply

    def forget_old_replies(self, db: Connection, now_ms: int) -> None:
        """Let go of replies whose keys nobody can expect to repeat any more."""
        idempotency.forget(db, now_ms - self._rules.limits.idempotency_days * DAY_MS)


def _find_kept(tx: Transaction, call: Call, request: Change, key: str) -> Raw | None:
    """The reply that this request got before, by its key."""
    kept = idempotency.find(tx.db, call.principal, key)
    if kept is None:
        return None
    if kept.request_hash != _hash_request(call.operation, request):
        raise IdempotencyConflict(f"key {key!r} was used for a different request", field="idempotency_key", value=key)
    return Raw(kept.reply)


def _hash_request(operation: Operation, request: Change) -> bytes:
    """What makes two requests the same: the operation and every parameter but the key."""
    params = msgspec.json.encode(replace(request, idempotency_key=None), order="deterministic")
    return hashlib.sha256(operation.name.encode() + b"\n" + params).digest()
