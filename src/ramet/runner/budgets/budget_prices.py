"""Whether a limit can be measured: a program has to report what it uses, and for a limit in dollars also its cost, or
its model needs a price. A limit that could never stop an agent is refused when it is set.
"""

from datetime import UTC, datetime

from msgspec import Struct

from ramet.config.prices import read_table
from ramet.config.settings import PriceSettings, Settings
from ramet.errors import ConfigError, DriverMissing, UnknownDriver, UnmeasurableBound
from ramet.model.record.budget import Limit
from ramet.model.work.price import Prices, decode_table, own_models
from ramet.runner.machine import Machine
from ramet.vendors import selection
from ramet.vendors.selection import Found


class Runs(Struct, frozen=True, kw_only=True):
    """What is to run."""

    driver: str | None
    model: str | None
    skill: str


def require(machine: Machine, project_path: str, limit: Limit, runs: Runs) -> None:
    """Refuse a limit that cannot be measured. A driver that cannot be found yet is judged when it runs."""
    if not limit:
        return
    try:
        settings = machine.settings_in(project_path)
        wanted = runs.driver or ("shell" if runs.skill == "shell" else None)
        found = selection.resolve(wanted, settings.drivers, machine.environ)
    except (ConfigError, DriverMissing, UnknownDriver, OSError):
        return
    if not _reports_usage(found):
        unit = "max_tokens" if limit.tokens is not None else "max_cost_usd"
        raise UnmeasurableBound(
            f"{found.name} does not report what it uses, so it cannot be stopped at a limit",
            field=unit,
            value=limit.tokens if limit.tokens is not None else limit.cost_usd,
            fix="leave out --max-tokens and --max-cost, or choose another driver; --timeout limits its time",
        )
    if limit.cost_usd is not None:
        _require_price(settings, found, runs.model or found.profile.model, limit.cost_usd)


def _reports_usage(found: Found) -> bool:
    """A program of the driver `command` reports only if it prints events."""
    return found.driver.abilities.usage and (found.driver.name != "command" or found.profile.output == "jsonl")


def _require_price(settings: Settings, found: Found, model: str | None, limit_usd: float) -> None:
    # Without a name, the program chooses a model. Which one is known when it reports what it used.
    if found.driver.abilities.cost or model is None or _has_price(settings.prices, model):
        return
    raise UnmeasurableBound(
        f"{found.name} does not report its cost, and the price of {model} is unknown",
        field="max_cost_usd",
        value=limit_usd,
        fix=f"add prices.input and prices.output for {model} to your configuration, or use --max-tokens",
    )


def _has_price(settings: PriceSettings, model: str) -> bool:
    own = own_models(
        input=settings.input,
        output=settings.output,
        cache_read=settings.cache_read,
        cache_write=settings.cache_write,
        context_tokens=settings.context_tokens,
    )
    found = Prices(decode_table(read_table()).models, own).find(model)
    return found is not None and found.price_on(datetime.now(UTC).date().isoformat()) is not None
