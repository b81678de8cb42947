"""Scopes: an agent may ask for its own session and for those below it. The user may ask for all."""

from ramet.engine.transaction import Transaction
from ramet.errors import Forbidden
from ramet.model.record.session import Session
from ramet.store.spawn import children


def require(tx: Transaction, session: Session, field: str = "session_id") -> None:
    """Refuse a session that is not the asker's. Another attempt at the asker's own effort is its own as well."""
    if tx.asker is None or session.id == tx.asker or children.is_within(tx.db, session.id, tx.asker):
        return
    raise Forbidden(f"session {tx.asker} cannot access session {session.id}", field=field, value=session.id)
