"""A session as Markdown to be read. Whatever a session said stays inside its own block."""

import re
from collections.abc import Iterable, Iterator

from ramet.model.memory.exports.trajectory import SessionFacts, Turn

LONGEST_TOOL_TEXT = 4_000
"""Of what a tool was given or returned, so many characters are shown."""

_FENCES = re.compile(r"`{3,}")
_SHORTEST_FENCE = 3
_SPECIAL = re.compile(r"([\\`*_{}\[\]<>()#+\-.!|~&])")
_LABELS = {"user": "Prompt", "assistant": "Answer", "system": "System"}


def render(session: SessionFacts, turns: Iterable[Turn]) -> Iterator[str]:
    """A session, one part after the other."""
    yield f"{'#' * min(session.depth + 1, 5)} {session.name}: {escape(session.title or session.skill)}\n\n"
    yield "".join(f"- {name}: {value}\n" for name, value in _facts(session))
    if session.purged_at is not None:
        yield f"\nIts texts were purged at {session.purged_at}.\n"
    for turn in turns:
        yield "\n" + _turn(turn)
    yield "\n"


def _facts(session: SessionFacts) -> Iterator[tuple[str, str]]:
    yield "project", escape(session.project)
    yield "task", f"{escape(session.task_id)}, effort e{session.effort_id}"
    yield "agent", escape(" ".join(filter(None, [session.driver or "unknown", session.model])))
    ended = f" to {session.ended_at} ({session.outcome})" if session.ended_at else ", still open"
    yield "time", f"{session.created_at}{ended}"
    spent = session.spent
    if spent.calls:
        estimated = " (estimated)" if spent.is_estimated else ""
        cost = "" if spent.cost_usd is None else f", ${spent.cost_usd:.4f}{estimated}"
        yield "usage", f"{spent.prompt_tokens:,} tokens read, {spent.output_tokens:,} written{cost}"


def _turn(turn: Turn) -> str:
    thought = (
        f"<details><summary>Thought</summary>\n\n{fence(turn.reasoning)}\n\n</details>\n\n" if turn.reasoning else ""
    )
    if not turn.is_tool:
        return f"{thought}**{_LABELS.get(turn.role, 'Message')}** ({turn.at})\n\n{fence(turn.text)}\n"
    name = escape(turn.tool_name or "tool")
    what = f"{name} called" if turn.is_call else f"{name} returned"
    status = turn.payload.get("status")
    failed = " an error" if status == "error" else ""
    return (
        f"{thought}<details><summary>{what}{failed} ({turn.at})</summary>\n\n{fence(_cut(turn.text))}\n\n</details>\n"
    )


def fence(text: str) -> str:
    """A text in a block that nothing in it can close."""
    longest = max((len(found) for found in _FENCES.findall(text)), default=_SHORTEST_FENCE - 1)
    marks = "`" * max(longest + 1, _SHORTEST_FENCE)
    return f"{marks}text\n{text}\n{marks}"


def _cut(text: str) -> str:
    left = len(text) - LONGEST_TOOL_TEXT
    return text if left <= 0 else f"{text[:LONGEST_TOOL_TEXT]}\n… {left:,} more characters"


def escape(text: str) -> str:
    """A text on one line that is only text."""
    return _SPECIAL.sub(r"\\\1", " ".join(text.split()))
