"""The vendors whose hooks we understand. One more is a module in `vendors` and a row here."""

from typing import Any, Protocol

from ramet.model.hooks.directive import OwnDirectives
from ramet.model.hooks.hook import HookAnswer, HookEvent
from ramet.vendors.claude import hooks as claude
from ramet.vendors.codex import hooks as codex


class Vendor(Protocol):
    """What a module of `vendors` has."""

    EVENTS: tuple[str, ...]
    """The hooks that are worth being called at."""
    OWN_DIRECTIVES: OwnDirectives
    """What its program reads without being told."""

    def read(self, payload: dict[str, Any]) -> HookEvent:
        """A payload in our words. Never fails: what is not as expected is left out."""

    def answer(self, event: HookEvent, reply: HookAnswer) -> tuple[dict[str, Any] | str | None, int]:
        """What its program prints for it, and the status with which it exits."""


VENDORS: dict[str, Vendor] = {"claude": claude, "codex": codex}


def own_directives(vendor: str) -> OwnDirectives | None:
    """What a vendor's program reads without being told; None where we know nothing of it."""
    return VENDORS[vendor].OWN_DIRECTIVES if vendor in VENDORS else None
