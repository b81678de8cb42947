"""The operations about exports and purges that read beside the writer, however long they take."""

from ramet.protocol.memory.archives import Export, ExportReport
from ramet.store.database.operations import Asked, answers
from ramet.store.memory.export_file import write_export


@answers(Export)
def export(asked: Asked, request: Export) -> ExportReport:
    """Write sessions to a new file."""
    db = asked.store.connect_reader()
    try:
        return write_export(db, request)
    finally:
        db.close()
