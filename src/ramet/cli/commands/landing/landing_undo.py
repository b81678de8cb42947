"""`ramet undo l3`: take a landing back."""

from ramet.cli.commands.landing.landing_lines import outcome, wait_for
from ramet.cli.invocation import Invocation
from ramet.cli.output import say
from ramet.errors import LandingRefused
from ramet.protocol.landing.landings import UndoLanding


def undo_landing(invocation: Invocation, landing_id: int) -> None:
    """Queue the undoing, and wait until it is done. `LandingRefused` if it cannot be done."""
    [row] = wait_for(invocation, [invocation.ask(UndoLanding(landing_id=landing_id))])
    if row.state != "landed":
        raise LandingRefused(outcome(row), value=landing_id, fix=f"then `ramet landings retry l{row.id}`")
    say(invocation, row, outcome(row))
