"""Writes the price table that Ramet ships from genai-prices: `make prices`, before a release.

Only the providers of agents' models are taken. What a run does not use (images, audio, searches) is left out.
"""

from collections.abc import Iterator
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

import msgspec
from genai_prices import data_snapshot
from genai_prices.types import StartDateConstraint, TieredPrices

from ramet.model.work.price import Price, PricedModel, PriceTable, Rate

TABLE = Path(__file__).parent.parent / "src/ramet/config/prices/prices.json"
PROVIDERS = ("anthropic", "openai", "google", "x-ai", "deepseek", "moonshotai", "mistral", "zai", "minimax")
_CLASSES = {"input": "input_mtok", "output": "output_mtok", "cache_read": "cache_read_mtok"}
_CLASSES |= {"cache_write": "cache_write_mtok"}
_CLAUSES = {"equals": "equals", "starts_with": "starts_with", "contains": "contains", "regex": "matches"}


def main() -> None:
    """Write the table."""
    providers = {provider.id: provider for provider in data_snapshot.get_snapshot().providers}
    chosen = [model for name in PROVIDERS for model in providers[name].models]
    models = [found for model in chosen if (found := _read(model)) is not None]
    today = datetime.now(UTC).date().isoformat()
    table = PriceTable(date=today, source=f"genai-prices {version('genai-prices')}", models=models)
    lines = [msgspec.json.encode(model).decode() for model in table.models]
    head = f'{{"date":"{table.date}","source":"{table.source}","models":[\n'
    TABLE.write_text(head + ",\n".join(lines) + "\n]}\n")
    print(f"{len(models)} models, {table.date}: {TABLE.name}")


def _read(model: Any) -> PricedModel | None:
    """A model that answers with text; None if it has no price for that."""
    names: dict[str, list[str]] = {ours: [] for ours in _CLAUSES.values()}
    for clause in _clauses(model.match):
        for theirs, ours in _CLAUSES.items():
            if (value := getattr(clause, theirs, None)) is not None:
                names[ours].append(value)
    conditional = model.prices if isinstance(model.prices, list) else [None]
    prices = [price for each in conditional if (price := _price(each, model)) is not None]
    if not prices:
        return None
    return PricedModel(id=model.id, context_tokens=model.context_window, prices=prices, **names)


def _clauses(clause: Any) -> Iterator[Any]:
    """The alternatives of a match. A combination of several conditions is left out: the model's id still matches."""
    for each in getattr(clause, "or_", [clause]):
        if hasattr(each, "or_"):
            yield from _clauses(each)
        elif not hasattr(each, "and_"):
            yield each


def _price(conditional: Any, model: Any) -> Price | None:
    since, prices = None, model.prices
    if conditional is not None:
        prices, constraint = conditional.prices, conditional.constraint
        if constraint is not None and not isinstance(constraint, StartDateConstraint):
            return None  # a price for some hours of the day
        since = None if constraint is None else constraint.start_date.isoformat()
    values = {ours: getattr(prices, theirs) for ours, theirs in _CLASSES.items()}
    if values["input"] is None or values["output"] is None:
        return None
    tiered = [value for value in values.values() if isinstance(value, TieredPrices)]
    starts = sorted({tier.start for value in tiered for tier in value.tiers})
    above = [(start, _rate(values, start)) for start in starts]
    return Price(since=since, rate=_rate(values, 0), above=above)


def _rate(values: dict[str, Any], start: int) -> Rate:
    return Rate(**{name: _at(value, start) for name, value in values.items() if value is not None})


def _at(value: Any, start: int) -> float:
    if not isinstance(value, TieredPrices):
        return float(value)
    tiers = [tier.price for tier in value.tiers if tier.start <= start]
    return float(tiers[-1] if tiers else value.base)


if __name__ == "__main__":
    main()
