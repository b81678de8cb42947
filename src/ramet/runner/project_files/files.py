"""`fs.*`: the files of projects, and nothing outside of them."""

import posixpath

from ramet.protocol.hooks.files import Appended, AppendFile, FileText, ReadFile, ResolvedPath, ResolvePath
from ramet.runner import projects
from ramet.runner.answers import answers
from ramet.runner.machine import Machine
from ramet.workspace.files import project_files


@answers(ReadFile)
def read(machine: Machine, request: ReadFile) -> FileText:
    """The operation `fs.files.read`."""
    site = projects.find(machine, request.path)
    text = project_files.read(site.root, request.path)
    end = request.offset + request.limit
    return FileText(
        path=str(project_files.resolve(site.root, request.path).path),
        content=text[request.offset : end],
        size=len(text),
        next=end if end < len(text) else None,
    )


@answers(AppendFile)
def append(machine: Machine, request: AppendFile) -> Appended:
    """The operation `fs.files.append`."""
    site = projects.find(machine, request.path)
    size = project_files.append(site.root, request.path, request.content)
    return Appended(path=str(project_files.resolve(site.root, request.path).path), size=size)


@answers(ResolvePath)
def resolve(machine: Machine, request: ResolvePath) -> ResolvedPath:
    """The operation `fs.paths.resolve`."""
    path = posixpath.join(request.base or "", request.path)
    site = projects.find(machine, request.base or path, "base" if request.base else "path")
    place = project_files.resolve(site.root, path)
    return ResolvedPath(
        path=str(place.path),
        relative=place.relative,
        project=str(site.root),
        project_id=site.project.id,
        kind=project_files.kind_of(place),
    )
