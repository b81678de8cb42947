"""What a session said and did, in the parts that an export in another program's format needs."""

from typing import Any

from msgspec import Struct

from ramet.model.history.content import PAYLOAD


class Turn(Struct, frozen=True, kw_only=True):
    """One message, and what the agent thought just before it."""

    role: str
    text: str
    at: str
    tool_name: str | None = None
    metadata: dict[str, Any] | None = None
    reasoning: str | None = None

    @property
    def payload(self) -> dict[str, Any]:
        """What its content says beside its text."""
        payload = (self.metadata or {}).get(PAYLOAD)
        return payload if isinstance(payload, dict) else {}

    @property
    def is_call(self) -> bool:
        """Whether it is a call of a tool, and no result."""
        return self.payload.get("direction") == "call"

    @property
    def is_tool(self) -> bool:
        """Whether it is of a tool: its call, which an agent makes, or its result."""
        return self.role == "tool" or self.is_call

    @property
    def call_id(self) -> str | None:
        """By which a result names its call."""
        call_id = self.payload.get("call_id")
        return call_id if isinstance(call_id, str) else None


class Spent(Struct, frozen=True, kw_only=True):
    """What a session used."""

    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0
    cost_usd: float | None = None
    is_estimated: bool = False

    @property
    def prompt_tokens(self) -> int:
        """All that the models read, from the cache or not."""
        return self.input_tokens + self.cache_read_tokens + self.cache_write_tokens


class SessionFacts(Struct, frozen=True, kw_only=True):
    """A session as an export shows it."""

    id: int
    effort_id: int
    task_id: str
    project: str
    skill: str
    driver: str | None
    native_id: str | None
    model: str | None
    title: str | None
    prompt: str | None
    created_at: str
    ended_at: str | None
    outcome: str | None
    depth: int
    purged_at: str | None
    spent: Spent = Spent()

    @property
    def name(self) -> str:
        """How it is called everywhere else."""
        return f"s{self.id}"
