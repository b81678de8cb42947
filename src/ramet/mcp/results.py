"""What the tools answer: one JSON document each. What went wrong is in it, too."""

import json
from collections.abc import Sequence
from typing import Any, NamedTuple

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from ramet.errors import RametError
from ramet.model.spawn.child import SpawnResult, explain

ANSWER_CHARACTERS = 40_000
"""How much text one answer has: the programs cut longer ones."""
REFUSAL_CHARACTERS = 300
"""How much of a refusal is in an answer that is full."""


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


def bounded(results: Sequence[SpawnResult]) -> Answer:
    """As many results as fit into an answer, and the children whose results follow in the next one.

    Agents keep every answer in their context, and their programs cut longer ones. A child that was never created cannot
    be asked for in the next one, so that its refusal is in this one.
    """
    shown: list[SpawnResult] = []
    following: list[int] = []
    left = ANSWER_CHARACTERS
    for result in results:
        fits = not shown or (not following and len(result.notes) <= left)
        if not fits and result.child_session_id is not None:
            following.append(result.child_session_id)
            continue
        shown.append(shorten(result) if fits else shorten(result, REFUSAL_CHARACTERS))
        left -= len(shown[-1].notes)
    return Answer({"results": shown, "nextSessionIds": following} if following else {"results": shown})


def shorten(result: SpawnResult, most: int = ANSWER_CHARACTERS) -> SpawnResult:
    """A result that fits into an answer by itself."""
    if len(result.notes) <= most:
        return result
    more = len(result.notes) - most
    return replace(result, notes=f"{result.notes[:most]}\n[{more} more characters are not shown]")


def is_over(result: SpawnResult) -> bool:
    """Whether there is nothing left to wait for: it has ended, or was never created."""
    return result.outcome is not None
