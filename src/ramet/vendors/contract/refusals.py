"""Refused tool calls as stream events, with the rules that would allow them."""

from ramet.model.work.permission_rule import Call, explain_refusal, suggest
from ramet.model.work.stream import Refusal


def refusal(tool: str, key: str, call: Call) -> Refusal:
    """A refused call."""
    rules = [str(rule) for rule in suggest(call)]
    why = explain_refusal(call) or "its name cannot be written as one"
    advice = f"allow {', '.join(rules)}" if rules else f"no rule can allow it: {why}"
    return Refusal(subject="tool", name=tool, key=key, call=call.value, rule=advice, rules=rules)
