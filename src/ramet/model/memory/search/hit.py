"""A hit: one place in what is remembered that answers a query, and what is said about it."""

from typing import Literal, get_args

from msgspec import Struct

Kind = Literal[
    "prompt",
    "answer",
    "instruction",
    "title",
    "goal",
    "decision",
    "note",
    "finding",
    "phase",
    "handoff",
    "report",
    "command",
    "output",
    "error",
    "edit",
    "path",
    "chunk",
]
"""What a text is. `chunk` is a text that a program gave to `search.upsert`."""

KINDS: tuple[Kind, ...] = get_args(Kind)

TOOL_KINDS: frozenset[Kind] = frozenset({"command", "output", "error", "edit", "path"})
"""What tools were given and returned. An ordinary search leaves them out: there is much of it, and little is meant."""

Rung = Literal["phrase", "all", "most", "some", "forms", "part", "error", "semantic"]
"""How a hit was found: the quoted phrase; all words; all but the commonest; the rare ones of them; other forms and
spellings; the signature of an error; the meaning.
"""


class Hit(Struct, frozen=True, kw_only=True):
    """One place that answers a query."""

    session_id: int | None
    effort_id: int | None
    project_id: int | None
    kind: Kind
    place: str
    """Names the place: `s7:120` is message 120 of session 7, `s7` the session, `e12` the effort."""
    time: str
    snippet: str
    highlights: list[list[int]]
    """Where the words of the query stand in the snippet: start and end, in characters."""
    rung: Rung
    score: float
    """Higher is better; only scores of one reply can be compared."""
    open_with: str
    """The command that shows the place."""
    resume_with: str | None = None
    """The command with which the agent's own program resumes the session."""
    role: str | None = None
    agent: str | None = None
    """The agent program, or the name of the agent."""
    title: str | None = None
    """What the session is called."""
    message_id: int | None = None
    commit: str | None = None
    exit_status: int | None = None
    """Of a command: how it ended, if that was recorded."""
