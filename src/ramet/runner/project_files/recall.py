"""What earlier sessions and documents know about an effort that starts, for its briefing.

Nothing here can fail a start: without an index, or with one that cannot be asked, nothing is known.
"""

from contextlib import suppress
from typing import NamedTuple

from ramet.errors import ConfigError, RametError
from ramet.model.history.commit import estimate_tokens
from ramet.model.hooks.worked_commands import MOST_BYTES as COMMANDS_BYTES
from ramet.model.memory.recollection import Recollection, render
from ramet.protocol.hooks.effort_starts import Begun
from ramet.protocol.hooks.hooks import NoteInjected
from ramet.protocol.memory.recall import Recall
from ramet.runner.machine import Machine
from ramet.runner.projects import Site

_DOCUMENTS = ("doc", "directive")
"""The kinds of texts that programs gave to `search.upsert`."""
_LEAST_BYTES = 100


class PriorKnowledge(NamedTuple):
    """Quotes, each within its bytes; empty if nothing is relevant."""

    sessions: str = ""
    docs: str = ""


def recall(machine: Machine, site: Site, begun: Begun) -> PriorKnowledge:
    """What is known about the effort's task, within the bytes that are left beside the commands that worked."""
    room = _find_room(machine, site) - COMMANDS_BYTES
    if room < _LEAST_BYTES or not begun.topic:
        return PriorKnowledge()
    try:
        found = machine.ask(Recall(query=begun.topic, session_id=begun.session.id)).items
    except RametError:
        return PriorKnowledge()
    docs = _render(found, room // 2, is_document=True)
    sessions = _render(found, room - len(docs.encode()), is_document=False)
    if docs or sessions:
        _note(machine, begun, docs + sessions, [each.place for each in found])
    return PriorKnowledge(sessions, docs)


def _find_room(machine: Machine, site: Site) -> int:
    try:
        return machine.settings_in(str(site.root)).recall.start_bytes
    except (ConfigError, OSError):
        return machine.settings.recall.start_bytes


def _render(found: list[Recollection], room: int, *, is_document: bool) -> str:
    return render([each for each in found if (each.kind in _DOCUMENTS) == is_document], room)


def _note(machine: Machine, begun: Begun, text: str, places: list[str]) -> None:
    """Write down what the agent reads of it, because its user pays for it."""
    with suppress(RametError):
        machine.ask(
            NoteInjected(
                session_id=begun.session.id,
                moment="effort_start",
                size=len(text.encode(errors="replace")),
                tokens=estimate_tokens(text),
                places=places[:100],
            )
        )
