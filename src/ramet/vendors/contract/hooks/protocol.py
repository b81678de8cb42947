"""What the hooks part of a vendor is: which hooks are worth a call, and how its words become ours and ours its own."""

from collections.abc import Callable
from typing import Any, NamedTuple

from ramet.model.hooks.directive import OwnDirectives
from ramet.model.hooks.hook import HookAnswer, HookEvent

Printed = dict[str, Any] | str | None
"""What a hook prints for its program: a JSON object, a line of text, or nothing."""


class Hooks(NamedTuple):
    """One vendor's hooks."""

    events: tuple[str, ...]
    """The hooks that Ramet is called at: each costs the agent a process."""
    own_directives: OwnDirectives
    """The directives that its program reads by itself."""
    read: Callable[[dict[str, Any]], HookEvent]
    """A payload in our words. Never fails: a field of an unexpected type is left out."""
    answer: Callable[[HookEvent, HookAnswer], tuple[Printed, int]]
    """What the hook prints for its program, and its exit status."""
