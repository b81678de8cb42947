"""Landings and their plans on a screen."""

import time
from collections.abc import Sequence

import click

from ramet.cli.invocation import Invocation
from ramet.cli.output import clean, count
from ramet.cli.progress import working
from ramet.cli.screens.commit_lines import short
from ramet.cli.screens.styled_lines import Line
from ramet.protocol.landing.landings import GetLanding, LandingRow
from ramet.protocol.landing.plans import LandingPlan, PlannedLanding

_LOOK_SECONDS = 0.25
_STYLES = {"landed": "green", "failed": "red", "conflicted": "red", "stopped": "yellow"}
_OPEN = ("queued", "landing")


def draw_plan(plan: LandingPlan) -> list[Line]:
    """What lands in which order, what is in its way, and what is tested."""
    lines: list[Line] = [[(f"{plan.method} onto ", ""), (plan.target, "bold"), (f" ({short(plan.tip)})", "")]]
    for number, entry in enumerate(plan.entries, 1):
        lines += _draw_entry(number, entry)
    if plan.checks:
        lines += [[(f"checks, from {plan.checks_source}", "")]]
        lines += [[(f"  {name}: {command}", "")] for name, command in plan.checks.items()]
    lines += [[("does not land: ", "yellow"), (reason, "")] for reason in plan.left_out]
    return [*lines, *([("note: ", "yellow"), (note, "")] for note in plan.notes)]


def _draw_entry(number: int, entry: PlannedLanding) -> list[Line]:
    names = ", ".join(f"e{effort}" for effort in entry.efforts)
    after = f", after {', '.join(f'e{need}' for need in entry.needs)}" if entry.needs else ""
    lines: list[Line] = [
        [(f"{number}. {names} ", "bold"), (f"{entry.title}{after}", "")],
        [
            (f"   {entry.branch}: {count(entry.commits, 'commit')}, {count(entry.files, 'file')}, ", ""),
            (f"+{entry.insertions:,}", "green"),
            (" ", ""),
            (f"-{entry.deletions:,}", "red"),
        ],
    ]
    if entry.conflicts:
        lines.append([("   conflicts in ", "red"), (", ".join(entry.conflicts), "")])
    if entry.trusted_files:
        lines.append([("   changes what runs: ", "yellow"), (", ".join(entry.trusted_files), "")])
    if entry.left_out:
        lines.append([("   leaves out your uncommitted changes that it was started with", "")])
    if entry.is_contained:
        lines.append([("   the target has all of it already", "")])
    return lines


def wait_for(invocation: Invocation, rows: Sequence[LandingRow]) -> list[LandingRow]:
    """The landings when no more of them can land: each has landed, was stopped, or waits for one that was."""
    current = list(rows)
    with working(invocation, "landing"):
        while True:
            current = [invocation.ask(GetLanding(landing_id=row.id)) if row.state in _OPEN else row for row in current]
            if not any(row.state in _OPEN and _can_land(invocation, row) for row in current):
                return current
            time.sleep(_LOOK_SECONDS)


def _can_land(invocation: Invocation, row: LandingRow) -> bool:
    """Whether it, or the landing that it waits for in the end, is on its way or has just landed."""
    while row.state in _OPEN and row.blocked_by is not None:
        row = invocation.ask(GetLanding(landing_id=row.blocked_by))
    return row.state in (*_OPEN, "landed")


def say_notes(plan: LandingPlan) -> None:
    """What a person who has not seen the plan has to know of it."""
    for entry in plan.entries:
        if entry.trusted_files:
            click.echo(clean(f"note: {entry.branch} changes what runs: {', '.join(entry.trusted_files)}"), err=True)
    for note in [*(f"does not land: {reason}" for reason in plan.left_out), *plan.notes]:
        click.echo(clean(f"note: {note}"), err=True)


def say_outcome(row: LandingRow) -> None:
    """`l3 e6 landed on main as 1f3c9a2b`."""
    click.echo(clean(outcome(row)))


def outcome(row: LandingRow) -> str:
    """A landing's outcome as a sentence, with what to do about it."""
    name = f"l{row.id} {', '.join(f'e{effort}' for effort in row.efforts)}"
    if row.kind == "undo":
        name = f"l{row.id} undo of l{row.undoes}"
    if row.state == "landed":
        how = row.reason or f"{row.target} is at {short(row.tested or row.head)}"
        return f"{name} landed: {how}"
    if row.blocked_by is not None:
        return f"{name} waits for l{row.blocked_by}"
    said = f": {row.reason}" if row.reason else ""
    again = (
        f"\n  fix: then `ramet landings retry l{row.id}`" if row.state in ("failed", "conflicted", "stopped") else ""
    )
    return f"{name} {row.state}{said}{again}"


def style_of(row: LandingRow) -> str:
    """The colour of a landing's state."""
    return _STYLES.get(row.state, "")
