"""How a run is told: its lines, what they left in git, what its reviews found, and what to do next."""

from collections.abc import Iterator, Sequence

import click
from msgspec.structs import asdict

from ramet.cli.invocation import Invocation
from ramet.cli.output import Columns, cell, clean, count, print_json, show_items
from ramet.cli.progress import working
from ramet.cli.screens.effort_lines import first_line
from ramet.cli.times import ago, duration, seconds_between
from ramet.errors import GitFailed, WorktreeError
from ramet.model.instant import from_iso
from ramet.model.runs.run import LineRow
from ramet.protocol.replies import Page
from ramet.protocol.runs.branches import BranchConflict, LineBranch, ListRunBranches, RunBranches
from ramet.protocol.runs.runs import FindingRow, GetRun, RunDetail

_SHOWN = 20
"""How many branches, conflicts or findings are listed; --json has them all."""
_BOUNDS = ("budget", "timeout")
"""The outcomes of lines that a bound of their run kept from beginning."""


def show_run(invocation: Invocation, run_id: int, *, conversation: bool = False) -> None:
    """A run on one screen; with `conversation`, only what was said in it, all of it."""
    run = invocation.ask(GetRun(run_id=run_id, outputs=invocation.as_json))
    branches = _branches(invocation, run_id)
    if invocation.as_json:
        return print_json({**asdict(run), "branches": branches})
    if conversation:
        return _show_conversation(run)
    click.echo(clean(headline(run)))
    show_items(invocation, Page(items=run.lines), _COLUMNS, nothing="it has no tasks", cut="TEXT")
    return print_ending(run, branches)


def conclude(invocation: Invocation, run_id: int) -> RunDetail:
    """Say what a run has come to, and what to do next; the run."""
    run = invocation.ask(GetRun(run_id=run_id))
    branches = _branches(invocation, run_id)
    if invocation.as_json:
        print_json({"change": "done", "run": run, "branches": branches}, indent=None)
    else:
        click.echo(clean(headline(run)))
        print_ending(run, branches)
    return run


def is_done(run: RunDetail) -> bool:
    """Whether all of it was done, and well."""
    return run.state == "finished" and run.counts["completed"] == len(run.lines) and run.reason is None


def headline(run: RunDetail) -> str:
    """`r3 cart.md: finished, 4 tasks: 3 completed, 1 failed, 1,204 tokens, $0.03`."""
    total = sum(run.counts.values())
    counts = [f"{number} {state.replace('_', ' ')}" for state, number in run.counts.items() if number]
    spent = [count(run.tokens, "token")] if run.tokens else []
    spent += [f"${run.cost_usd:,.2f}"] if run.cost_usd else []
    return f"r{run.id} {cell(run.name)}: {run.state}, {count(total, 'task')}: {', '.join([*counts, *spent])}"


def print_ending(run: RunDetail, branches: RunBranches) -> None:
    """Why it stopped, what is to be merged and what conflicts, what reviews found, and what to do next."""
    if run.mode == "chain":
        click.echo(_rounds(run))
    if run.reason:
        click.echo(clean(f"stopped: {run.reason}"))
    _print_list("open findings", [_finding(row) for row in run.findings if row.state == "open"])
    _print_list("branches to merge", list(_to_merge(branches)))
    _print_list("conflicts", [_conflict(row) for row in branches.conflicts])
    if branches.note:
        click.echo(clean(f"conflicts are not known: {branches.note}"))
    _print_list("next", list(_next(run, branches)))


def _branches(invocation: Invocation, run_id: int) -> RunBranches:
    """What the run left in git; where git does not say, why not."""
    try:
        with working(invocation, "looking at the branches"):
            return invocation.ask(ListRunBranches(run_id=run_id))
    except (WorktreeError, GitFailed) as error:
        return RunBranches(branches=[], conflicts=[], note=error.message)


def _elapsed(row: LineRow) -> str | None:
    if row.started_at is None:
        return None
    if row.finished_at is None:
        return ago(from_iso(row.started_at)) if row.state == "in_progress" else None
    return duration(seconds_between(from_iso(row.started_at), from_iso(row.finished_at)))


def _text(row: LineRow) -> str:
    text = first_line(row.text)
    why = row.reason if row.state in ("failed", "skipped") else None
    return f"{text} ({row.outcome}: {why})" if why else text


_COLUMNS: Columns[LineRow] = {
    "TASK": lambda row: row.key,
    "EFFORT": lambda row: f"e{row.effort_id}",
    "STATE": lambda row: row.state.replace("_", " "),
    "AGENT": lambda row: row.driver,
    "TIME": _elapsed,
    "TOKENS": lambda row: f"{row.tokens:,}" if row.tokens else None,
    "COST": lambda row: f"${row.cost_usd:,.2f}" if row.cost_usd else None,
    "WAITS FOR": lambda row: " ".join(row.depends_on) if row.state == "pending" else None,
    "TEXT": _text,
}


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
    """How far a chain has come."""
    reviews = sum(row.skill == "review" and row.state == "completed" for row in run.lines)
    gone = sum(row.state == "gone" for row in run.findings)
    found = f"; of {count(len(run.findings), 'finding')} {gone} settled" if run.findings else ""
    is_approved = run.state == "finished" and run.reason is None
    return f"reviewed {reviews} of at most {count(run.limits.rounds or 0, 'time')}{found}" + (
        "; approved" if is_approved else ""
    )


def _finding(row: FindingRow) -> str:
    place, text = (
        ":".join(str(part) for part in (row.file, row.line) if part is not None),
        first_line(row.text),
    )
    return " ".join(filter(None, [row.severity, "" if place in text else place, text]))


def _unmerged(branches: RunBranches) -> dict[str, list[LineBranch]]:
    """By branch, the lines whose work is on it: those that another branch has all of come with that one."""
    found: dict[str, list[LineBranch]] = {}
    for row in branches.branches:
        if row.files and not row.is_merged:
            found.setdefault(row.contained_in or row.branch, []).append(row)
    return found


def _to_merge(branches: RunBranches) -> Iterator[str]:
    for branch, rows in _unmerged(branches).items():
        files = {file for row in rows for file in row.files}
        yield f"{branch}: {', '.join(row.line for row in rows)}, {count(len(files), 'file')}"


def _conflict(row: BranchConflict) -> str:
    return f"{' and '.join(row.lines)} ({' and '.join(row.branches)}) in {', '.join(row.files)}"


def _next(run: RunDetail, branches: RunBranches) -> Iterator[str]:
    """What a person can do now."""
    name, failed = f"r{run.id}", [row for row in run.lines if row.state == "failed"]
    if run.state == "running":
        yield "it runs: `ramet ps` shows who works on it"
        return
    if failed:
        yield f"why {failed[0].key} failed: `ramet show e{failed[0].effort_id}`"
    if run.state == "interrupted":
        yield f"go on: `ramet run --resume {name}`"
    bounded = [row for row in run.lines if row.outcome in _BOUNDS and row.reason == run.reason]
    if bounded:
        yield f"take up what its bound ended: `ramet run --resume {name}{_larger(run)}`"
    if len(failed) + run.counts["skipped"] > len(bounded):
        yield f"take up what was not done: `ramet run --resume {name} --retry-failed`"
    elif run.mode == "chain" and run.reason and not bounded:
        yield from _decide(run)
    if unmerged := _unmerged(branches):
        how = "look at it and merge it" if len(unmerged) == 1 else "look at them and merge them, one after the other"
        yield f"{how}: `git merge {next(iter(unmerged))}`"


def _larger(run: RunDetail) -> str:
    """The bound that a run needs to go on. Its time begins anew when it is resumed."""
    if run.limits.cost_usd and (run.cost_usd or 0) >= run.limits.cost_usd:
        return " --max-cost USD"
    if run.limits.tokens and run.tokens >= run.limits.tokens:
        return " --max-tokens N"
    return ""


def _decide(run: RunDetail) -> Iterator[str]:
    """A chain that no review approved: somebody has to say what becomes of it."""
    last = f"e{run.lines[-1].effort_id}"
    yield f"read the last review: `ramet show {last} --output`"
    yield f"decide: merge it as it is, or `ramet add 'what is still to be done' --skill improve --based-on {last}`"
