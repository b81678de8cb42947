"""Events: what happened, in order, from any point on."""

from ramet.engine.answers import answers
from ramet.engine.transaction import Transaction
from ramet.model.event import Event
from ramet.protocol.replies import Page
from ramet.protocol.system.events import ListEvents
from ramet.store import events


@answers(ListEvents)
def list_after(tx: Transaction, request: ListEvents) -> Page[Event]:
    """Events behind one, or the newest; `next` is what to ask for to get those behind these."""
    limit = min(request.limit, tx.limits.page_max)
    if request.newest:
        return Page(items=events.list_newest(tx.db, limit, request.kind))
    items = events.list_after(tx.db, request.after, limit + 1, request.kind)
    more = len(items) > limit
    return Page(items=items[:limit], next=items[limit - 1].id if more else None)
