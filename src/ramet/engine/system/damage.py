"""Damage to the database, as far as the database itself can still say it."""

from ramet.engine.answers import answers
from ramet.engine.transaction import Transaction
from ramet.protocol.system.damage import DamageNoted, NoteDamage
from ramet.store import notices


@answers(NoteDamage)
def note(tx: Transaction, request: NoteDamage) -> DamageNoted:
    """The operation `db.note_damage`."""
    notice_id = notices.add(
        tx.db,
        kind="damaged",
        text=f"the database is damaged and read-only: {request.reason}; `ramet db check` lists the damage",
        effort_id=None,
        session_id=None,
        dedupe_key=f"damaged/{request.since}",
        now=tx.now,
    )
    if notice_id is not None:
        tx.record("database.damaged", data={"reason": request.reason, "notice": notice_id})
        tx.record("notice.added", data={"notice": notice_id, "kind": "damaged"})
    return DamageNoted(notice_id=notice_id)
