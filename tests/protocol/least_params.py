"""The fewest parameters with which a request is valid, found from its types alone."""

import re
from typing import Any

import msgspec

from ramet.protocol.operations import Operation

_CANDIDATES: tuple[Any, ...] = (
    *(1, "a", "/a", "claude", "0123456789abcdef", True, [], [1], ["a"], {}, [{}], [{"goal": "a"}]),
    *("user", "success", "tag", "important", "running", ["effort"], [{"id": "a"}], [{"role": "user", "content": "a"}]),
    *({"summary": "a"}, "doc", "gza", [{"skill": "do"}]),
    {"vendor": "claude", "moment": "stop", "name": "Stop", "native_id": "a"},
    {"commit": 1, "hash": "a", "move": 1, "message": 1, "since_ms": 1},
    "2026-01-05T08:00:00Z",
    *("0" * 40, "merge", "failed", [{"efforts": [1], "branch": "a", "head": "0" * 40, "message": "a"}]),
)


def least_params(operation: Operation, **given: Any) -> dict[str, Any]:
    """With what is given, and the first value that fits for everything else that is required."""
    params, tried = dict(given), dict.fromkeys(given, len(_CANDIDATES))
    while True:
        try:
            msgspec.convert(params, operation.request)
        except msgspec.ValidationError as error:
            name = _field(str(error))
            params[name] = _CANDIDATES[tried.get(name, -1) + 1]
            tried[name] = tried.get(name, -1) + 1
        else:
            return params


def _field(message: str) -> str:
    missing = re.search(r"missing required field `(\w+)`$", message)
    found = missing or re.search(r"at `\$\.(\w+)", message)
    assert found is not None, message
    return found[1]
