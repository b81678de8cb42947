"""Contexts: what a model is given of a branch."""

from ramet.engine.answers import answers
from ramet.engine.history import compiler, context_pages, references
from ramet.engine.history.context_view import ContextView
from ramet.engine.transaction import Transaction
from ramet.errors import ReplyTooLarge
from ramet.model.history.branch import Point
from ramet.model.history.compilation import Piece, within_budget, within_window
from ramet.model.history.provider_messages import RENDERERS, Renderer
from ramet.protocol.history.contexts import Compile, Compiled, Window

_EVERY_MESSAGE = 2**31 - 1
_LEAST_TOKEN_BYTES = 2
"""Hardly any text has fewer bytes for each token."""


@answers(Compile)
def compile_branch(tx: Transaction, request: Compile) -> Compiled:
    """A branch as messages, within a budget and a window. What is left out stays where it is."""
    if request.limit is not None or request.cursor is not None:
        return context_pages.compile_page(tx, request, request.limit or _EVERY_MESSAGE)
    point = references.either(tx, request.branch, request.hash)
    if request.window is None and request.max_tokens is None:
        if request.since is None:
            _refuse_too_long(tx, point)
        kept = compiler.compile_context(tx, point)
        reply = _reply(point, compiler.render(tx, kept, request.format), kept.context.visible(), 0)
    else:
        reply = _compile_part(tx, point, request)
    return reply if request.since is None else _since(tx, request, request.since, reply)


def _refuse_too_long(tx: Transaction, point: Point | None) -> None:
    """Refuse a context whose texts cannot fit in a reply, without reading them. What is hidden does not count."""
    most = tx.max_reply_bytes
    if most is None or point is None or point.token_sum * _LEAST_TOKEN_BYTES <= most:
        return
    size = ContextView(tx, point).tokens() * _LEAST_TOKEN_BYTES
    if size > most:
        raise ReplyTooLarge(f"the context has more than {size} bytes, and a reply at most {most}", field="limit")


def _compile_part(tx: Transaction, point: Point | None, request: Compile) -> Compiled:
    """What fits. Only this much is read, unless the whole context is there."""
    kept = compiler.find_kept(tx, point)
    if kept is not None:
        pieces = kept.context.visible()
        chosen = _choose(pieces, request.window, request.max_tokens)
        return _reply(point, _render(chosen, request.format), chosen, len(pieces) - len(chosen))
    view = ContextView(tx, point)
    placed = view.choose(request.window, request.max_tokens)
    chosen = [piece for _, piece in view.with_texts(placed.forward())]
    return _reply(point, _render(chosen, request.format), chosen, view.count - placed.count)


def _reply(point: Point | None, renderer: Renderer, pieces: list[Piece], omitted: int) -> Compiled:
    messages, prefix_hash = renderer.finish()
    return Compiled(
        messages=messages,
        tokens=sum(piece.tokens for piece in pieces),
        prefix_hash=prefix_hash,
        omitted=omitted,
        head=point.hash.hex() if point else None,
        system=renderer.system(),
    )


def _choose(pieces: list[Piece], window: Window | None, max_tokens: int | None) -> list[Piece]:
    chosen = pieces if window is None else within_window(pieces, window.first, window.last)
    return chosen if max_tokens is None else within_budget(chosen, max_tokens)


def _render(pieces: list[Piece], form: str) -> Renderer:
    renderer = RENDERERS[form]()
    renderer.feed(pieces)
    return renderer


def _since(tx: Transaction, request: Compile, since: str, reply: Compiled) -> Compiled:
    """Only what came behind a commit, where what the caller has is still the beginning; else everything."""
    before = compiler.render(tx, compiler.compile_context(tx, references.commit(tx, since, "since")), request.format)
    known, _ = before.finish()
    if reply.omitted or reply.messages[: len(known)] != known or before.system() != reply.system:
        return reply
    return Compiled(
        messages=reply.messages[len(known) :],
        tokens=reply.tokens,
        prefix_hash=reply.prefix_hash,
        omitted=0,
        head=reply.head,
        system=reply.system,
        is_continuation=True,
    )
