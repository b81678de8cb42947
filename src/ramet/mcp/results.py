"""What the tools answer: one JSON document each. What went wrong is in it, too."""

import json
from typing import Any, NamedTuple

import msgspec
from msgspec import Struct

from ramet.errors import RametError
from ramet.model.spawn.child import SpawnResult, explain


class Answer(NamedTuple):
    """What a tool says."""

    document: Struct | dict[str, Any] | str
    """A text is given as it is."""
    is_error: bool = False

    @property
    def text(self) -> str:
        """As JSON, unless it is a text. Half a character that an agent sent, and that came back, becomes a question
        mark.
        """
        document = self.document
        text = document if isinstance(document, str) else json.dumps(msgspec.to_builtins(document), ensure_ascii=False)
        return text.encode(errors="replace").decode()


def refused(error: RametError, given: dict[str, Any]) -> Answer:
    """A child that was not created is a result like any other; of several, each is."""
    result = {"childSessionId": None, "outcome": "error", "notes": explain(error), "code": error.code}
    agents = given.get("agents") if "goal" not in given else None
    return Answer({"results": [result] * len(agents)} if isinstance(agents, list) and agents else result)


def failed(error: RametError) -> Answer:
    """What could not be answered."""
    return Answer({"error": {"code": error.code, "message": error.message, "fix": error.fix}}, is_error=True)


def is_over(result: SpawnResult) -> bool:
    """Whether there is nothing left to wait for: it has ended, or was never created."""
    return result.outcome is not None
