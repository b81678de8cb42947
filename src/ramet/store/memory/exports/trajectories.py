"""Sessions as ATIF or as Markdown, read a few messages at a time."""

from collections.abc import Iterator
from typing import Literal

import msgspec
from msgspec.structs import replace

from ramet.model.instant import to_iso
from ramet.model.memory.exports import atif, markdown
from ramet.model.memory.exports.trajectory import SessionFacts, Spent, Turn
from ramet.store.database.blobs import Codec
from ramet.store.database.connection import Connection
from ramet.store.database.queries import QueryFile
from ramet.store.memory.exports.scope import Scope

_sql = QueryFile("memory/archives")

_PAGE = 100
_DEEPEST = 100
"""Sub-agents further down are left out; no agent spawns so deep."""


class Trajectories:
    """The sessions of a scope as documents."""

    def __init__(self, db: Connection, codec: Codec, scope: Scope, form: Literal["atif", "markdown"]) -> None:
        self._db = db
        self._codec = codec
        self._scope = scope
        self._form = form
        self.counts = {"sessions": 0, "messages": 0}

    def parts(self) -> Iterator[bytes]:
        """The file. ATIF has one document for each session that nobody in the export spawned, each on its own line."""
        for session_id in self._roots():
            if self._form == "atif":
                yield from self._document(session_id, 0)
                yield b"\n"
            else:
                yield from (part.encode(errors="replace") for part in self._markdown(session_id))

    def _roots(self) -> Iterator[int]:
        below = {child for session_id in self._scope.sessions for child in self._children(session_id)}
        return (session_id for session_id in self._scope.sessions if session_id not in below)

    def _children(self, session_id: int) -> list[int]:
        rows = self._db.all(_sql.sessions_below, id=session_id)
        return [child for (child,) in rows if child in self._scope.sessions]

    def _markdown(self, session_id: int) -> Iterator[str]:
        waiting = [session_id]
        while waiting:
            next_id = waiting.pop()
            yield from markdown.render(self._facts(next_id), self._turns(next_id))
            waiting += reversed(self._children(next_id))

    def _document(self, session_id: int, depth: int) -> Iterator[bytes]:
        """One JSON object, written as it is read: no session is ever whole in memory."""
        facts = self._facts(session_id)
        children = self._children(session_id) if depth < _DEEPEST else []
        yield msgspec.json.encode(atif.head(facts))[:-1] + b',"steps":['
        number = 0
        for step in atif.steps(self._turns(session_id), [f"s{child}" for child in children]):
            yield (b"," if number else b"") + msgspec.json.encode(step)
            number += 1
        yield b"]," + msgspec.json.encode(atif.tail(facts, number))[1:-1]
        if children:
            yield b',"subagent_trajectories":['
            for place, child in enumerate(children):
                yield b"," if place else b""
                yield from self._document(child, depth + 1)
            yield b"]"
        yield b"}"

    def _facts(self, session_id: int) -> SessionFacts:
        row = self._db.must(_sql.facts, id=session_id)
        names = SessionFacts.__struct_fields__
        calls, *tokens, cost, is_estimated = self._db.must(_sql.spent, id=session_id)
        names_of_tokens = ("input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens")
        spent = Spent(
            calls=calls,
            **dict(zip(names_of_tokens, map(int, tokens), strict=True)),
            cost_usd=None if cost is None else float(cost),
            is_estimated=bool(is_estimated),
        )
        self.counts["sessions"] += 1
        return replace(SessionFacts(**dict(zip(names, row, strict=False))), spent=spent)

    def _turns(self, session_id: int) -> Iterator[Turn]:
        after = 0
        while rows := self._db.all(_sql.turns, id=session_id, after=after, limit=_PAGE):
            for after, role, tool_name, at_ms, metadata, kind, size, data, *thought in rows:  # noqa: B007
                self.counts["messages"] += 1
                yield Turn(
                    role=role,
                    text=self._codec.unpack_text(kind, size, data),
                    at=to_iso(at_ms),
                    tool_name=tool_name,
                    metadata=None if metadata is None else msgspec.json.decode(metadata),
                    reasoning=None if thought[0] is None else self._codec.unpack_text(*thought),
                )
