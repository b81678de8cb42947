"""The operations about exports and purges that read beside the writer, however long they take."""

from ramet.protocol.memory.archives import DatabaseSize, Export, ExportReport, PlanPurge, PurgePlan, SizeReport
from ramet.store.database.operations import Asked, answers
from ramet.store.database.store import Store
from ramet.store.memory import purge_plans, sizes
from ramet.store.memory.exports.export_file import write_export


@answers(Export)
def export(asked: Asked, request: Export) -> ExportReport:
    """Write sessions to a new file."""
    db = asked.store.connect_reader()
    try:
        return write_export(db, request)
    finally:
        db.close()


@answers(PlanPurge)
def plan_purge(asked: Asked, request: PlanPurge) -> PurgePlan:
    """What is to be purged next."""
    db = asked.store.connect_reader()
    try:
        db.begin_reading()
        plan = purge_plans.plan(db, request)
    finally:
        db.rollback()
        db.close()
    if plan.branch is None and request.is_last:
        assert isinstance(asked.store, Store)  # noqa: S101 - it is asked where the database can be written
        asked.store.forget_deleted()
    return plan


@answers(DatabaseSize)
def measure(asked: Asked, request: DatabaseSize) -> SizeReport:  # noqa: ARG001
    """What takes the space."""
    return sizes.measure(asked.store)
