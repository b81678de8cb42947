"""A price table of two models, and what transcripts say of calls to them."""

from typing import Any

from tests.conformance.hook_calls import entry
from tests.world import PROFILES, World

from ramet.engine import Engine
from ramet.engine.transaction import Rules
from ramet.model.redaction import Redactor
from ramet.model.work.price import Price, PricedModel, Prices, Rate
from ramet.store.database.blobs import Codec

LARGE = Rate(input=10, output=50, cache_read=1, cache_write=12)
SMALL = Rate(input=1, output=5, cache_read=0.1, cache_write=1.2)
MODELS = [
    PricedModel(
        id="large", context_tokens=1_000_000, prices=[Price(rate=LARGE, above=[(200_000, Rate(input=20, output=75))])]
    ),
    PricedModel(id="small", context_tokens=100_000, prices=[Price(rate=SMALL)]),
]


def set_prices(world: World) -> World:
    """Give a world a price table of two models."""
    rules = Rules(prices=Prices(MODELS), profiles=PROFILES)
    world.engine = Engine(rules, codec=Codec(), redactor=Redactor())
    return world


def used(key: str = "usage/m1", model: str | None = "small", **tokens: Any) -> dict[str, Any]:
    return entry(key, kind="usage", model=model, usage=tokens)
