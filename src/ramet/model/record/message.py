"""A message: one turn of a session's transcript. The text is the commit's blob; the row only points at it."""

from datetime import datetime
from typing import Literal

from msgspec import Struct

Role = Literal["user", "assistant", "system", "tool"]


class Message(Struct, frozen=True, kw_only=True):
    """One row of `messages`, with its content read from the blob."""

    id: int
    session_id: int
    role: Role
    content: str
    tool_name: str | None
    timestamp: datetime
    commit: str
    """The hash of the commit that carries the content."""
    source_key: str | None = None
