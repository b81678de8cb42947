"""The engine: from an operation's name to its function, once, in the transaction that it is given.

A request that carries an idempotency key is done once: its reply is kept in the same transaction, and the same request
with the same key gets that reply again.
"""

import hashlib
from collections.abc import Callable
from typing import Any

import msgspec
from msgspec import Raw, Struct
from msgspec.structs import replace

from ramet.config.settings import LimitSettings
from ramet.engine import agents, efforts, events, messages, projects, secrets, sessions, skills, tasks
from ramet.engine.transaction import Transaction
from ramet.errors import IdempotencyConflict
from ramet.model.redaction import Redactor
from ramet.protocol.operations import Operation
from ramet.protocol.requests import AppendMessage, Change, Request
from ramet.store import idempotency
from ramet.store.blobs import Codec
from ramet.store.connection import Connection

Handler = Callable[[Transaction, Any], Any]

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
}
"""Every operation that the engine answers, and the function that does."""

DAY_MS = 86_400_000


class Call(Struct, frozen=True):
    """An operation about to be performed, with what could be prepared outside the transaction."""

    operation: Operation
    request: Request
    prepared: Any
    principal: str


class Engine:
    """Performs operations. It holds no state of its own: everything is in the database."""

    def __init__(self, *, limits: LimitSettings, codec: Codec, redactor: Redactor) -> None:
        self._limits = limits
        self._codec = codec
        self._redactor = redactor

    def prepare(self, operation: Operation, request: Request, principal: str) -> Call:
        """What needs no transaction: redact, hash and compress. May run on any thread."""
        if isinstance(request, AppendMessage):
            return Call(operation, request, messages.prepare(request, self._redactor, self._codec), principal)
        return Call(operation, request, secrets.redact(request, self._redactor), principal)

    def perform(self, db: Connection, call: Call, now_ms: int) -> Any:
        """Do it, inside the transaction that is open on `db`."""
        tx = Transaction(db, now_ms, self._limits, self._codec)
        handler = HANDLERS[call.operation.name]
        request = call.request
        if isinstance(request, Change) and request.idempotency_key is not None:
            return self._once(tx, handler, call, request, request.idempotency_key)
        return handler(tx, call.prepared)

    def _once(self, tx: Transaction, handler: Handler, call: Call, request: Change, key: str) -> Any:
        request_hash = _hash_request(call.operation, request)
        kept = idempotency.find(tx.db, call.principal, key)
        if kept is not None:
            if kept.request_hash != request_hash:
                raise IdempotencyConflict(
                    f"key {key!r} was used for a different request", field="idempotency_key", value=key
                )
            return Raw(kept.reply)
        reply = handler(tx, call.prepared)
        encoded = msgspec.json.encode(reply)
        idempotency.keep(tx.db, call.principal, key, request_hash, encoded, tx.now_ms)
        return reply

    def forget_old_replies(self, db: Connection, now_ms: int) -> None:
        """Let go of replies whose keys nobody can expect to repeat any more."""
        idempotency.forget(db, now_ms - self._limits.idempotency_days * DAY_MS)


def _hash_request(operation: Operation, request: Change) -> bytes:
    """What makes two requests the same: the operation and every parameter but the key."""
    params = msgspec.json.encode(replace(request, idempotency_key=None), order="deterministic")
    return hashlib.sha256(operation.name.encode() + b"\n" + params).digest()
