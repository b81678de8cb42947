"""Codex's hooks: the common words (`hook_words`), but an answer is thrown away for one field too many."""

from typing import Any

from msgspec.structs import replace

from ramet.model.hooks.directive import OwnDirectives
from ramet.model.hooks.hook import HookAnswer, HookEvent
from ramet.vendors.codex.facts import DIRECTIVE_FILE
from ramet.vendors.contract.hooks import words as hook_words
from ramet.vendors.contract.hooks.protocol import Hooks, Printed

_WORDS = hook_words.Vocabulary(
    vendor="codex",
    moments=hook_words.MOMENTS,
    informed=hook_words.INFORMED,
    prompt_id="turn_id",
    longest={},
    usual_longest=9_000,  # it writes what is longer than 2,500 tokens into a file
)


def read(payload: dict[str, Any]) -> HookEvent:
    """The event in our words. Inside a sub-agent it names that one's transcript, and not the session's."""
    event = hook_words.read(_WORDS, payload)
    if event.agent_id is None or not (event.transcript_path or "").endswith(f"{event.agent_id}.jsonl"):
        return event
    return replace(event, transcript_path=None, agent_transcript_path=event.transcript_path)


def answer(event: HookEvent, reply: HookAnswer) -> tuple[Printed, int]:
    """What it prints, and the status with which it exits."""
    return hook_words.answer(_WORDS, event, reply)


HOOKS = Hooks(
    events=tuple(_WORDS.moments),
    own_directives=OwnDirectives(DIRECTIVE_FILE, with_imports=False, below=False),
    read=read,
    answer=answer,
)
