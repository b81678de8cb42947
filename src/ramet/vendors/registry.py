"""Which drivers there are. The folder `vendors` is the table: a folder with a `driver` is one, imported when needed.

Every keeper asks this before its agent starts, so it imports little.
"""

import os
from collections.abc import Iterable
from importlib import import_module

from ramet import vendors
from ramet.errors import UnknownDriver
from ramet.vendors.contract.driver_protocol import Driver

_PART = "driver"


def names() -> list[str]:
    """The name of every driver."""
    folders = ((path, name) for path in vendors.__path__ for name in os.listdir(path))  # noqa: PTH208
    return sorted(name for path, name in folders if os.path.exists(f"{path}/{name}/{_PART}.py"))  # noqa: PTH110


def find(name: str) -> Driver:
    """A driver by its name."""
    if name not in names():
        raise unknown(name)
    driver: Driver = import_module(f"{vendors.__name__}.{name}.{_PART}").DRIVER
    return driver


def all_drivers() -> list[Driver]:
    """Every driver."""
    return [find(name) for name in names()]


def unknown(name: str, profiles: Iterable[str] = ()) -> UnknownDriver:
    """The error for a driver that is not there."""
    known = ", ".join(dict.fromkeys([*names(), *profiles]))
    return UnknownDriver(f"there is no driver {name!r}; there are {known}", field="driver", value=name)
