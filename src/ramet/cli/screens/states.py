"""The words for states, and their colours: the same in every screen. The word always says it; the colour only helps."""

from ramet.cli.output import Styled
from ramet.model.record.session import SessionStatus

_GREEN = ("success", "completed", "succeeded", "approved", "finished")
_RED = ("error", "failed", "timeout", "stuck", "budget", "orphaned", "refused", "gave up")
_CYAN = ("running", "active", "in progress", "starting", "open")
_YELLOW = (
    "waiting",
    "needs approval",
    "awaits child",
    "blocked",
    "silent",
    "stopping",
    "interrupted",
    "parked",
    "no change",
)
_DIM = ("dropped", "cancelled", "ended", "skipped", "archived")

STYLES: dict[str, str] = {
    **dict.fromkeys(_GREEN, "green"),
    **dict.fromkeys(_RED, "red"),
    **dict.fromkeys(_CYAN, "cyan"),
    **dict.fromkeys(_YELLOW, "yellow"),
    **dict.fromkeys(_DIM, "dim"),
}
"""The style of each word. A word that is not here, such as `queued`, has none."""

_STATUSES: dict[SessionStatus, str] = {
    "waiting_approval": "needs approval",
    "waiting_person": "waiting",
    "waiting_child": "awaits child",
    "detecting": "silent",
}
"""Session statuses whose wire name is not the word that people read."""


def status_word(status: SessionStatus) -> str:
    """The word for what a session is doing."""
    return _STATUSES.get(status, status)


def style_of(word: str) -> str:
    """The style of a state's word, or of its name on the wire."""
    return STYLES.get(word.replace("_", " "), "")


def styled(word: str | None) -> Styled | None:
    """A state as the cell of a table: its word in its colour."""
    return None if word is None else Styled(word.replace("_", " "), style_of(word))
