"""Confinement: how much a profile lets its agent do, so that a child is never let do more than its parent."""

from typing import Literal

from msgspec import Struct

Sandbox = Literal["off", "workspace", "strict"]
"""From the widest to the narrowest."""

_SANDBOXES: tuple[Sandbox, ...] = ("off", "workspace", "strict")
UNBOUNDED = 3
"""The freedom of a program that asks nobody: whatever its user may do."""


class Confinement(Struct, frozen=True, kw_only=True):
    """What bounds the agents of one profile."""

    runs_commands: bool = False
    """Whether its agent is a program of the user's own, such as a shell, which no vendor's rules bound."""
    wrapper: tuple[str, ...] = ()
    """The command that its program runs in."""
    sandbox: Sandbox = "off"
    freedom: int = UNBOUNDED
    """What its permission mode lets it do unasked: 0 read, 1 what a person approves, 2 edit, 3 everything. A program of
    the user's own has none: whoever lists it knows that it asks nobody.
    """

    @property
    def is_free_program(self) -> bool:
        """Whether it is such a program, and nothing bounds it but its user's own rights."""
        return self.runs_commands and not self.wrapper and self.sandbox == "off"

    def find_excess(self, parent: "Confinement") -> str | None:
        """In which way it is wider than its parent's; None if it is not."""
        if parent.wrapper and self.wrapper != parent.wrapper:
            return "it does not run in the wrapper of its parent"
        if _SANDBOXES.index(self.sandbox) < _SANDBOXES.index(parent.sandbox):
            return f"its sandbox is {self.sandbox}, and that of its parent is {parent.sandbox}"
        if not self.runs_commands and self.freedom > parent.freedom:
            return "its permission mode is wider than that of its parent"
        return None
