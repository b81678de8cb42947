"""The steps of a purge, one after the other: the next caller continues what was interrupted."""

from collections.abc import Generator
from typing import Any

from ramet.protocol.memory.archives import PlanPurge, PurgePlan, PurgeSpan, PurgeStep, PurgeStepReply
from ramet.protocol.operation import Request


def purge_steps() -> Generator[Request[Any], Any, None]:
    """A generator that gives requests and is sent their replies, until nothing is left to purge.

    It neither waits nor asks by itself, so that commands and the daemon's event loop run the same steps.
    """
    has_purged, branch, after_event = False, None, 0
    while True:
        plan: PurgePlan = yield PlanPurge(is_last=has_purged, branch=branch, after_event=after_event)
        if plan.branch is None:
            return
        has_purged = True
        for span in plan.spans:
            left: PurgeSpan | None = span
            while left is not None:
                reply: PurgeStepReply = yield PurgeStep(branch=plan.branch, span=left)
                left = reply.next
        if not plan.spans:
            yield PurgeStep(
                branch=plan.branch,
                event_ids=plan.event_ids,
                replies=plan.replies,
                image_hashes=plan.image_hashes,
            )
        if plan.branch != branch:
            branch, after_event = plan.branch, 0
        after_event = plan.event_ids[-1] if plan.event_ids else after_event
