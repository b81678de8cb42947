"""What Claude Code used, counted once.

Its results say totals, and newer versions go on with the totals of a session that they resume; what was used since the
last result is said beside them and is what counts here. Older versions count each run from zero. Until a result comes,
what the messages say is a lower bound: their output has only begun when they are printed. A run that is killed leaves
that.
"""

from collections import Counter
from collections.abc import Iterable
from typing import Any

from msgspec.structs import replace

from ramet.model.work.stream import Usage
from ramet.vendors.contract import json_lines

_IN_MESSAGES = {
    "input_tokens": "input_tokens",
    "output_tokens": "output_tokens",
    "cache_read_input_tokens": "cache_read_tokens",
    "cache_creation_input_tokens": "cache_write_tokens",
}
_IN_RESULTS = {
    "inputTokens": "input_tokens",
    "outputTokens": "output_tokens",
    "cacheReadInputTokens": "cache_read_tokens",
    "cacheCreationInputTokens": "cache_write_tokens",
}


class Spending:
    """One run's usage, by model."""

    def __init__(self) -> None:
        self._run: str | None = None
        self._settled: dict[str, Counter[str]] = {}
        self._costs: dict[str, float] = {}
        self._open: dict[str, dict[str, Counter[str]]] = {}
        """What no result has counted yet, by model and message."""

    def note_message(self, message: dict[str, Any], *, is_sub_agent: bool = False) -> Iterable[Usage]:
        """One message is printed in several lines, each with the same usage. A sub-agent has a context of its own."""
        model, message_id = json_lines.text(message, "model"), json_lines.text(message, "id")
        tokens = _tokens(json_lines.entry(message, "usage"), _IN_MESSAGES)
        open_messages = self._open.setdefault(model, {})
        if not (model and message_id and tokens.total()) or open_messages.get(message_id) == tokens:
            return []
        self._run = self._run or message_id
        open_messages[message_id] = tokens
        context = None if is_sub_agent else tokens.total() - tokens["output_tokens"]
        return [replace(self._total(model), context_tokens=context)]

    def note_result(self, result: dict[str, Any]) -> Iterable[Usage]:
        """Everything that is open is in this result, whatever name its model has there."""
        self._run = self._run or json_lines.text(result, "uuid") or "run"
        since = result.get("model_usage_since_last_result")
        if not isinstance(since, dict):
            self._settled, self._costs = {}, {}
            since = json_lines.entry(result, "modelUsage")
        for model, used in since.items():
            if isinstance(used, dict):
                self._settled[model] = self._settled.get(model, Counter()) + _tokens(used, _IN_RESULTS)
                self._costs[model] = self._costs.get(model, 0.0) + (json_lines.amount(used, "costUSD") or 0.0)
        models = [*self._settled, *(model for model, messages in self._open.items() if messages)]
        self._open = {}
        return [self._total(model) for model in dict.fromkeys(models)]

    def _total(self, model: str) -> Usage:
        tokens = sum(self._open.get(model, {}).values(), self._settled.get(model, Counter()))
        return Usage(key=f"{self._run}/{model}", model=model, cost_usd=self._costs.get(model), **tokens)


def _tokens(used: dict[str, Any], names: dict[str, str]) -> Counter[str]:
    return Counter({ours: json_lines.count(used, theirs) for theirs, ours in names.items()})
