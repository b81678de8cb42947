"""Logs on the disk: notes are put behind each other, and nothing is ever taken away."""

from pathlib import Path

from ramet.model.hooks.note import has_entry
from ramet.workspace.files import project_files, reports


def append(root: str | Path, path: str, entry: str, *, is_repeated: bool = False) -> int:
    """Put an entry behind the others; the size of the log. One that is repeated, because an answer was lost, may be
    there already, and is then not put there again.
    """
    if project_files.resolve(root, path).relative.startswith(f"{reports.FOLDER}/"):
        reports.prepare(root)
    if is_repeated:
        end = project_files.read_end(root, path)
        if end is not None and has_entry(end.data, entry):
            return end.size
    return project_files.append(root, path, entry)
