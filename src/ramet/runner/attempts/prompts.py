"""`work.prompt`: what an agent is given, from what its chain left in the database and, failing that, on the disk."""

from collections.abc import Sequence
from datetime import UTC, datetime

from msgspec.structs import replace

from ramet.config.settings import Settings, WorkSettings
from ramet.errors import EffortNotFound
from ramet.model.history.commit import estimate_tokens
from ramet.model.record import prompt as prompting
from ramet.model.record.effort import Effort
from ramet.model.record.prompt import Composed
from ramet.model.record.skills import skill_prompt
from ramet.model.runs import line_prompt
from ramet.model.runs.line_prompt import Said
from ramet.model.spawn import child_prompt
from ramet.protocol.record.efforts import EffortRow, nest
from ramet.protocol.runs.runs import GetRun, LineContext, RunContext, ToldTurn
from ramet.protocol.work.attempts import Chain, Prompt, WorkChain, WorkPrompt
from ramet.protocol.work.queue import GetWork
from ramet.runner.answers import answers
from ramet.runner.machine import Machine
from ramet.runner.runs import branches, line_worktrees
from ramet.runner.settlement import reports
from ramet.runner.spawn import child_setup


@answers(WorkPrompt)
def answer(machine: Machine, request: WorkPrompt) -> Prompt:
    """The operation `work.prompt`."""
    return build(machine, request.effort_id)


def build(machine: Machine, effort_id: int) -> Prompt:
    """Exactly the prompt of the effort's agent. The same facts give the same prompt."""
    chain = machine.ask(WorkChain(effort_id=effort_id, host=machine.host))
    effort = chain.efforts[0]
    settings = machine.settings_in(chain.project_path)
    work = settings.work
    budget = min(work.skill_max_tokens, work.prompt_max_tokens // 2)
    told = skill_prompt.compose(nest(effort), chain.skill, chain.skill_text, budget)
    room = max(work.prompt_max_tokens - estimate_tokens(_join(told.text, "    ")), 0)
    composed = _compose(machine, chain, replace(settings, work=replace(work, prompt_max_tokens=room)))
    return Prompt(
        prompt=_join(told.text, composed.prompt),
        instruction=composed.instruction,
        context=_join(told.text, composed.context),
        report_file=prompting.report_file_of(nest(effort)),
        cut=composed.cut or told.cut,
        phase=effort.current_phase,
    )


def _join(skill: str, rest: str) -> str:
    return "\n\n".join(part for part in (skill, rest) if part)


def _compose(machine: Machine, chain: Chain, settings: Settings) -> Composed:
    row = chain.efforts[0]
    effort, *ancestors = [nest(each) for each in chain.efforts]
    if effort.spawn.by is not None:
        spawned = child_setup.read(row)
        tokens = settings.work.prompt_max_tokens
        inherited = child_setup.compile_inherited(machine, row, spawned, tokens // 2)
        return child_prompt.compose(effort, spawned.context, inherited, tokens)
    run = _told(machine, row, settings.runs.context_tokens)
    if run is not None and run.mode == "sequential":
        said: list[Said] = [(turn.role, turn.content) for turn in run.turns]
        return line_prompt.compose_sequential(effort, said, is_cut=run.is_cut)
    if run is not None and run.mode == "parallel":
        needed = [nest(other) for other in line_worktrees.dependencies(machine, row) if other.attempts]
        return line_prompt.compose_parallel(effort, needed, settings.work.prompt_max_tokens)
    if (row.metadata or {}).get(prompting.EXACT):
        return line_prompt.compose_sequential(effort, [], is_cut=False)
    chosen = prompting.choose(effort, ancestors)
    given = {material.effort.id for material in chosen}
    return prompting.compose(
        effort,
        [replace(material, text=_text(settings.work, chain.project_path, material.effort)) for material in chosen],
        missing=chain.missing,
        failed=_failed(machine, effort),
        earlier=[nest(other) for other in chain.earlier if other.id not in given],
        max_tokens=settings.work.prompt_max_tokens,
        also=_round(machine, effort, ancestors),
    )


def _told(machine: Machine, effort: EffortRow, max_tokens: int) -> LineContext | None:
    """What a line is told of its run: the compile of the run's branch; if no conversation is saved, that of the lines
    before it that were attempted since the run was last started or resumed.
    """
    if effort.run_id is None:
        return None
    run = machine.ask(RunContext(run_id=effort.run_id, effort_id=effort.id, max_tokens=max_tokens))
    if run.is_saved or run.mode != "sequential":
        return run
    lines = [
        nest(line)
        for line in branches.list_lines(machine, effort.run_id, "finished")
        if line.attempts and _place(line) < _place(effort) and _ended_at(line) >= run.started_at
    ]
    said, is_cut = line_prompt.retell(lines, max_tokens)
    return replace(run, turns=[ToldTurn(role, content) for role, content in said], is_cut=is_cut)


def _place(line: EffortRow) -> int:
    return line.run_order or 0


def _ended_at(line: EffortRow) -> datetime:
    return line.finished_at or line.created_at


def _round(machine: Machine, effort: Effort, ancestors: Sequence[Effort]) -> str:
    """What is said to a review of a chain that is not its first."""
    last = next((other for other in ancestors if other.skill == "review"), None)
    if effort.skill != "review" or effort.line.run_id is None or last is None:
        return ""
    detail = machine.ask(GetRun(run_id=effort.line.run_id))
    left = [finding for finding in detail.findings if finding.state == "open"]
    return line_prompt.say_round(last, ancestors[0].place.git_head, left)


def continuation(prompt: Prompt, reason: str | None) -> Prompt:
    """The prompt of an agent that continues in its own context window, which has the rest."""
    why = f"Your last attempt ended before the task was done: {reason}." if reason else "Continue where you left off."
    if prompt.phase is not None:
        # Somebody else may have moved the effort since, and what the window has of it is older.
        why += f" {skill_prompt.say_phase(prompt.phase)}"
    text = f"{why} Check what is already there, then finish the task, which is unchanged:\n\n{prompt.instruction}"
    if prompt.report_file is not None:
        text += f"\n\nWrite your report to `{prompt.report_file}`, as before."
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


def _failed(machine: Machine, effort: Effort) -> Effort | None:
    """The effort that this one repeats."""
    if effort.retry.of is None:
        return None
    try:
        return nest(machine.ask(GetWork(effort_id=effort.retry.of)))
    except EffortNotFound:
        return None
