"""Tending: no child waits for ever for somebody who is not there any more."""

from ramet.protocol.spawning import ListStranded, TendChildren
from ramet.runner.runner_context import Workshop


async def tend(shop: Workshop, *, is_starting: bool = False) -> None:
    """Give what is stranded an outcome, or its place in the queue. Nearly always there is nothing, and nothing is
    written.
    """
    host = shop.name if is_starting and shop.host else None
    if (await shop.ask(ListStranded(is_starting=is_starting, host=host))).effort_ids:
        await shop.ask(TendChildren(is_starting=is_starting, host=host))
