"""The question to a model before a change is made, and the change that its answer makes.

The engine itself asks no model. `question` says what to ask, from a transaction that only reads. The caller asks it,
for as long as that takes. `fill` turns request and answer into a change that is performed like any other. The question
has only what the database has, which has no secrets.
"""

from collections.abc import Callable
from typing import Any, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from ramet.engine.answers import answers
from ramet.engine.history import compiler, references
from ramet.engine.history.compression import compressible
from ramet.engine.transaction import Transaction
from ramet.errors import ModelFailed, ModelMissing, SpawnError
from ramet.model.history.child_branch import (
    DEFAULT_COLLAPSE_SYSTEM,
    DEFAULT_SUMMARY_SYSTEM,
    build_collapse_prompt,
    build_summarize_prompt,
)
from ramet.model.history.compilation import Piece
from ramet.model.redaction import Redactor
from ramet.protocol.history.child_branches import Collapse
from ramet.protocol.history.contexts import Compress
from ramet.protocol.hooks.notes import LogNoted
from ramet.protocol.operation import Change, Request
from ramet.protocol.system.ai import Answer, Embed, Embedded, Generate, Generated, Question
from ramet.store.history.child_branches import StoredSpawnPointers

AnyAnswer = TypeVar("AnyAnswer", bound=Answer)


class Filled(Request[None], frozen=True, kw_only=True):
    """A request with what a model answered. It never travels: it is made here and performed here."""

    asked: Change[Any]
    done: Struct
    """The request with the model's text in it, or the answer itself if nothing else was requested."""
    answer: Answer


def question(tx: Transaction, redactor: Redactor, request: Request[Any]) -> Question:
    """What a model has to be asked; refuses what would be refused afterwards."""
    match request:
        case Generate() | Embed():
            return request
        case Compress():
            pieces = compressible(tx, request)
            prompt = build_summarize_prompt(_text(pieces), target_tokens=request.target_tokens)
            return Generate(prompt=prompt, system=DEFAULT_SUMMARY_SYSTEM)
        case Collapse():
            return _ask_for_report(tx, redactor, request)
        case _:
            raise TypeError(f"{type(request).__name__} needs no model")


def _ask_for_report(tx: Transaction, redactor: Redactor, request: Collapse) -> Generate:
    pointer = StoredSpawnPointers(tx.db).get_parent(request.child)
    if pointer is None:
        raise SpawnError(
            f"branch {request.child!r} was not spawned: it has no parent to collapse into",
            field="child",
            value=request.child,
        )
    pieces = compiler.compile_context(tx, references.place(tx, request.child, "child")).context.visible()
    if not pieces:
        raise SpawnError(
            f"branch {request.child!r} is empty: there is nothing to report", field="child", value=request.child
        )
    instructions, _ = redactor.redact_value(request.instructions)
    prompt = build_collapse_prompt(
        _text(pieces), pointer.purpose, target_tokens=request.target_tokens, instructions=instructions
    )
    return Generate(prompt=prompt, system=DEFAULT_COLLAPSE_SYSTEM)


def _text(pieces: list[Piece]) -> str:
    return "\n\n".join(f"[{piece.role}]: {piece.text}" for piece in pieces)


def fill(request: Request[Any], answer: Answer) -> Filled:
    """The request as it is performed, now that a model has answered."""
    match request:
        case Compress() | Collapse():
            assert isinstance(answer, Generated)  # noqa: S101
            return Filled(asked=request, done=replace(request, text=_whole(answer)), answer=answer)
        case Generate() | Embed():
            return Filled(asked=request, done=answer, answer=answer)
        case _:
            raise TypeError(f"{type(request).__name__} needs no model")


def _whole(answer: Generated) -> str:
    """The text of a complete answer: half a summary would replace the whole range."""
    text = answer.text.strip()
    if answer.finish_reason not in (None, "stop"):
        raise ModelFailed(f"{answer.model} did not finish: {answer.finish_reason}", value=answer.finish_reason)
    if not text:
        raise ModelFailed(f"{answer.model} returned an empty answer", value=answer.model)
    return text


@answers(Generate)
def give_text(tx: Transaction, answer: Generated | Generate) -> Generated:  # noqa: ARG001
    """Hand on what a model wrote."""
    return _answered(answer)


@answers(Embed)
def give_vectors(tx: Transaction, answer: Embedded | Embed) -> Embedded:  # noqa: ARG001
    """Hand on a model's vectors."""
    return _answered(answer)


def _answered(answer: AnyAnswer | Question) -> AnyAnswer:
    if isinstance(answer, Generate | Embed):
        raise ModelMissing("no model was asked")
    return answer


def record(tx: Transaction, answer: Answer) -> None:
    """Write down which model was asked and what it used, and nothing of what was said."""
    usage = answer.usage
    data = {"model": answer.model, "input_tokens": usage.input_tokens, "output_tokens": usage.output_tokens}
    tx.record("ai.used", data=data)


def recording(handler: Callable[[Transaction, Any], Any], answer: Answer) -> Callable[[Transaction, Any], Any]:
    """The handler of a change for which a model was asked."""

    def handle(tx: Transaction, prepared: Any) -> Any:
        reply = handler(tx, prepared)
        record(tx, answer)
        return reply

    return handle


def to_keep(reply: Any, redactor: Redactor) -> Any:
    """A reply as it is kept for its idempotency key. A model's text may repeat a secret from its question; and a caller
    that writes a file for a reply must be able to tell a second reply from the first.
    """
    match reply:
        case Generated():
            return replace(reply, text=redactor.redact(reply.text).text)
        case LogNoted():
            return replace(reply, is_repeated=True)
    return reply
