"""`fs.*`: the files of projects, and nothing outside of them."""

import posixpath

from ramet.protocol.commands import Appended, AppendFile, FileText, ReadFile, ResolvedPath, ResolvePath
from ramet.runner import projects
from ramet.runner.host import Workplace
from ramet.workspace.files import project_files


def read(workplace: Workplace, request: ReadFile) -> FileText:
    """The operation `fs.files.read`."""
    site = projects.find(workplace, request.path)
    text = project_files.read(site.root, request.path)
    end = request.offset + request.limit
    return FileText(
        path=str(project_files.resolve(site.root, request.path).path),
        content=text[request.offset : end],
        size=len(text),
        next=end if end < len(text) else None,
    )


def append(workplace: Workplace, request: AppendFile) -> Appended:
    """The operation `fs.files.append`."""
    site = projects.find(workplace, request.path)
    size = project_files.append(site.root, request.path, request.content)
    return Appended(path=str(project_files.resolve(site.root, request.path).path), size=size)


def resolve(workplace: Workplace, request: ResolvePath) -> ResolvedPath:
    """The operation `fs.paths.resolve`."""
    path = posixpath.join(request.base or "", request.path)
    site = projects.find(workplace, request.base or path, "base" if request.base else "path")
    place = project_files.resolve(site.root, path)
    return ResolvedPath(
        path=str(place.path),
        relative=place.relative,
        project=str(site.root),
        project_id=site.project.id,
        kind=project_files.kind_of(place),
    )
