"""The engine's answers: one function for each operation, in one transaction; and what can be made ready before it."""

from collections.abc import Callable
from functools import cache
from importlib import import_module
from pkgutil import walk_packages
from typing import Any, TypeVar

from ramet.engine.contents import Contents
from ramet.engine.transaction import Transaction
from ramet.protocol.answers import Answers, Function
from ramet.protocol.operation import Request

Q = TypeVar("Q", bound=Request[Any])

answers = Answers[Transaction]("engine")

_SUBJECTS = ("system", "history", "record", "runs", "spawn", "work", "landing", "hooks", "memory")

_preparations: dict[type[Request[Any]], Callable[[Any, Contents], Any]] = {}


def prepares(request: type[Request[Any]]) -> Callable[[Function], Function]:
    """Register what makes a request ready outside of its transaction: redacts, hashes and compresses its texts."""

    def register(function: Function) -> Function:
        _preparations[request] = function
        return function

    return register


def find_preparation(request: type[Request[Any]]) -> Callable[[Any, Contents], Any] | None:
    """What makes requests of this class ready; None if their free texts are redacted and that is all."""
    return _preparations.get(request)


@cache
def load() -> Answers[Transaction]:
    """Import every subject, so that all its answers are registered."""
    for subject in _SUBJECTS:
        package = import_module(f"{__package__}.{subject}")
        for module in walk_packages(package.__path__, f"{package.__name__}."):
            import_module(module.name)
    return answers
