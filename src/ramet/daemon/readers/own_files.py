"""Read, at the daemon's start, every file of Ramet that it may need later.

`pip install -U` replaces the files under a running daemon. Whatever it imported or read after that would be of another
build than the rest of it, or missing in the middle of the installation. So it lives from memory until a command of the
new build replaces it. Processes that it starts from the disk until then, keepers above all, understand a daemon of the
build before.
"""

from importlib import import_module
from pkgutil import walk_packages
from typing import get_args

from ramet import vendors
from ramet.build import own_build
from ramet.config.prices import read_table
from ramet.store.database import blobs, queries
from ramet.store.memory.index import search_index
from ramet.vendors import registry

_IMPORTED_LATE = (
    "psutil",
    "urllib.request",
    "yaml",
    "ramet.config.profile_errors",
    "ramet.keeper.kernel",
    "ramet.model.record.skills.front_matter",
    "ramet.model.runs.checklist",
    "ramet.model.runs.task_file",
    "ramet.protocol.wire.describe",
)
"""Modules that are imported where they are first needed, because commands that need them not start faster."""


def read_own_files() -> None:
    """Before the readers are forked: they share what is in memory."""
    own_build()
    for name in _IMPORTED_LATE:
        import_module(name)
    for found in walk_packages(vendors.__path__, f"{vendors.__name__}."):
        import_module(found.name)
    for part in get_args(registry.Part):
        registry.names(part)
    queries.read_all()
    blobs.read_dictionaries()
    search_index.fingerprint()
    read_table()
