"""The options `--max-cost` and `--max-tokens`, which mean the same in every command."""

import math
from collections.abc import Callable
from typing import Any, TypeVar

import click

Function = TypeVar("Function", bound=Callable[..., Any])

_MOST_USD = 1e12
_MOST_TOKENS = 2**53


class Dollars(click.ParamType[float]):
    """A positive amount in USD; `$` is allowed in front of it."""

    name = "usd"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        try:
            amount = float(str(value).removeprefix("$"))
        except ValueError:
            self.fail(f"{value!r} is not an amount; write 2.50.", param, ctx)
        if not math.isfinite(amount) or not 0 < amount <= _MOST_USD:
            self.fail(f"{value!r} is not an amount above 0; write 2.50.", param, ctx)
        return amount


def cost_option(purpose: str, *names: str, into: str = "max_cost") -> Callable[[Function], Function]:
    """`--max-cost`, and the names that it had before."""
    return click.option("--max-cost", *names, into, type=Dollars(), metavar="USD", help=purpose)


def tokens_option(purpose: str, *names: str, into: str = "max_tokens") -> Callable[[Function], Function]:
    """`--max-tokens`, and the names that it had before."""
    kind = click.IntRange(1, _MOST_TOKENS)
    return click.option("--max-tokens", *names, into, type=kind, metavar="N", help=purpose)
