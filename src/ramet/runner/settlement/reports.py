"""Reports between the disk and the database: read from the agent's folder, and copied to the project for people."""

from contextlib import suppress
from pathlib import Path

from ramet.errors import PathOutside, ReportMissing
from ramet.model.record.effort import Effort
from ramet.model.record.prompt import report_file_of
from ramet.model.redaction import Redactor
from ramet.protocol.record.efforts import nest
from ramet.protocol.work.attempts import WorkChain
from ramet.protocol.work.queue import SetOutput
from ramet.protocol.work.worktrees import Synced, SyncReport
from ramet.runner.answers import answers
from ramet.runner.machine import Machine
from ramet.workspace.files import reports
from ramet.workspace.files.reports import Report


def collect(worktree: str, project_path: str, report_file: str, redactor: Redactor) -> str | None:
    """The report that an agent left in its worktree, which people then find in the project, both without secrets.

    None if it left none that can be read. A copy that cannot be made is no reason to lose the report.
    """
    try:
        found = reports.read(worktree, report_file)
    except (PathOutside, OSError):
        return None
    if found is None:
        return None
    text = redactor.redact(found.text).text
    if text != found.text:
        publish(worktree, report_file, text)
    if worktree != project_path:
        publish(project_path, report_file, text)
    return text


def publish(project_path: str, report_file: str, text: str) -> None:
    """Copy a report to where people look for it. If the project cannot be written to, only the database has it."""
    with suppress(PathOutside, OSError):
        reports.write(project_path, report_file, text)


def find(project_path: str, effort: Effort) -> Report | None:
    """An effort's report on this disk: in the project, else in its worktree; None if none can be read."""
    report_file = report_file_of(effort)
    if report_file is None:
        return None
    for root in (project_path, effort.place.worktree):
        with suppress(PathOutside, OSError):
            if root is not None and (found := reports.read(root, report_file)) is not None:
                return found
    return None


@answers(SyncReport)
def sync(machine: Machine, request: SyncReport) -> Synced:
    """The operation `report.sync`."""
    chain = machine.ask(WorkChain(effort_id=request.effort_id, host=machine.host))
    effort = nest(chain.efforts[0])
    report_file = report_file_of(effort)
    found = _read_strictly(chain.project_path, effort, report_file) if report_file else None
    if found is None or report_file is None:
        raise ReportMissing(f"e{effort.id} has no report on this disk: {report_file}", value=report_file)
    after = machine.ask(
        SetOutput(
            effort_id=effort.id,
            output_content=found.text,
            report_file=report_file,
            idempotency_key=request.idempotency_key,
        )
    )
    return Synced(
        effort_id=effort.id,
        report_file=report_file,
        changed=after.output_content != effort.output_content,
        characters=len(found.text),
    )


def _read_strictly(project_path: str, effort: Effort, report_file: str) -> Report | None:
    """The same as `find`, but a path that leads out is an error, because the caller named it."""
    for root in (project_path, effort.place.worktree):
        if root is not None and Path(root).is_dir() and (found := reports.read(root, report_file)) is not None:
            return found
    return None
