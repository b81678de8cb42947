"""Prices of models, and what calls would cost by them where a program does not say it.

A call has four classes of tokens: input, read from the cache, written to the cache, and output. Each token is in one
class. Some models cost more for a call whose context is long; such a price then holds for all tokens of the call.
"""

import re
from collections.abc import Mapping, Sequence

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from ramet.model.work.stream import Usage

_MILLION = 1_000_000
_CLOUDS = re.compile(r"^(?:[a-z0-9-]+/)*(?:(?:us|eu|apac|au|jp|global)\.)?(?:anthropic\.|models/)?")
"""What other providers put before a model's own name: `us.anthropic.`, `openai/`."""
_VARIANT = re.compile(r"(?:\[[^\]]*\]|-v\d+:\d+|@\d{8})$")
"""What they, or an agent program, put behind it: a version, or the mark of a longer context."""


class Rate(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Dollars for a million tokens of each class. What a provider has no price for costs as much as input."""

    input: float
    output: float
    cache_read: float | None = None
    cache_write: float | None = None

    def cost(self, used: Usage) -> float:
        """What some tokens cost."""
        read = self.input if self.cache_read is None else self.cache_read
        written = self.input if self.cache_write is None else self.cache_write
        dollars = used.input_tokens * self.input + used.output_tokens * self.output
        return (dollars + used.cache_read_tokens * read + used.cache_write_tokens * written) / _MILLION


class Price(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A model's price from a day on."""

    since: str | None = None
    """The day, as 2026-03-13; None: always."""
    rate: Rate
    above: list[tuple[int, Rate]] = []
    """The rates of calls whose context has more tokens than this, the smallest first."""

    def rate_for(self, context_tokens: int) -> Rate:
        """The rate of a call."""
        return next((rate for start, rate in reversed(self.above) if context_tokens > start), self.rate)


class PricedModel(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A model: how its names are recognized, how much it can read, and what that costs."""

    id: str
    equals: list[str] = []
    starts_with: list[str] = []
    contains: list[str] = []
    matches: list[str] = []
    """Regular expressions."""
    context_tokens: int | None = None
    prices: list[Price] = []
    """The oldest first."""

    def is_named(self, name: str) -> bool:
        """Whether a name is one of this model's."""
        return (
            name == self.id
            or name in self.equals
            or any(map(name.startswith, self.starts_with))
            or any(part in name for part in self.contains)
            or any(re.search(pattern, name) for pattern in self.matches)
        )

    def price_on(self, day: str) -> Price | None:
        """The price of a day."""
        return next((price for price in reversed(self.prices) if price.since is None or price.since <= day), None)


class PriceTable(Struct, frozen=True, kw_only=True):
    """The prices of many models at a date."""

    date: str
    source: str
    models: list[PricedModel]


class Prices:
    """Finds a model's price by any of its names; the owner's own prices come first."""

    def __init__(self, models: Sequence[PricedModel] = (), own: Mapping[str, PricedModel] | None = None) -> None:
        self._models = models
        self._own = own or {}
        self._found: dict[str, PricedModel | None] = {}

    def find(self, name: str) -> PricedModel | None:
        """The model with this name. Agents invent no names, so there are few to remember."""
        if name not in self._found:
            if len(self._found) > _MOST_NAMES:
                self._found.clear()
            self._found[name] = self._look_up(name)
        return self._found[name]

    def _look_up(self, name: str) -> PricedModel | None:
        plain = _VARIANT.sub("", _CLOUDS.sub("", name.lower()))
        known = next((model for model in self._models if plain == model.id or plain in model.equals), None)
        known = known or next((model for model in self._models if model.is_named(plain)), None)
        own = self._own.get(name) or self._own.get(plain)
        return known if own is None else _merge(own, known)

    def estimate(self, used: Usage, day: str) -> float | None:
        """What a call, or several, would cost; None if the model or its price is unknown."""
        model = None if used.model is None else self.find(used.model)
        price = None if model is None else model.price_on(day)
        if price is None:
            return None
        context = used.input_tokens + used.cache_read_tokens + used.cache_write_tokens
        return price.rate_for(used.context_tokens or context).cost(used)

    def fill(self, used: Usage) -> float | None:
        """How full the context was at the newest call, from 0 to 1; None if that is unknown."""
        if not used.context_tokens:
            return None
        model = None if used.model is None else self.find(used.model)
        window = used.window_tokens or (None if model is None else model.context_tokens)
        # A context that is larger than the window has another window than the table knows.
        return round(used.context_tokens / window, 4) if window and used.context_tokens <= window else None


_MOST_NAMES = 1000


def decode_table(table: bytes) -> PriceTable:
    """The table, from its file."""
    return msgspec.json.decode(table, type=PriceTable)


def own_models(
    *,
    input: Mapping[str, float],  # noqa: A002 - as the setting is called
    output: Mapping[str, float],
    cache_read: Mapping[str, float],
    cache_write: Mapping[str, float],
    context_tokens: Mapping[str, float],
) -> dict[str, PricedModel]:
    """The owner's models. One without a price for its input or for its output has only its context."""
    found = {}
    for name in {*input, *output, *context_tokens}:
        prices, context = [], context_tokens.get(name)
        if name in input and name in output:
            cached = {"cache_read": cache_read.get(name), "cache_write": cache_write.get(name)}
            prices = [Price(rate=Rate(input=input[name], output=output[name], **cached))]
        found[name] = PricedModel(id=name, prices=prices, context_tokens=None if context is None else int(context))
    return found


def _merge(own: PricedModel, known: PricedModel | None) -> PricedModel:
    """The owner's price; what it leaves out is as the table has it."""
    if known is None:
        return own
    return replace(known, prices=own.prices or known.prices, context_tokens=own.context_tokens or known.context_tokens)


def since(used: Usage, before: Usage) -> Usage | None:
    """What was used beyond what was known before; None if it is less in any class."""
    classes = ("input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens")
    more = {name: getattr(used, name) - getattr(before, name) for name in classes}
    return None if min(more.values()) < 0 else replace(used, **more)
