"""What a child may be: the same as its parent, or what the owner lists, and never more than its parent.

Whoever asks: an agent with its token, its tools, or a person for it. It is decided when the child is spawned, and the
driver is written into its effort, so that nothing that is configured or requested later gives it another one.
"""

from ramet.engine.transaction import Transaction
from ramet.errors import Forbidden
from ramet.model.record.effort import Effort
from ramet.model.record.session import Session
from ramet.model.spawn.confinement import Confinement
from ramet.protocol.spawn.children import ChildOrder, SpawnAgent

_SHELL = "shell"
"""A skill of this name chooses the driver of this name."""


def choose_driver(tx: Transaction, order: ChildOrder | SpawnAgent, parent: Session, above: Effort) -> str | None:
    """The driver or profile of a child; None: the owner's default. One that would give it more is refused."""
    own = _profile_of(parent, above)
    wanted = order.driver or (_SHELL if order.workflow_id == _SHELL else None) or _inherited(tx, parent, own)
    if wanted is None or (own is None and tx.asker is None):
        return wanted
    runs_commands = wanted in tx.profiles and tx.profiles[wanted].runs_commands
    if wanted not in tx.spawn.drivers and (runs_commands or not _may_have(tx, own, wanted)):
        raise _refusal(wanted, own, f"{wanted} is not in spawn.drivers", "let the user add it to spawn.drivers")
    excess = None if own is None or own == wanted else _find_excess(tx, wanted, parent, own)
    if excess is not None:
        raise _refusal(wanted, own, excess, "choose a profile that is bounded like that of its parent")
    return wanted


def choose_tools(order: ChildOrder | SpawnAgent, above: Effort) -> list[str] | None:
    """The only tools that a child may use: those that it is given, as far as its parent has them. None: any."""
    parents: list[str] | None = ((above.metadata or {}).get("spawn") or {}).get("allowed_tools")
    if parents is None or order.allowed_tools is None:
        return order.allowed_tools if parents is None else parents
    both = [tool for tool in order.allowed_tools if tool in parents]
    if order.allowed_tools and not both:
        raise Forbidden(
            f"its parent has none of these tools: it has {', '.join(parents) or 'no tools'}",
            field="allowedTools",
            value=", ".join(order.allowed_tools),
            fix="name tools of the parent, or leave out allowedTools",
        )
    return both


def _profile_of(parent: Session, above: Effort) -> str | None:
    """What runs the parent: the profile, if Ramet started it; else the program whose hooks or tools named it."""
    return (above.driver or parent.driver) if parent.instance is not None else (parent.driver or above.driver)


def _inherited(tx: Transaction, parent: Session, own: str | None) -> str | None:
    """The driver of a child that names none. A program of the user's own that nothing bounds, and one that Ramet cannot
    start, get the default one.
    """
    if own is None or own not in tx.profiles:
        return own if parent.instance is not None else None
    return None if tx.profiles[own].is_free_program else own


def _may_have(tx: Transaction, own: str | None, wanted: str) -> bool:
    """Whether a child may have a driver that the owner does not list."""
    return own is not None and (own == wanted or (own in tx.profiles and tx.profiles[own].is_free_program))


def _find_excess(tx: Transaction, wanted: str, parent: Session, own: str) -> str | None:
    """What a child would have more than its parent. A profile that only its project's file has is not known here."""
    bounds = tx.profiles.get(own)
    if bounds is None:
        return f"what bounds {own} is not known" if parent.instance is not None else None
    return tx.profiles.get(wanted, Confinement()).find_excess(bounds)


def _refusal(wanted: str, own: str | None, why: str, fix: str) -> Forbidden:
    who = f"a child of {own}" if own else "a child"
    return Forbidden(
        f"{who} cannot run with {wanted}: {why}", field="driver", value=wanted, fix=f"leave it out, or {fix}"
    )
