"""What is remembered: the only SQL. Two databases, one set of domain verbs, and no decisions.

`open_store` gives a `Store`; a `Connection` of it runs named queries (`sql/queries/*.sql`); the modules named after
nouns (`efforts`, `sessions`, …) are the verbs that the engine calls with a connection.
"""

from ramet.store.database.open import open_store, open_to_read, reset_store
from ramet.store.database.operations import answer
from ramet.store.database.store import ReadableStore, Store
from ramet.store.memory import operations as _memory_operations  # noqa: F401 - registers its answers

__all__ = ["ReadableStore", "Store", "answer", "open_store", "open_to_read", "reset_store"]
