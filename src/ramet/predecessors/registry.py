"""Which earlier system a file or a folder is of."""

from pathlib import Path

from ramet.errors import ImportSourceInvalid
from ramet.predecessors import aurora, engine, gza, tables, tract, workrail
from ramet.predecessors.source import Source, invalid, parents_first
from ramet.vendors.contract.stored_files.database_file import is_database
from ramet.vendors.contract.stored_files.line_file import open_file
from ramet.vendors.contract.stored_files.unreadable import SourceUnreadable

_LONGEST_LINE = 1024 * 1024
_KNOWN = (
    "Ramet imports the databases of tract (versions 2 to 4), gza (1 to 5) and Engine v3, the checkpoints of Aurora and "
    "the sessions of WorkRail"
)


def find_sources(path: Path, project: str) -> list[Source]:
    """The sources in a file or a folder, those that others name before them; none if it is of no earlier system.

    `project` is the absolute path of the project to which a source belongs that does not say so itself.
    """
    if path.is_dir():
        return _in_folder(path, project)
    if is_database(path):
        return [_in_database(path, project)]
    if workrail.is_event(_first_line(path)):
        return [workrail.open_source(path, project)]
    return [aurora.open_source(path, project)] if _is_checkpoint(path) else []


def recognise(path: Path) -> bool:
    """Whether a file or a folder is of an earlier system. It may be damaged, or of a version that is not known."""
    try:
        if path.is_dir():
            return bool(_session_folders(path) or _checkpoint_files(path))
        if is_database(path):
            with tables.opened(path, {}) as database:
                found = set(tables.list_tables(database))
            return tract.is_tract(found) or engine.is_engine(found) or gza.is_gza(found)
        return workrail.is_event(_first_line(path)) or _is_checkpoint(path)
    except (ImportSourceInvalid, OSError):
        return False


def require_sources(path: Path, project: str) -> list[Source]:
    """The same; a file or a folder that is of no earlier system is refused."""
    found = find_sources(path, project)
    if not found:
        raise invalid(path, "it is of no system that Ramet knows", field="path", value=str(path), fix=_KNOWN)
    return found


def _in_folder(folder: Path, project: str) -> list[Source]:
    if sessions := _session_folders(folder):
        return _parents_first(folder, [workrail.open_source(each, project) for each in sessions])
    return [aurora.open_source(each, project) for each in _checkpoint_files(folder)]


def _session_folders(folder: Path) -> list[Path]:
    """The folder itself, or those in it, if they are sessions of WorkRail."""
    if (folder / workrail.MANIFEST).is_file():
        return [folder]
    return [each for each in sorted(folder.iterdir()) if (each / workrail.MANIFEST).is_file()]


def _checkpoint_files(folder: Path) -> list[Path]:
    """The checkpoints in a folder of Aurora. In other folders none are looked for: there may be many large files."""
    if folder.name == aurora.FOLDER:
        folder = folder / aurora.CHECKPOINTS
    return [each for each in sorted(folder.glob("*.json")) if _is_checkpoint(each)] if _is_aurora(folder) else []


def _is_aurora(folder: Path) -> bool:
    return folder.name == aurora.CHECKPOINTS and folder.is_dir()


def _is_checkpoint(path: Path) -> bool:
    return path.suffix == ".json" and aurora.is_checkpoint(aurora.read_document(path))


def _parents_first(folder: Path, sources: list[workrail.WorkRailSource]) -> list[Source]:
    by_id = {source.identity: source for source in sources}
    links = {name: [] if source.parent in (None, name) else [source.parent] for name, source in by_id.items()}
    order = parents_first({name: [p for p in named if p] for name, named in links.items()}, folder, "parentSessionId")
    return [by_id[name] for name in order]


def _in_database(path: Path, project: str) -> Source:
    with tables.opened(path, {}) as database:
        found = set(tables.list_tables(database))
    if tract.is_tract(found):
        return tract.open_source(path)
    if engine.is_engine(found):
        return engine.open_source(path)
    if gza.is_gza(found):
        return gza.open_source(path, project)
    raise invalid(
        path,
        f"it has the tables of no system that Ramet knows: {', '.join(sorted(found)) or 'none'}",
        field="path",
        value=str(path),
        fix=_KNOWN,
    )


def _first_line(path: Path) -> bytes:
    try:
        with open_file(path) as file:
            return file.readline(_LONGEST_LINE)
    except SourceUnreadable as error:
        raise ImportSourceInvalid(str(error), field="path", value=str(path)) from error
