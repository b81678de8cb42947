"""What the tools answer: one JSON document each. What went wrong is in it, too."""

import json
from typing import Any, NamedTuple

import msgspec
from msgspec import Struct

from ramet.errors import RametError
from ramet.model.spawn.child import SpawnResult


class Answer(NamedTuple):
    """What a tool says."""

    document: Struct | dict[str, Any]
    is_error: bool = False

    @property
    def text(self) -> str:
        """As JSON. Half a character that an agent sent, and that came back, becomes a question mark."""
        return json.dumps(msgspec.to_builtins(self.document), ensure_ascii=False).encode(errors="replace").decode()


def refused(error: RametError) -> Answer:
    """A child that was not created is a result like any other."""
    return Answer({"childSessionId": None, "outcome": "error", "notes": _explain(error), "code": error.code})


def failed(error: RametError) -> Answer:
    """What could not be answered."""
    return Answer({"error": {"code": error.code, "message": error.message, "fix": error.fix}}, is_error=True)


def is_over(result: SpawnResult) -> bool:
    """Whether there is nothing left to wait for: it has ended, or was never created."""
    return result.outcome is not None


def _explain(error: RametError) -> str:
    return f"{error.message}; {error.fix}" if error.fix else error.message
