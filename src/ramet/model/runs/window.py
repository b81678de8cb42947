"""The window of a run's conversation: what its next line is told of the compiled branch.

Trimming depends on every turn before it, so a window is folded turn by turn. A window that was folded up to a commit
can be continued with the next ones, unless one of them rewrites an earlier commit.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Self

import msgspec

from ramet.model.history.compilation import CommitText, Context
from ramet.model.history.content import COMPRESSES, TypeHints
from ramet.model.history.provider_messages import as_text
from ramet.model.runs.conversation import ContextAccumulator, Turn

EFFORT = "effort"
"""The key of a turn's metadata that names the effort whose line it belongs to."""


class Window:
    """What has been folded so far. `extended` gives the next one and leaves this one as it is."""

    __slots__ = ("_kept", "_said", "questions")

    def __init__(self, max_tokens: int) -> None:
        self._kept = ContextAccumulator(max_tokens)
        self._said = 0
        self.questions: dict[int, int] = {}
        """The efforts whose newest turn is their question, and its commit."""

    @property
    def max_tokens(self) -> int:
        """The size of the window."""
        return self._kept.max_tokens

    @property
    def turns(self) -> list[Turn]:
        """The turns that fit."""
        return self._kept.turns

    @property
    def is_cut(self) -> bool:
        """Whether something was left out."""
        return len(self.turns) < self._said or any(turn.metadata for turn in self.turns)

    def extended(
        self, commits: Sequence[CommitText], hints: dict[str, TypeHints], now: datetime, effort_id: int
    ) -> Self:
        """This window with more commits behind it, without the unanswered question of an effort: its agent is given
        that as its current task. Only an empty window may be extended with rewrites.
        """
        longer = type(self)(self.max_tokens)
        longer._kept.turns = list(self.turns)
        longer.questions = dict(self.questions)
        for commit in commits:
            longer._note_question(commit)
        own = longer.questions.get(effort_id)
        pieces = [piece for piece in Context(hints).extended(list(commits)).visible() if piece.commit_id != own]
        longer._said = self._said + len(pieces)
        longer._kept.add_turns((*as_text(piece), now) for piece in pieces)
        return longer

    def _note_question(self, commit: CommitText) -> None:
        about = _metadata(commit).get(EFFORT)
        if about is None or commit.target_id is not None:
            return
        if commit.role == "user":
            self.questions[about] = commit.commit_id
        else:
            self.questions.pop(about, None)


def is_rewrite(commit: CommitText) -> bool:
    """Whether a commit changes what is compiled of earlier ones."""
    return commit.target_id is not None or COMPRESSES in _metadata(commit)


def _metadata(commit: CommitText) -> dict[str, Any]:
    return msgspec.json.decode(commit.metadata, type=dict[str, Any]) if commit.metadata else {}
