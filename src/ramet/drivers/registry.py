"""Which drivers there are. The folder `programs` is the table: a file in it is a driver, imported when it is asked for.

Every keeper asks this before its agent starts, so it imports little.
"""

import os
from collections.abc import Iterable
from importlib import import_module

from ramet.drivers import programs
from ramet.drivers.driver import Driver
from ramet.errors import UnknownDriver


def names() -> list[str]:
    """The name of every driver."""
    files = (name for folder in programs.__path__ for name in os.listdir(folder))  # noqa: PTH208
    return sorted(name.removesuffix(".py") for name in files if name.endswith(".py") and not name.startswith("_"))


def find(name: str) -> Driver:
    """A driver by its name."""
    if name not in names():
        raise unknown(name)
    driver: Driver = import_module(f"{programs.__name__}.{name}").DRIVER
    return driver


def all_drivers() -> list[Driver]:
    """Every driver."""
    return [find(name) for name in names()]


def unknown(name: str, profiles: Iterable[str] = ()) -> UnknownDriver:
    """The error for a driver that is not there."""
    known = ", ".join(dict.fromkeys([*names(), *profiles]))
    return UnknownDriver(f"there is no driver {name!r}; there are {known}", field="driver", value=name)
