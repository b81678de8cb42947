"""Compiled pieces as the messages of a provider: OpenAI's, Anthropic's, or plain text.

A renderer is fed one piece at a time and can be copied, so that one more piece costs one more message. Both providers
refuse a tool call without its result, and a result without its call: a call that was never answered gets a result that
says so, and a result whose call is gone becomes plain text. They want the results of calls made together before the
next call: a call made while others are being answered waits until they are.
"""

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from typing import Any, Self

import msgspec

from ramet.model.history.compilation import Piece

Message = dict[str, Any]

_NO_RESULT = "(no result was recorded)"


class Renderer(ABC):
    """Messages so far, and the tool calls that wait for their results."""

    copies_texts = False
    """Whether its messages have texts of their own, and not those of the pieces."""

    def __init__(self) -> None:
        self._messages: list[Message] = []
        self._is_last_ours = False
        """Whether the last message was made here and may be changed in place: a copy shares those before it."""
        self._joined = 0
        """How many pieces became part of a message that was there."""
        self._digest = hashlib.sha256(type(self).__name__.encode())
        """Of all pieces so far. The messages follow from them, so that equal digests mean equal messages; and the texts
        were hashed when they were committed, so that theirs need not be read again."""
        self._open_calls: dict[str, str] = {}
        self._is_answering = False
        """Whether a result of the calls made together has come."""
        self._waiting: list[Piece] = []
        """Calls, and their results, that come when these are answered."""

    @property
    def count(self) -> int:
        """How many messages there are."""
        return len(self._messages)

    @property
    def messages(self) -> list[Message]:
        """The messages so far. The last one may still grow, and calls may wait for their results."""
        return self._messages

    def copy(self) -> Self:
        """The same, to be continued apart."""
        other = type(self)()
        other.__dict__.update(self.__dict__)
        self._is_last_ours = other._is_last_ours = False
        other._digest = self._digest.copy()
        other._messages = list(self._messages)
        other._open_calls = dict(self._open_calls)
        other._waiting = list(self._waiting)
        return other

    def feed(self, pieces: Sequence[Piece]) -> None:
        """Add pieces in order."""
        for piece in pieces:
            if piece.payload is None and piece.role != "tool" and not self._open_calls:
                self._text(piece.role, piece.text)
            else:
                self._add(piece)
        self._digest.update(b"".join([_mark(piece) for piece in pieces]))

    def begin_with(self, piece: Piece) -> bool:
        """Add a piece. True if it began a message and nothing was open before it: another renderer that began with this
        piece would go on with the same messages.
        """
        is_settled, count, joined = not self._open_calls, self.count, self._joined
        self.feed([piece])
        return is_settled and (self.count, self._joined) == (count + 1, joined)

    def finish(self) -> tuple[list[Message], str]:
        """The messages with every call answered, and the hash that names the list."""
        done = self.copy() if self._open_calls else self
        if self._open_calls:
            done._close_calls()
        self._is_last_ours = False
        return list(done._messages), self._digest.hexdigest()

    def system(self) -> str | None:
        """What the provider takes apart from the messages."""
        return None

    def _add(self, piece: Piece) -> None:
        payload = piece.payload or {}
        call_id = payload.get("call_id") if piece.content_type == "tool_io" else None
        if call_id and payload.get("direction") == "call":
            self._add_call(piece, call_id, str(payload.get("tool_name")))
        elif call_id in self._open_calls:
            self._answer(call_id, piece.text, is_error=payload.get("status") == "error")
        elif call_id and any((waiting.payload or {}).get("call_id") == call_id for waiting in self._waiting):
            self._waiting.append(piece)
        else:
            self._close_calls()
            self._text(*as_text(piece))

    def _add_call(self, piece: Piece, call_id: str, tool_name: str) -> None:
        if call_id in self._open_calls:
            self._close_calls()
        if self._is_answering:
            self._waiting.append(piece)
        else:
            self._open_calls[call_id] = tool_name
            self._call(piece, call_id, tool_name)

    def _answer(self, call_id: str, text: str, *, is_error: bool) -> None:
        del self._open_calls[call_id]
        self._result(call_id, text, is_error=is_error)
        self._is_answering = bool(self._open_calls)
        if not self._is_answering:
            waiting, self._waiting = self._waiting, []
            for piece in waiting:
                self._add(piece)

    def _close_calls(self) -> None:
        while self._open_calls:
            self._answer(next(iter(self._open_calls)), _NO_RESULT, is_error=True)

    @abstractmethod
    def _text(self, role: str, text: str) -> None:
        """A plain message."""

    @abstractmethod
    def _call(self, piece: Piece, call_id: str, tool_name: str) -> None:
        """A tool's call."""

    @abstractmethod
    def _result(self, call_id: str, text: str, *, is_error: bool) -> None:
        """A tool's result."""


def hash_pieces(form: str, pieces: Iterable[Piece]) -> str:
    """The hash that names the messages of some pieces, from the hashes of their texts."""
    digest = hashlib.sha256(RENDERERS[form].__name__.encode())
    for piece in pieces:
        digest.update(_mark(piece))
    return digest.hexdigest()


def list_system(pieces: Iterable[Piece]) -> list[int]:
    """Which of the pieces Anthropic takes apart from the messages: their positions. Their texts are not needed."""
    finder = _SystemFinder()
    for position, piece in enumerate(pieces):
        finder.feed([msgspec.structs.replace(piece, text=str(position))])
    return [int(position) for position in finder.texts]


def _mark(piece: Piece) -> bytes:
    """All that a piece's messages depend on, told apart from what comes behind it: a hash of 32 bytes, and a line."""
    if piece.payload is None:
        return b"%b%b\n" % (piece.content_hash, piece.role.encode())
    payload = msgspec.json.encode([piece.content_type, piece.payload], order="deterministic")
    return b"%b%b %b\n" % (piece.content_hash, piece.role.encode(), payload)


def as_text(piece: Piece) -> tuple[str, str]:
    """The role and text of a piece that is no call and no call's result; what a tool said alone is told by the user."""
    if piece.role != "tool":
        return piece.role, piece.text
    name = (piece.payload or {}).get("tool_name") or "tool"
    return "user", f"[{name}]\n{piece.text}"


class OpenAI(Renderer):
    """Chat completions: calls on the assistant's message, results as messages of role tool."""

    def _text(self, role: str, text: str) -> None:
        self._messages.append({"role": role, "content": text})

    def _call(self, piece: Piece, call_id: str, tool_name: str) -> None:
        call = {"id": call_id, "type": "function", "function": {"name": tool_name, "arguments": piece.text or "{}"}}
        last = self._messages[-1] if self._messages else None
        if last is not None and last["role"] == "assistant":
            self._messages[-1] = {**last, "tool_calls": [*last.get("tool_calls", ()), call]}
            self._joined += 1
        else:
            self._messages.append({"role": "assistant", "content": None, "tool_calls": [call]})

    def _result(self, call_id: str, text: str, *, is_error: bool) -> None:  # noqa: ARG002 - OpenAI has no such mark
        self._messages.append({"role": "tool", "tool_call_id": call_id, "content": text})


class Anthropic(Renderer):
    """Messages of content blocks by turns; the system text stands apart."""

    def __init__(self) -> None:
        super().__init__()
        self._system: list[str] = []

    def copy(self) -> Self:
        other = super().copy()
        other._system = list(self._system)
        return other

    def system(self) -> str | None:
        return "\n\n".join(self._system) or None

    def _text(self, role: str, text: str) -> None:
        if role == "system":
            self._system.append(text)
        else:
            self._block(role, {"type": "text", "text": text})

    def _call(self, piece: Piece, call_id: str, tool_name: str) -> None:
        block = {"type": "tool_use", "id": call_id, "name": tool_name, "input": _arguments(piece.text)}
        self._block("assistant", block)

    def _result(self, call_id: str, text: str, *, is_error: bool) -> None:
        block: Message = {"type": "tool_result", "tool_use_id": call_id, "content": text}
        self._block("user", {**block, "is_error": True} if is_error else block)

    def _block(self, role: str, block: Message) -> None:
        last = self._messages[-1] if self._messages else None
        if last is None or last["role"] != role:
            self._messages.append({"role": role, "content": [block]})
        else:
            if not self._is_last_ours:
                self._messages[-1] = last = {"role": role, "content": list(last["content"])}
            last["content"].append(block)
            self._joined += 1
        self._is_last_ours = True


class _SystemFinder(Anthropic):
    """Keeps no messages. Each piece has its position for a text, so that the system texts are positions."""

    @property
    def texts(self) -> list[str]:
        return self._system

    def _block(self, role: str, block: Message) -> None:
        """A message, which is not needed."""


class PlainText(Renderer):
    """One text per piece, headed by its role."""

    copies_texts = True

    def _text(self, role: str, text: str) -> None:
        self._messages.append({"role": role, "content": f"[{role.capitalize()}]\n{text}"})

    def _call(self, piece: Piece, call_id: str, tool_name: str) -> None:  # noqa: ARG002 - a reader needs no id
        self._messages.append({"role": "assistant", "content": f"[Tool call: {tool_name}]\n{piece.text}"})

    def _result(self, call_id: str, text: str, *, is_error: bool) -> None:  # noqa: ARG002
        title = "Tool error" if is_error else "Tool result"
        self._messages.append({"role": "tool", "content": f"[{title}]\n{text}"})


def _arguments(text: str) -> Any:
    try:
        arguments = msgspec.json.decode(text)
    except msgspec.DecodeError:
        return {"text": text}
    return arguments if isinstance(arguments, dict) else {"arguments": arguments}


RENDERERS: dict[str, type[Renderer]] = {"openai": OpenAI, "anthropic": Anthropic, "text": PlainText}
