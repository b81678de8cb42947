"""A transcript: the file in which an agent program keeps a session, read as entries that any program could write.

It is the truth about what was said: hooks may be dropped, a line of a file is there or is not.
"""

from datetime import datetime
from typing import Any, Literal

from msgspec import Struct

from ramet.model.history.image import Image

MESSAGE_USAGE = "usage/"
"""How the key of what one message used begins. A copy of a session repeats its messages, and their keys."""
RUNNING_COST = "cost/"
"""How the key of a cost begins that is a sum from a session's beginning on. A copy goes on with both."""
EntryKind = Literal["text", "reasoning", "tool_call", "tool_result", "compaction", "usage", "meta"]


class Entry(Struct, frozen=True, kw_only=True):
    """One thing that a transcript says."""

    key: str
    """The vendor's own id of it, unique within the vendor; the same line read twice has the same key."""
    kind: EntryKind
    at: datetime | None
    role: Literal["user", "assistant", "system", "tool"] = "assistant"
    text: str = ""
    tool: str | None = None
    call_id: str | None = None
    is_error: bool = False
    model: str | None = None
    usage: dict[str, int | float] | None = None
    """input_tokens, output_tokens, cache_read_tokens, cache_write_tokens and cost_usd, as `stream.Usage` has them."""
    images: list[Image] = []
    """The images that the text names."""
    prompt_id: str | None = None
    """The id of the prompt, which a hook may have reported before."""
    meta: dict[str, Any] | None = None
    """Of a `meta` entry: `title` and `is_given`, what a session is called and whether a person called it so; `origin`,
    the program's own id of the session of which it is a copy.
    """


class Reading(Struct, frozen=True, kw_only=True):
    """What was read of a transcript from one place on."""

    entries: list[Entry]
    offset: int
    """Where to go on: behind the last whole line."""
    skipped: int = 0
    """Lines that could not be read."""
