"""Documents of other systems that `ramet import PATH` can read, besides the sessions of agent programs.

An importer of this kind is asked first whether it knows a path. This table is the one place to add it.
"""

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from ramet.cli.commands.memory.archives import file
from ramet.cli.commands.memory.archives.archive_import import import_archive
from ramet.cli.commands.memory.imports import predecessors
from ramet.cli.invocation import Invocation
from ramet.predecessors import registry


class DocumentImport(NamedTuple):
    """How the documents of one system are imported."""

    system: str
    recognise: Callable[[Path], bool]
    """Whether a file or folder is such a document. It may look into it, and changes nothing."""
    run: Callable[[Invocation, Path, bool], None]
    """Import it and say what was done; only show what there is if the last argument, `dry_run`, is set."""


DOCUMENTS: tuple[DocumentImport, ...] = (
    DocumentImport("ramet", file.is_archive, import_archive),
    DocumentImport("the systems before Ramet", registry.recognise, predecessors.run),
)


def find(path: Path) -> DocumentImport | None:
    """The system whose document a path is; None if it is that of none."""
    return next((each for each in DOCUMENTS if each.recognise(path)), None)
