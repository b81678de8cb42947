"""The engine: from a request to the function that answers it, once, in the transaction that it is given.

A request that carries an idempotency key is done once: its reply is kept in the same transaction, and the same request
with the same key gets that reply again.
"""

import hashlib
from collections.abc import Callable, Mapping
from typing import Any, Self

import msgspec
from msgspec import Raw, Struct
from msgspec.structs import asdict, replace

from ramet.config.environment import Environment
from ramet.config.prices import read_table
from ramet.config.settings import Settings
from ramet.engine import scopes, secrets
from ramet.engine.answers import find_preparation, load
from ramet.engine.contents import Contents
from ramet.engine.context_cache import ContextCache
from ramet.engine.history import model_answers
from ramet.engine.history.drafts import Drafted, ReadyDraft, make_ready
from ramet.engine.history.garbage import CollectedInSteps
from ramet.engine.history.model_answers import Filled
from ramet.engine.memory.search.index_feed import IndexFeed
from ramet.engine.memory.search.ladder import Semantic
from ramet.engine.memory.search.vectors import by_meaning
from ramet.engine.record.skills import Discovered, FoundSkills
from ramet.engine.transaction import Rules, Transaction
from ramet.errors import IdempotencyConflict, RametError
from ramet.model.history.commit import estimate_tokens
from ramet.model.history.tokens import TokenCounter, make_counter
from ramet.model.memory.search.vector_source import VectorSource
from ramet.model.principal import asking_session
from ramet.model.redaction import Redactor
from ramet.model.spawn.confinement import Confinement
from ramet.model.work.price import Prices, decode_table, own_models
from ramet.protocol.operation import Change, Request
from ramet.protocol.operations import Operation
from ramet.protocol.record.skills import SkillDefinition
from ramet.protocol.record.starting_points import StartingPoint
from ramet.protocol.system.ai import Answer, Question
from ramet.store import idempotency
from ramet.store.database.blobs import Codec
from ramet.store.database.connection import Connection
from ramet.store.memory.index.search_index import SearchIndex

Handler = Callable[[Transaction, Any], Any]

DAY_MS = 86_400_000


class Call(Struct, frozen=True):
    """An operation about to be performed, with what could be prepared outside the transaction."""

    operation: Operation
    request: Request[Any]
    prepared: Any
    principal: str
    answer: Answer | None = None
    """What a model answered, if one was asked."""
    found_skills: FoundSkills | None = None
    """The files of the skills that the request names."""
    start: StartingPoint = StartingPoint()
    """Where the work starts that the request adds."""
    draft: ReadyDraft[Any] | None = None
    """What was read of the history before."""


class Ready(Request[None], frozen=True, kw_only=True):
    """A change that was prepared before it was submitted. It never travels to a client or from one."""

    call: Call


class Engine:
    """Performs operations. Everything is in the database; what it keeps of its own are answers worked out before."""

    def __init__(
        self,
        rules: Rules,
        *,
        codec: Codec,
        redactor: Redactor,
        count_tokens: TokenCounter = estimate_tokens,
        index: SearchIndex | None = None,
    ) -> None:
        """Without an index of its owner's it has a temporary one, which is fed when somebody searches."""
        self._rules = rules
        self._codec = codec
        self.redactor = redactor
        self._contents = Contents(redactor, codec, count_tokens)
        self._contexts = ContextCache()
        self.index = index or SearchIndex()
        if index is None:
            self.feed_on_demand()
        self._semantic: Semantic | None = None
        self.max_reply_bytes: int | None = None
        """What a reply may have here, if there is a limit: a read that cannot fit is refused before it is made."""
        self._answers = load()

    @classmethod
    def configured(
        cls,
        settings: Settings,
        environment: Environment,
        profiles: Mapping[str, Confinement],
        *,
        resume_commands: Mapping[str, tuple[str, ...]] | None = None,
        index: SearchIndex | None = None,
    ) -> Self:
        """As the settings say, with the secrets and the drivers that the entry point found."""
        redaction, tokens = settings.redaction, settings.tokens
        rules = Rules(
            limits=settings.limits,
            work=settings.work,
            runs=settings.runs,
            spawn=settings.spawn,
            hooks=settings.hooks,
            prices=Prices(decode_table(read_table()).models, own_models(**asdict(settings.prices))),
            profiles=profiles,
            resume_commands=resume_commands or {},
        )
        return cls(
            rules,
            codec=Codec(),
            redactor=Redactor(redaction.patterns, environment.denied, is_enabled=redaction.enabled),
            count_tokens=make_counter(tokens.counter, tokens.model, tokens.calibration),
            index=index,
        )

    def feed_on_demand(self) -> None:
        """Bring the index up to date before each query, in the transaction of whoever asks: no daemon feeds it."""
        self.index.freshen = IndexFeed(self.index, self._codec).catch_up

    def search_by_meaning(self, source: VectorSource) -> None:
        """Ask for the meaning of a query, too, if its words do not fill the page."""
        self._semantic = by_meaning(self.index, self._codec, source)

    def prepare(self, operation: Operation, request: Request[Any], principal: str) -> Call:
        """What needs no transaction: redact, hash and compress. May run on any thread."""
        if isinstance(request, Ready):
            return replace(request.call, principal=principal)
        if isinstance(request, Filled):
            asked, done = secrets.redact(request.asked, self.redactor), request.done
            done = secrets.redact(done, self.redactor) if isinstance(done, Request) else done
            return Call(operation, asked, done, principal, request.answer)
        if isinstance(request, Drafted):
            draft = make_ready(request.found, self._contents)
            return replace(self.prepare(operation, request.asked, principal), draft=draft)
        if isinstance(request, CollectedInSteps):
            return Call(operation, request.asked, request.deleted, principal)
        if isinstance(request, Discovered):
            found = {name: self._clean(each) for name, each in request.found.items()}
            start = secrets.redact(request.start or StartingPoint(), self.redactor)
            return replace(self.prepare(operation, request.asked, principal), found_skills=found, start=start)
        # First: whatever the rest does with the request, it does without its secrets, the idempotency key included.
        clean = secrets.redact(request, self.redactor)
        prepare = find_preparation(type(request))
        return Call(operation, clean, clean if prepare is None else prepare(clean, self._contents), principal)

    def _clean(self, found: SkillDefinition | RametError) -> SkillDefinition | RametError:
        return found if isinstance(found, RametError) else secrets.redact(found, self.redactor)

    def question(self, db: Connection, call: Call, now_ms: int) -> Question | Raw:
        """The question for a model before a change can be made; or the reply, if the change was made before."""
        tx = self._transaction(db, now_ms, call)
        request = call.request
        if isinstance(request, Change) and request.idempotency_key is not None:
            kept = _find_kept(tx, call, request, request.idempotency_key)
            if kept is not None:
                return kept
        return model_answers.question(tx, self.redactor, request)

    def perform(self, db: Connection, call: Call, now_ms: int) -> Any:
        """Do it, inside the transaction that is open on `db`."""
        tx = self._transaction(db, now_ms, call)
        handler = self._answers.find(call.operation.request)
        if call.answer is not None:
            handler = model_answers.recording(handler, call.answer)
        request = call.request
        if isinstance(request, Change) and request.idempotency_key is not None:
            return self._once(tx, handler, call, request, request.idempotency_key)
        return handler(tx, call.prepared)

    def _transaction(self, db: Connection, now_ms: int, call: Call) -> Transaction:
        tx = Transaction(
            db,
            now_ms,
            rules=self._rules,
            codec=self._codec,
            contents=self._contents,
            contexts=self._contexts,
            asker=asking_session(call.principal),
            ring=call.operation.ring,
        )
        tx.index = self.index
        tx.semantic = self._semantic
        tx.max_reply_bytes = self.max_reply_bytes
        tx.found_skills = call.found_skills or {}
        tx.start = call.start
        tx.draft = call.draft
        scopes.admit(tx, call.operation)
        return tx

    def _once(self, tx: Transaction, handler: Handler, call: Call, request: Change[Any], key: str) -> Any:
        kept = _find_kept(tx, call, request, key)
        if kept is not None:
            return kept
        reply = handler(tx, call.prepared)
        encoded = msgspec.json.encode(model_answers.to_keep(reply, self.redactor))
        idempotency.keep(tx.db, call.principal, key, _hash_request(call.operation, request), encoded, tx.now_ms)
        return reply

    def forget_old_replies(self, db: Connection, now_ms: int, limit: int) -> int:
        """Delete some of the replies whose keys are too old to be repeated; how many these were."""
        return idempotency.forget(db, now_ms - self._rules.limits.idempotency_days * DAY_MS, limit)


def _find_kept(tx: Transaction, call: Call, request: Change[Any], key: str) -> Raw | None:
    """The reply that this request got before, by its key."""
    kept = idempotency.find(tx.db, call.principal, key)
    if kept is None:
        return None
    if kept.request_hash != _hash_request(call.operation, request):
        raise IdempotencyConflict(
            f"idempotency key {key!r} was already used for a different request", field="idempotency_key", value=key
        )
    return Raw(kept.reply)


def _hash_request(operation: Operation, request: Change[Any]) -> bytes:
    """What makes two requests the same: the operation and every parameter but the key."""
    params = msgspec.json.encode(replace(request, idempotency_key=None), order="deterministic")
    return hashlib.sha256(operation.name.encode() + b"\n" + params).digest()
