"""The screen of a run: its lines, its branches in git, the findings of its reviews, and what to do next."""

from collections.abc import Iterator, Mapping, Sequence

import click
from msgspec.structs import asdict

from ramet.cli.invocation import Invocation
from ramet.cli.output import cell, clean, count, paged, print_json
from ramet.cli.progress import Progress, working
from ramet.cli.screens.agent_names import doing, effort_agent
from ramet.cli.screens.board import short_number
from ramet.cli.screens.effort_lines import base_of, dollars, first_line, tells_reason
from ramet.cli.screens.states import style_of
from ramet.cli.screens.styled_lines import Column, Line, draw_table, plain, print_lines, terminal_width
from ramet.cli.screens.work_changes import is_skipped
from ramet.cli.times import ago, database_time, duration, seconds_between
from ramet.errors import GitFailed, WorktreeError
from ramet.model.instant import from_iso
from ramet.model.record.agent import FleetMember
from ramet.model.runs.run import LineRow
from ramet.protocol.record.agents import FleetStatus
from ramet.protocol.runs.branches import BranchConflict, LineBranch, ListRunBranches, RunBranches
from ramet.protocol.runs.runs import FindingRow, GetRun, RunDetail, RunReply

_SHOWN = 20
"""How many branches, conflicts or findings are listed; --json has them all."""
_BOUNDS = ("budget", "timeout")
"""The outcomes of lines that did not start because their run reached a limit."""
_FINISHED = ("completed", "no_change", "failed", "skipped")


def show_run(invocation: Invocation, run_id: int, *, conversation: bool = False) -> None:
    """A run on one screen; with `conversation`, only its conversation, in full."""
    run = invocation.ask(GetRun(run_id=run_id, outputs=invocation.as_json))
    branches = _branches(invocation, run_id)
    if invocation.as_json:
        return print_json({**asdict(run), "branches": branches})
    with paged(invocation):
        if conversation:
            return _show_conversation(run)
        click.echo(clean(headline(run)))
        if (base := base_of(run)) is not None:
            click.echo(f"started at {base}")
        _print_lines(invocation, run)
        return print_ending(run, branches)


def conclude(invocation: Invocation, run_id: int) -> RunDetail:
    """Say how a run ended, and what to do next; the run."""
    run = invocation.ask(GetRun(run_id=run_id))
    branches = _branches(invocation, run_id)
    if invocation.as_json:
        print_json({"change": "done", "run": run, "branches": branches}, indent=None)
    else:
        click.echo(clean(headline(run)))
        print_ending(run, branches)
    return run


def is_done(run: RunDetail) -> bool:
    """Whether every line was completed or had nothing to change, and no review is open."""
    return (
        run.state == "finished"
        and run.counts["completed"] + run.counts["no_change"] == len(run.lines)
        and run.reason is None
    )


def headline(run: RunDetail) -> str:
    """Two lines: `r3 cart.md: finished, 4/4 · 3m · $0.03` and `3 completed, 1 failed, 1,204 tokens`."""
    counts = [f"{number} {state.replace('_', ' ')}" for state, number in run.counts.items() if number]
    spent = [count(run.tokens, "token")] if run.tokens else []
    return f"r{run.id} {cell(run.name)}: {run.state}, {progress(run)}\n{', '.join([*counts, *spent])}"


def progress(run: RunReply) -> Progress:
    """How far a run is. The time is that since it was last started; of an interrupted run, none is known."""
    seconds = None
    if run.finished_at is not None:
        seconds = seconds_between(run.started_at, run.finished_at)
    elif run.state == "running":
        seconds = seconds_between(run.started_at, database_time())
    finished = sum(run.counts[state] for state in _FINISHED)
    return Progress(
        finished, sum(run.counts.values()), seconds, dollars(run.cost_usd, is_estimated=run.is_cost_estimated)
    )


def print_ending(run: RunDetail, branches: RunBranches) -> None:
    """Why it stopped, the open findings, the branches to merge and their conflicts, and what to do next."""
    if run.mode == "chain":
        click.echo(_rounds(run))
        _print_list("rounds", [f"{row.key} (e{row.effort_id}): {row.reason}" for row in run.lines if _is_judged(row)])
    if run.reason:
        click.echo(clean(f"stopped: {run.reason}"))
    _print_list("open findings", [_finding(row) for row in run.findings if row.state == "open"])
    _print_list("branches to merge", list(_to_merge(branches)))
    _print_list("conflicts", [_conflict(row) for row in branches.conflicts])
    if branches.note:
        click.echo(clean(f"cannot check for conflicts: {branches.note}"))
    _print_list("next", list(_next(run, branches)))


def _branches(invocation: Invocation, run_id: int) -> RunBranches:
    """The run's branches in git; if git fails, why."""
    try:
        with working(invocation, "checking branches"):
            return invocation.ask(ListRunBranches(run_id=run_id))
    except (WorktreeError, GitFailed) as error:
        return RunBranches(branches=[], conflicts=[], note=error.message)


def _print_lines(invocation: Invocation, run: RunDetail) -> None:
    """The lines as a table. What a running one does now is asked of the fleet."""
    if not run.lines:
        return click.echo("it has no tasks")
    is_running = any(row.state == "in_progress" for row in run.lines)
    members = invocation.ask(FleetStatus()).items if is_running else []
    columns = _columns(run, {member.effort_id: member for member in members})
    return print_lines(draw_table(columns, run.lines, terminal_width()), cut=True)


def _columns(run: RunDetail, members: Mapping[int, FleetMember]) -> list[Column[LineRow]]:
    # Of tasks that run one after the other each waits for the one before it, which a narrow terminal need not say.
    waits = Column[LineRow]("WAITS FOR", lambda row: plain(" ".join(row.depends_on)), is_extra=run.mode != "parallel")
    has_waits = any(row.depends_on for row in run.lines)
    return [
        Column("TASK", lambda row: [(clean(row.key), "bold")]),
        Column("AGENT", lambda row: plain(effort_agent(row.driver, row.effort_id))),
        Column("STATE", _state),
        Column("TIME", lambda row: plain(_elapsed(row)), is_number=True),
        Column("COST", lambda row: plain(dollars(row.cost_usd, is_estimated=row.is_cost_estimated)), is_number=True),
        *([waits] if has_waits else []),
        Column("TOKENS", lambda row: plain(short_number(row.tokens)), is_number=True, is_extra=True),
        Column("NOW", lambda row: _now(row, members.get(row.effort_id))),
    ]


def _state(row: LineRow) -> Line:
    word = row.state.replace("_", " ")
    return [(word, style_of(word))]


def _elapsed(row: LineRow) -> str | None:
    if row.started_at is None:
        return None
    if row.finished_at is None:
        return ago(from_iso(row.started_at)) if row.state == "in_progress" else None
    return duration(seconds_between(from_iso(row.started_at), from_iso(row.finished_at)))


def _now(row: LineRow, member: FleetMember | None) -> Line:
    """What a line does now; why it failed or was skipped; what it was about, and its result."""
    match row.state:
        case "in_progress":
            return doing(member.tool if member else None, row.text)
        case "skipped" if row.reason and row.outcome == "dropped":
            return doing(first_line(row.reason), row.text)
        case "failed" | "skipped" if row.reason:
            return doing(f"{row.outcome}: {first_line(row.reason)}", row.text)
        case "no_change":
            return doing(first_line(row.reason) or None, row.text)
        case "completed" if row.reason and tells_reason(row.skill, row.outcome):
            return doing(first_line(row.reason), row.text)
        case "completed" if row.output:
            return doing(row.text, row.output)
        case _:
            return doing(None, row.text)


def _show_conversation(run: RunDetail) -> None:
    for turn in run.conversation:
        click.echo(f"[{turn.role.capitalize()}]\n{clean(turn.content).strip()}\n")
    if not run.conversation:
        click.echo(f"r{run.id} has no conversation")


def _print_list(heading: str, lines: Sequence[str]) -> None:
    if lines:
        click.echo(heading)
    for line in lines[:_SHOWN]:
        click.echo(f"  {cell(line)}")
    if len(lines) > _SHOWN:
        click.echo(f"  … and {len(lines) - _SHOWN} more, see --json")


def _rounds(run: RunDetail) -> str:
    """How often a chain was reviewed, and how many findings are settled."""
    reviews = sum(row.skill == "review" and row.state == "completed" for row in run.lines)
    gone = sum(row.state == "gone" for row in run.findings)
    found = f"; {gone} of {count(len(run.findings), 'finding')} settled" if run.findings else ""
    is_approved = run.state == "finished" and run.reason is None
    most = count(run.limits.rounds or 0, "review")
    return f"{reviews} of at most {most} done{found}" + ("; approved" if is_approved else "")


def _is_judged(row: LineRow) -> bool:
    """Whether a line of a chain has a verdict or a remark."""
    return row.state == "completed" and bool(row.reason) and tells_reason(row.skill, row.outcome)


def _finding(row: FindingRow) -> str:
    place, text = (
        ":".join(str(part) for part in (row.file, row.line) if part is not None),
        first_line(row.text),
    )
    return " ".join(filter(None, [row.severity, "" if place in text else place, text]))


def _unmerged(branches: RunBranches) -> dict[str, list[LineBranch]]:
    """The lines by branch. A branch that another one contains is merged with that one."""
    found: dict[str, list[LineBranch]] = {}
    for row in branches.branches:
        if row.files and not row.is_merged:
            found.setdefault(row.contained_in or row.branch, []).append(row)
    return found


def _to_merge(branches: RunBranches) -> Iterator[str]:
    for branch, rows in _unmerged(branches).items():
        files = {file for row in rows for file in row.files}
        noun = "task" if len(rows) == 1 else "tasks"
        where = "" if rows[0].is_here else f" (on {rows[0].host or 'another host'})"
        yield f"{branch}{where}: {count(len(files), 'file')} of {noun} {', '.join(row.line for row in rows)}"


def _conflict(row: BranchConflict) -> str:
    return f"tasks {' and '.join(row.lines)} ({' and '.join(row.branches)}) in {', '.join(row.files)}"


def _next(run: RunDetail, branches: RunBranches) -> Iterator[str]:
    """What a person can do now."""
    name, failed = f"r{run.id}", [row for row in run.lines if row.state == "failed"]
    if run.state == "running":
        yield "running: `ramet ps` shows its agents"
        return
    if failed:
        yield f"see why {failed[0].key} failed: `ramet show e{failed[0].effort_id}`"
    if run.state == "interrupted":
        yield f"continue: `ramet run --resume {name}`"
    bounded = [row for row in run.lines if row.outcome in _BOUNDS and row.reason == run.reason]
    if bounded:
        yield f"run the tasks beyond the limit: `ramet run --resume {name}{_larger(run)}`"
    if len(failed) + run.counts["skipped"] > len(bounded):
        yield from _run_again(run)
    elif run.mode == "chain" and run.reason and not bounded:
        yield from _decide(run)
    yield from _merge(_unmerged(branches))


def _merge(unmerged: Mapping[str, Sequence[LineBranch]]) -> Iterator[str]:
    """How to merge the branches. One that only another host has cannot be merged here yet."""
    here = [branch for branch, rows in unmerged.items() if rows[0].is_here]
    elsewhere = {branch: rows[0].host or "another host" for branch, rows in unmerged.items() if branch not in here}
    if here:
        how = "review and merge the branch" if len(here) == 1 else "review and merge the branches, one by one"
        yield f"{how}: `git merge {here[0]}`"
    for host in dict.fromkeys(elsewhere.values()):
        branch = next(branch for branch, having in elsewhere.items() if having == host)
        yield f"fetch from {host}: there `git push origin {branch}`, then here `git fetch origin {branch}:{branch}`"


def _run_again(run: RunDetail) -> Iterator[str]:
    """How to run the tasks that failed or were skipped."""
    resume = f"ramet run --resume r{run.id}"
    has_skipped = any(map(is_skipped, run.lines))
    if run.counts["failed"]:
        yield f"retry failed and skipped tasks: `{resume} --retry-failed`"
        if has_skipped and run.mode != "chain":
            yield f"run the skipped tasks without them: `{resume} --keep-going`"
    elif has_skipped and run.counts["no_change"]:
        yield f"try again, and run the skipped tasks: `{resume}`"
        yield f"run them although nothing changed: `{resume} --accept-no-change`"
    else:
        yield f"retry skipped tasks: `{resume} --retry-failed`"


def _larger(run: RunDetail) -> str:
    """The option with the larger limit that a run needs to continue. Its time starts again when it is resumed."""
    if run.limits.cost_usd and (run.cost_usd or 0) >= run.limits.cost_usd:
        return " --max-cost USD"
    if run.limits.tokens and run.tokens >= run.limits.tokens:
        return " --max-tokens N"
    return ""


def _decide(run: RunDetail) -> Iterator[str]:
    """A chain that no review approved: a person has to decide."""
    last = f"e{run.lines[-1].effort_id}"
    yield f"read the last review: `ramet show {last} --output`"
    yield f"decide: merge it as it is, or `ramet add 'WHAT IS MISSING' --skill improve --based-on {last}`"
