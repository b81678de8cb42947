"""Requests and replies about usage: what agents used in a period, and what the next efforts will probably use."""

from datetime import datetime
from typing import Annotated, Literal

from msgspec import Meta, Struct, field

from ramet.errors import InvalidParams, ProjectNotFound
from ramet.protocol.fields import Name, ProjectRef
from ramet.protocol.operation import Operation, Request

Group = Literal["day", "project", "model", "agent", "skill", "effort"]
"""What usage can be grouped by."""


class UtcOffset(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How far a time zone's clocks are ahead of UTC, from an instant on."""

    since: datetime
    minutes: Annotated[int, Meta(ge=-24 * 60, le=24 * 60)]


class UsageRow(Struct, frozen=True, kw_only=True):
    """What was used in one group. The fields by which the request does not group are null."""

    day: str | None = None
    """The day, as 2026-03-13, in the requested time zone."""
    project_id: int | None = None
    model: str | None = None
    agent: str | None = None
    """The agent program."""
    skill: str | None = None
    effort_id: int | None = None
    calls: int = 0
    """The calls of models that are known."""
    input_tokens: int = 0
    """Input that was neither read from the cache nor written to it."""
    output_tokens: int = 0
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0
    injected_tokens: int = 0
    """Tokens of texts that Ramet put into prompts. They are part of the input."""
    cache_share: float | None = None
    """The part of the input that was read from the cache, from 0 to 1; null without input."""
    cost_usd: float | None = None
    """Null if neither a cost nor a price is known."""
    is_cost_estimated: bool = False
    """Whether a part of the cost is estimated from the price table."""
    seconds: float = 0.0
    """How long the agents ran whose sessions started in the group."""
    sessions: int = 0
    """The number of these sessions, sub-agents included."""


class UsageReply(Struct, frozen=True, kw_only=True):
    """The groups: days in their order, then by cost; and their total."""

    items: list[UsageRow]
    total: UsageRow
    since: datetime
    until: datetime
    by: list[Group]
    left_out: int = 0
    """How many groups are beyond the limit. The total includes them."""


class ShowUsage(Request[UsageReply], frozen=True, kw_only=True):
    """Show tokens, cost, cache share, time and calls of a period, in groups. Each call is counted once, sub-agents
    included; copies of sessions do not count what their originals used.
    """

    op = Operation("usage.show", errors=(ProjectNotFound, InvalidParams), is_long=True)

    since: datetime | None = None
    """The start of the period (default: everything)."""
    until: datetime | None = None
    """Its end (default: now)."""
    by: Annotated[list[Group], Meta(max_length=6)] = field(default_factory=list)
    project: ProjectRef | None = None
    offsets: Annotated[list[UtcOffset], Meta(max_length=1000)] = field(default_factory=list)
    """The time zone of the days: its offsets in the order of time; the first also holds before it (default: UTC)."""
    limit: Annotated[int, Meta(ge=1, le=100_000)] = 1000


class Spread(Struct, frozen=True, kw_only=True):
    """How much single efforts used: in the middle, and what nine of ten did not exceed."""

    median: float
    p90: float


class Forecast(Struct, frozen=True, kw_only=True):
    """What efforts of one kind will probably use."""

    skill: str
    model: str | None
    efforts: int
    """How many of them are to run."""
    history: int
    """From how many earlier efforts it is estimated; 0: there is no history."""
    basis: str | None = None
    """The earlier efforts: those of this project, skill and model, or of fewer of these."""
    tokens: Spread | None = None
    """For one effort."""
    cost_usd: Spread | None = None
    """For one effort; null if no earlier cost is known."""
    is_cost_estimated: bool = False


class ForecastReply(Struct, frozen=True, kw_only=True):
    """The kinds, and all efforts together; the sums are null if a kind without history is among them."""

    items: list[Forecast]
    tokens: Spread | None = None
    cost_usd: Spread | None = None
    is_cost_estimated: bool = False


class Planned(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Efforts of one kind that are to run."""

    skill: Name
    model: Name | None = None
    efforts: Annotated[int, Meta(ge=1, le=1_000_000)] = 1


class ForecastUsage(Request[ForecastReply], frozen=True, kw_only=True):
    """Estimate what efforts will use, from finished efforts of the same project, skill and model."""

    op = Operation("usage.forecast", errors=(ProjectNotFound,), is_long=True)

    planned: Annotated[list[Planned], Meta(min_length=1, max_length=1000)]
    project: ProjectRef | None = None
