"""Which function answers which operation: one function each, registered where it is defined.

    answers = Answers[Transaction]("engine")

    @answers(AddWork)
    def add(tx: Transaction, request: AddWork) -> WorkReply: ...

The engine, the database and the machine have one `Answers` each. A test compares the parameters and the return type of
each function with the request's class.
"""

from collections.abc import Callable
from typing import Any, Generic, TypeVar

from ramet.protocol.operation import Host, Request

C = TypeVar("C")
Function = TypeVar("Function", bound=Callable[..., Any])


class Answers(Generic[C]):
    """The functions of one host, by the class of the request. `C` is the type of their first argument."""

    def __init__(self, host: Host) -> None:
        self.host = host
        self._functions: dict[type[Request[Any]], Callable[[C, Any], Any]] = {}

    def __call__(self, request: type[Request[Any]]) -> Callable[[Function], Function]:
        """Register the function that answers `request`."""

        def register(function: Function) -> Function:
            if request in self._functions or request.op.host != self.host:
                raise TypeError(f"{function.__name__} of {self.host} cannot answer {request.op.name}")
            self._functions[request] = function
            return function

        return register

    def find(self, request: type[Request[Any]]) -> Callable[[C, Any], Any]:
        """The function that answers requests of this class."""
        return self._functions[request]

    def all(self) -> dict[type[Request[Any]], Callable[[C, Any], Any]]:
        """All registered functions."""
        return dict(self._functions)
