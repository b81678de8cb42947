"""The price table that Ramet ships: `prices.json`, written by `make prices`. `model.work.price` reads it."""

from functools import cache
from importlib.resources import files

_TABLE = "prices.json"


@cache
def read_table() -> bytes:
    """The table in the package."""
    return files(__name__).joinpath(_TABLE).read_bytes()
