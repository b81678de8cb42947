"""Refused calls: the calls that were refused to an effort's agents are told to a person, with what would allow them."""

import hashlib
import shlex

from ramet.engine.record import lookup
from ramet.engine.system import notices
from ramet.engine.transaction import Transaction
from ramet.store.record import refused_calls as rows

_MOST_READ = 1000
_MOST_NAMED = 3


def tell(tx: Transaction, effort_id: int) -> None:
    """Give one notice for an effort. Another one follows only if later calls need other rules."""
    count = rows.count(tx.db, effort_id)
    if not count:
        return
    found = rows.list_of_effort(tx.db, effort_id, _MOST_READ)
    rules = list(dict.fromkeys(rule for call in found for rule in call.rules))
    advice = list(dict.fromkeys(call.advice for call in found if call.subject == "host"))
    fixes = [f"`ramet allow e{effort_id} {shlex.quote(rule)}`" for rule in rules] + advice
    more = f" and {len(fixes) - _MOST_NAMED} more" if len(fixes) > _MOST_NAMED else ""
    text = f"e{effort_id}: {count} {'call was' if count == 1 else 'calls were'} refused"
    if fixes:
        text += f"; to allow: {', '.join(fixes[:_MOST_NAMED])}{more}"
    needs = hashlib.sha256("\n".join(sorted(fixes)).encode()).hexdigest()[:16]
    effort = lookup.effort(tx, effort_id)
    notices.add(
        tx, "refused", effort, f"{text}; `ramet allow e{effort_id}` lists them", key=f"refused/{effort_id}/{needs}"
    )
