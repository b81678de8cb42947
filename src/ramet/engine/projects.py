"""Projects: where agents work."""

from ramet.engine import named
from ramet.engine.transaction import Transaction
from ramet.model.project import Project
from ramet.protocol.replies import Page
from ramet.protocol.requests import ListProjects, UpsertProject
from ramet.store import projects


def upsert(tx: Transaction, request: UpsertProject) -> Project:
    """Register a project by its absolute path, or change its name."""
    path = named.absolute(request.path, "path")
    known = projects.find_at(tx.db, path)
    if known is not None and request.name in (None, known.name):
        return known
    project = projects.register(tx.db, path, request.name, tx.now)
    tx.record("project.changed" if known else "project.added", project_id=project.id)
    return project


def list_all(tx: Transaction, _request: ListProjects) -> Page[Project]:
    """All projects."""
    return Page(items=projects.list_all(tx.db))
