"""A spawn: a child history out of a parent's. And a collapse: the child's work, folded back into the parent's."""

from dataclasses import dataclass, fields
from datetime import datetime
from typing import Literal, get_type_hints

from ramet.errors import InvalidParams
from ramet.model.history.commit import estimate_tokens
from ramet.model.history.content import check_field

InheritanceMode = Literal["full_clone", "head_snapshot", "selective", "none"]

DEFAULT_SUMMARY_SYSTEM = """\
You summarize a part of an agent's history so that the agent can continue without that part.

- Keep what later work depends on: decisions and their reasons, findings, names, paths, numbers, commands.
- Keep what failed and why, so that it is not tried again.
- Keep exact values, error messages and code as they are.
- Leave out greetings, repetition, and failed steps that taught nothing.
- If a target length is given, stay close to it.
Write only the summary."""

DEFAULT_COLLAPSE_SYSTEM = """\
You report on the work of an agent to the agent that delegated it. The reader has not seen the work and acts on your \
report alone.

- Outcomes come first: what was achieved, decided and produced.
- Name the findings, the decisions and the artifacts.
- Say what failed, what blocks further work, and what is still open.
- Keep technical details exactly as they are: code, settings, values, error messages.
- Leave out the agent's reasoning, except if it contains a caveat or a trade-off.
- If a target length is given, stay close to it.
Start with "Subagent completed: " and a summary of the task in one line."""

COLLAPSE_OPENING = "Subagent completed: "


class _Checked:
    """A value whose constructor refuses a field of another type."""

    def __post_init__(self) -> None:
        expected = get_type_hints(type(self))
        for field in fields(self):  # type: ignore[arg-type]
            check_field(type(self).__name__, field.name, getattr(self, field.name), expected[field.name])


@dataclass(frozen=True)
class SpawnInfo(_Checked):
    """A child history and where it comes from."""

    spawn_id: int
    parent_tract_id: str
    parent_commit_hash: str | None
    child_tract_id: str
    purpose: str
    inheritance_mode: InheritanceMode
    display_name: str | None
    created_at: datetime

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.created_at.tzinfo is None:
            raise InvalidParams(
                "SpawnInfo.created_at has no time zone",
                field="created_at",
                value=self.created_at,
                fix="give a datetime with its zone, such as datetime.now(UTC)",
            )


@dataclass(frozen=True)
class SpawnRecord(SpawnInfo):
    """A child history, with the commits in its parent that its work was folded into."""

    collapses: tuple[str, ...] = ()


@dataclass(frozen=True)
class SpawnFamily:
    """The parent, ancestors and children of a history."""

    parent: SpawnRecord | None
    ancestors: tuple[str, ...]
    children: tuple[SpawnRecord, ...]


@dataclass(frozen=True)
class CollapseResult(_Checked):
    """A child's work as its parent sees it; without a commit it is for review."""

    parent_commit_hash: str | None
    child_tract_id: str
    summary_text: str
    summary_tokens: int
    source_tokens: int
    purpose: str


def build_summarize_prompt(
    messages_text: str, *, target_tokens: int | None = None, instructions: str | None = None
) -> str:
    """What a model is asked so that it shortens a range."""
    return _with_options(f"Summarize this part of the history:\n\n{messages_text}", target_tokens, instructions)


def build_collapse_prompt(
    messages_text: str, purpose: str, *, target_tokens: int | None = None, instructions: str | None = None
) -> str:
    """What a model is asked so that it reports on a child: the purpose, the request, the work as it is."""
    request = f"This task was delegated:\n  Purpose: {purpose}\n\nReport on the work:\n\n{messages_text}"
    return _with_options(request, target_tokens, instructions)


def _with_options(prompt: str, target_tokens: int | None, instructions: str | None) -> str:
    if target_tokens is not None:
        prompt += f"\nTarget approximately {target_tokens} tokens."
    if instructions is not None:
        prompt += f"\nAdditional instructions: {instructions}"
    return prompt


def fit(text: str, target_tokens: int | None) -> str:
    """The text within a budget, with a mark where it was cut."""
    if target_tokens is None or estimate_tokens(text) <= target_tokens:
        return text
    mark = "\n[… cut to fit]"
    return text[: max(0, 4 * target_tokens - len(mark))].rstrip() + mark
