"""Tending: no child waits for ever for somebody who is not there any more."""

from ramet.protocol.work.awaited_children import ListStranded, TendChildren
from ramet.runner.context import RunnerContext


async def tend(runner: RunnerContext, *, is_starting: bool = False) -> None:
    """Give what is stranded an outcome, or its place in the queue. Nearly always there is nothing, and nothing is
    written.
    """
    host = runner.name if is_starting and runner.host else None
    if (await runner.ask(ListStranded(is_starting=is_starting, host=host))).effort_ids:
        await runner.ask(TendChildren(is_starting=is_starting, host=host))
