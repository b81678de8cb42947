"""The conversation that goes from task to task: turns, a window over them, and the prompt that they make.

A window holds `max_tokens`, estimated at four characters each. Above four fifths of it the first two turns and the last
ten are kept. What is still too much for the window then goes too: the oldest turns between the first two and the last,
and at the end the middle of the longest ones, with a mark where it was.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime
from typing import Any, Literal, Self, TypeVar, get_args

import msgspec

from ramet.errors import InvalidParams
from ramet.model.seal import quote_headings

TurnRole = Literal["user", "assistant", "system"]
TrimStrategy = Literal["sliding"]
_Saved = TypeVar("_Saved")

MAX_TOKENS = 100_000
_TRIM_ABOVE = 0.8
_FIRST, _LAST = 2, 10
_CHARACTERS = 4
"""Of one token."""
_WHOLE = "whole_characters"
"""The key of a cut turn's metadata that says how long it was."""

_TITLES: dict[str, str] = {"user": "User", "assistant": "Assistant", "system": "System"}
CURRENT_TASK = "Current Task"
_BOUNDARY = re.compile(
    rf"(?:^|(?<=\r))(?P<before>[^\S\r\n]*)(?P<title>\\*\[(?:{'|'.join([*_TITLES.values(), CURRENT_TASK])})\][^\S\n]*$)",
    re.MULTILINE,
)


@dataclass
class Turn:
    """One thing that was said."""

    role: TurnRole
    content: str
    timestamp: datetime
    tokens: int | None = None
    metadata: dict[str, Any] = field(default_factory=dict)


class ContextAccumulator:
    """Turns in their order, never more than the window holds. Time is handed in: this layer has no clock."""

    def __init__(self, max_tokens: int = MAX_TOKENS, trim_strategy: str = "sliding") -> None:
        if max_tokens < 1:
            raise InvalidParams(
                "max_tokens must be at least 1", field="max_tokens", value=max_tokens, fix="give 1 or more tokens"
            )
        if trim_strategy not in get_args(TrimStrategy):
            raise InvalidParams(
                f"there is no trim strategy {trim_strategy!r}",
                field="trim_strategy",
                value=trim_strategy,
                fix="use sliding",
            )
        self.turns: list[Turn] = []
        self.max_tokens = max_tokens
        self.trim_strategy = trim_strategy

    def add_turn(self, role: str, content: str, now: datetime) -> Turn:
        """Add what was said; where the window is nearly full, make room. The turn as it is kept."""
        self.add_turns([(role, content, now)])
        return self.turns[-1]

    def add_turns(self, said: Iterable[tuple[str, str, datetime]]) -> None:
        """Add one after the other what was said, by whom and when, and count what is there only once."""
        total = self._total_tokens()
        for role, content, now in said:
            tokens = self._estimate_tokens(content)
            self.turns.append(Turn(role=check_role(role), content=content, timestamp=now, tokens=tokens))
            total += tokens
            if total > self.max_tokens * _TRIM_ABOVE:
                self._trim()
                total = self._total_tokens()

    def get_prompt(self) -> str:
        """The turns as one text, each under its role. Content with a line that could pass for a heading is sealed."""
        return render_turns([(turn.role, turn.content) for turn in self.turns])

    def prompt_for(self, task: str) -> str:
        """What the next agent is given: the conversation and its task, or the bare task where nothing was said."""
        return render_prompt([(turn.role, turn.content) for turn in self.turns], task)

    def clear(self) -> None:
        """Forget all turns."""
        self.turns = []

    def to_dict(self) -> list[dict[str, Any]]:
        """The turns as JSON can say them; `to_state` has the window too."""
        return [{**asdict(turn), "timestamp": turn.timestamp.isoformat()} for turn in self.turns]

    @classmethod
    def from_dict(
        cls, data: Iterable[Mapping[str, Any]], max_tokens: int = MAX_TOKENS, trim_strategy: str = "sliding"
    ) -> Self:
        """What `to_dict` gave, equal to what it was. Keys that a newer version added are ignored."""
        accumulator = cls(max_tokens, trim_strategy)
        accumulator.turns = [_restore(turn, Turn) for turn in data]
        return accumulator

    def to_state(self) -> dict[str, Any]:
        """Everything as JSON can say it: the turns and the limits of the window."""
        return {"max_tokens": self.max_tokens, "trim_strategy": self.trim_strategy, "turns": self.to_dict()}

    @classmethod
    def from_state(cls, state: Mapping[str, Any]) -> Self:
        """What `to_state` gave; what it does not say is as in a new accumulator."""
        saved = _restore(state, _State)
        accumulator = cls(saved.max_tokens, saved.trim_strategy)
        accumulator.turns = saved.turns
        return accumulator

    def _estimate_tokens(self, text: str) -> int:
        return len(text) // _CHARACTERS

    def _total_tokens(self) -> int:
        return sum(self._tokens(turn) for turn in self.turns)

    def _tokens(self, turn: Turn) -> int:
        return self._estimate_tokens(turn.content) if turn.tokens is None else turn.tokens

    def _trim(self) -> None:
        """Slide; then drop the oldest turns behind the first two; then cut the longest: until all of it fits."""
        if len(self.turns) > _FIRST + _LAST:
            self.turns = self.turns[:_FIRST] + self.turns[-_LAST:]
        while len(self.turns) > _FIRST + 1 and self._total_tokens() > self.max_tokens:
            del self.turns[_FIRST]
        if self._total_tokens() > self.max_tokens:
            most = self._fair_share()
            self.turns = [_cut(turn, most) if self._tokens(turn) > most else turn for turn in self.turns]

    def _fair_share(self) -> int:
        """The number of tokens to which the longest turns have to be cut, so that the shorter ones stay whole."""
        left, share = self.max_tokens, 0
        sizes = sorted(self._tokens(turn) for turn in self.turns)
        for place, size in enumerate(sizes):
            share = left // (len(sizes) - place)
            if size > share:
                break
            left -= size
        return share


def render_turns(said: Sequence[tuple[TurnRole, str]]) -> str:
    """Turns as one text, each under its role. Content with a line that could pass for a heading is sealed."""
    return "\n\n".join(f"[{_TITLES[role]}]\n{quote_headings(escape(content))}" for role, content in said)


def render_prompt(said: Sequence[tuple[TurnRole, str]], task: str) -> str:
    """The turns and the current task; the bare task if nothing was said."""
    return f"{render_turns(said)}\n\n[{CURRENT_TASK}]\n{escape(task)}" if said else task


def tell_failure(reason: str | None) -> str:
    """What the conversation has in the place of an answer where there was none."""
    return f"✗ failed: {reason or 'no reason was given'}"


def escape(content: str) -> str:
    r"""Content in which no line can be taken for a turn's heading: `[User]` alone in a line becomes `\[User]`, and what
    was escaped already is escaped once more, so that a program can tell the two apart. A model reads more lines as
    headings than these; the seal is for those.
    """
    return _BOUNDARY.sub(r"\g<before>\\\g<title>", content)


def check_role(role: object) -> TurnRole:
    """A role that a turn can have."""
    match role:
        case "user" | "assistant" | "system":
            return role
        case _:
            raise InvalidParams(
                f"{role!r} is not a role", field="role", value=role, fix=f"use one of {', '.join(get_args(TurnRole))}"
            )


class _State(msgspec.Struct):
    """What `to_state` gives."""

    max_tokens: int = MAX_TOKENS
    trim_strategy: str = "sliding"
    turns: list[Turn] = []


def _restore(data: Mapping[str, Any], kind: type[_Saved]) -> _Saved:
    try:
        return msgspec.convert(data, kind)
    except msgspec.ValidationError as error:
        raise InvalidParams(
            f"the saved conversation cannot be read: {error}",
            field="turns",
            value=repr(data),
            fix="a turn has role, content and timestamp (ISO 8601)",
        ) from error


def _cut(turn: Turn, tokens: int) -> Turn:
    """The turn with so many tokens and no more: its beginning and end, and between them how much is gone."""
    room = tokens * _CHARACTERS + _CHARACTERS - 1
    content, metadata = turn.content, turn.metadata
    if len(content) > room:
        whole = metadata.get(_WHOLE, len(content))
        kept = room - len(_mark(whole))
        head, tail = kept - kept // 2, len(content) - kept // 2
        content = f"{content[:head]}{_mark(whole - kept)}{content[tail:]}" if kept > 0 else "…"
        metadata = {**metadata, _WHOLE: whole}
    return replace(turn, content=content, tokens=len(content) // _CHARACTERS, metadata=metadata)


def _mark(characters: int) -> str:
    return f"\n[… {characters:,} characters left out …]\n"
