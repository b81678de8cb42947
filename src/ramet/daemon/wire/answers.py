"""What the daemon answers itself: methods of its parts, each marked with the request that it answers.

A method that is marked `@answers(Ping)` takes the call and the request and returns the reply, or `Later` if the reply
follows.
"""

import inspect
from collections.abc import Callable
from typing import Any, Generic

from ramet.protocol.answers import Function
from ramet.protocol.operation import R, Request

_MARK = "_answers_request"


class Later(Generic[R]):
    """In place of a reply: it will be given to `call.done`."""


def answers(request: type[Request[Any]]) -> Callable[[Function], Function]:
    """Mark the method that answers `request`."""

    def mark(method: Function) -> Function:
        if request.op.host != "daemon":
            raise TypeError(f"{request.op.name} is answered elsewhere")
        setattr(method, _MARK, request)
        return method

    return mark


def find_answers(part: object) -> dict[type[Request[Any]], Callable[..., Any]]:
    """The marked methods of a part of the daemon, or of its class, by their request."""
    methods = (method for _, method in inspect.getmembers(part, callable) if hasattr(method, _MARK))
    return {getattr(method, _MARK): method for method in methods}
