"""Prices: which model a name means, and what a call costs."""

import pytest

from ramet.config.prices import read_table
from ramet.config.settings import PriceSettings
from ramet.model.work.price import Prices, decode_table, own_models
from ramet.model.work.stream import Usage

TABLE = decode_table(read_table())
DAY = "2026-11-01"


def prices(**own: dict[str, float]) -> Prices:
    settings = PriceSettings(**own)
    names = ("input", "output", "cache_read", "cache_write", "context_tokens")
    return Prices(TABLE.models, own_models(**{name: getattr(settings, name) for name in names}))


def million(model: str | None, **tokens: int) -> Usage:
    return Usage(key="m1", model=model, **(tokens or {"input_tokens": 1_000_000}))


@pytest.mark.requirement("R371")
@pytest.mark.parametrize(
    ("name", "model"),
    [
        ("claude-sonnet-4-5-20250929", "claude-sonnet-4-5"),
        ("claude-sonnet-4-5[1m]", "claude-sonnet-4-5"),
        ("us.anthropic.claude-sonnet-4-5-20250929-v1:0", "claude-sonnet-4-5"),
        ("claude-sonnet-4-5@20250929", "claude-sonnet-4-5"),
        ("anthropic/claude-sonnet-4-5", "claude-sonnet-4-5"),
        ("gpt-5.1-codex", "gpt-5.1"),
        ("openai/gpt-5.5", "gpt-5.5"),
        ("GPT-5.5", "gpt-5.5"),
    ],
)
def test_a_model_is_known_by_the_names_that_programs_and_providers_give_it(name: str, model: str) -> None:
    found = prices().find(name)
    assert found is not None
    assert found.id == model


@pytest.mark.parametrize("name", ["mock-model", "", "<synthetic>", "claude", "x" * 10_000, "\0"])
def test_an_unknown_model_has_no_price_and_no_context(name: str) -> None:
    assert prices().estimate(million(name), DAY) is None
    assert prices().fill(million(name, context_tokens=10)) is None


@pytest.mark.requirement("R371")
def test_each_class_of_tokens_has_its_price() -> None:
    classes = ("input_tokens", "cache_read_tokens", "cache_write_tokens", "output_tokens")
    found = [
        prices().estimate(million("claude-sonnet-4-5", context_tokens=1, **{name: 1_000_000}), DAY) for name in classes
    ]
    assert found == [3.0, 0.3, 3.75, 15.0]


def test_a_price_holds_from_its_day_on() -> None:
    used = million("claude-opus-4-6", input_tokens=1_000_000, context_tokens=300_000)
    assert [prices().estimate(used, day) for day in ("2026-03-12", "2026-03-13")] == [10.0, 5.0]


@pytest.mark.requirement("R371")
def test_the_owners_price_comes_first_and_what_it_leaves_out_is_as_the_table_says() -> None:
    found = prices(
        input={"gpt-5.5": 1.0, "mine": 2.0}, output={"gpt-5.5": 2.0, "mine": 4.0}, context_tokens={"mine": 50}
    )
    assert found.estimate(million("gpt-5.5"), DAY) == 1.0
    assert found.estimate(million("mine", cache_read_tokens=1_000_000), DAY) == 2.0
    assert found.fill(million("mine", context_tokens=25)) == 0.5
    known = found.find("gpt-5.5")
    assert known is not None
    assert known.context_tokens == 1_000_000


def test_a_context_that_is_larger_than_the_table_knows_is_not_full_but_unknown() -> None:
    assert prices().fill(million("claude-sonnet-4-5", context_tokens=250_000)) is None
    assert prices().fill(million("claude-sonnet-4-5", context_tokens=250_000, window_tokens=1_000_000)) == 0.25


def test_the_table_has_a_date_and_a_price_for_every_model() -> None:
    assert TABLE.date >= "2026-11-01"
    assert len(TABLE.models) > 100
    assert all(model.prices for model in TABLE.models)
    rates = [price.rate for model in TABLE.models for price in model.prices]
    assert all(0 <= rate.input <= 1000 and 0 <= rate.output <= 1000 for rate in rates)
