"""`work.prompt`: what an agent is given, from what its chain left in the database and, failing that, on the disk."""

from datetime import UTC, datetime

from msgspec.structs import replace

from ramet.config.settings import WorkSettings
from ramet.errors import EffortNotFound
from ramet.model import prompting
from ramet.model.effort import Effort
from ramet.protocol.work import Chain, GetWork, Prompt, WorkChain, WorkPrompt
from ramet.runner import reports
from ramet.runner.workplace import Workplace


def answer(workplace: Workplace, request: WorkPrompt) -> Prompt:
    """The operation `work.prompt`."""
    return build(workplace, request.effort_id)


def build(workplace: Workplace, effort_id: int) -> Prompt:
    """Exactly what the effort's agent is given. The same facts give the same prompt."""
    chain: Chain = workplace.ask(WorkChain(effort_id=effort_id))
    effort, *ancestors = chain.efforts
    settings = workplace.settings_in(chain.project_path).work
    chosen = prompting.choose(effort, ancestors)
    given = {material.effort.id for material in chosen}
    composed = prompting.compose(
        effort,
        [replace(material, text=_text(settings, chain.project_path, material.effort)) for material in chosen],
        missing=chain.missing,
        failed=_failed(workplace, effort),
        earlier=[other for other in chain.earlier if other.id not in given],
        max_tokens=settings.prompt_max_tokens,
    )
    return Prompt(
        prompt=composed.prompt,
        instruction=composed.instruction,
        context=composed.context,
        report_file=prompting.report_file_of(effort),
        cut=composed.cut,
    )


def continuation(prompt: Prompt, reason: str | None) -> Prompt:
    """What an agent is told that goes on in its own context window: it has seen the rest."""
    why = f"Your last attempt ended before it was done: {reason}." if reason else "Go on where you left off."
    text = f"{why} Look at what is there already, and finish the task, which is unchanged:\n\n{prompt.instruction}"
    if prompt.report_file is not None:
        text += f"\n\nThe report still goes to `{prompt.report_file}`."
    return replace(prompt, prompt=text, instruction=text, context="", cut=False)


def _text(settings: WorkSettings, project_path: str, effort: Effort) -> str | None:
    """The database before the file, unless the file was edited since and `work.prefer_newer_file` says so.

    An empty text is none: the file may have more, and an agent can do nothing with it.
    """
    report = None
    if not effort.output_content or settings.prefer_newer_file:
        report = reports.find(project_path, effort)
    if report is None or (effort.output_content and not _is_newer(report.modified, effort.finished_at)):
        return effort.output_content or None
    return report.text or None


def _is_newer(modified: float, finished_at: datetime | None) -> bool:
    return finished_at is not None and datetime.fromtimestamp(modified, UTC) > finished_at


def _failed(workplace: Workplace, effort: Effort) -> Effort | None:
    """The effort that this one repeats."""
    if effort.retry_of is None:
        return None
    try:
        failed: Effort = workplace.ask(GetWork(effort_id=effort.retry_of))
    except EffortNotFound:
        return None
    return failed
