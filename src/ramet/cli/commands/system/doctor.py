"""`ramet doctor`: check everything that Ramet needs, and say how to fix what is wrong."""

from collections import Counter

import click

from ramet.cli.command import Command
from ramet.cli.commands.system.examinations import EXAMINATIONS, Finding
from ramet.cli.invocation import Invocation
from ramet.cli.output import cell, count, print_json
from ramet.cli.progress import working
from ramet.errors import RametError

_COLOURS = {"ok": "green", "warn": "yellow", "fail": "red"}


@click.command(cls=Command, examples=["ramet doctor", "ramet doctor --json"])
@click.pass_context
def doctor(ctx: click.Context) -> None:
    """Check everything that Ramet needs, and say how to fix it. Exits with 1 if a check fails."""
    invocation: Invocation = ctx.obj
    with working(invocation, "checking"):
        # One cause, such as a faulty configuration, may end several checks; it is reported once.
        found = [finding for name in EXAMINATIONS for finding in _examine(invocation, name)]
        findings = list({(finding.result, finding.detail): finding for finding in reversed(found)}.values())[::-1]
    if invocation.as_json:
        print_json({"items": [finding._asdict() for finding in findings], "next": None})
    else:
        _show(findings, colour="NO_COLOR" not in invocation.environ)
    if any(finding.result == "fail" for finding in findings):
        ctx.exit(1)


def _examine(invocation: Invocation, name: str) -> list[Finding]:
    """What the check found; a check that cannot run has failed."""
    try:
        return list(EXAMINATIONS[name](invocation))
    except RametError as error:
        return [Finding(name, "fail", error.message, error.fix)]


def _show(findings: list[Finding], *, colour: bool) -> None:
    width = max(len(finding.name) for finding in findings)
    for finding in findings:
        mark = click.style(f"{finding.result:4}", fg=_COLOURS[finding.result] if colour else None)
        click.echo(f"{mark}  {finding.name:{width}}  {cell(finding.detail)}")
        if finding.fix:
            click.echo(f"{'':4}  {'':{width}}  fix: {cell(finding.fix)}")
    counts = Counter(finding.result for finding in findings)
    click.echo(f"\n{counts['ok']} ok, {count(counts['warn'], 'warning')}, {count(counts['fail'], 'error')}")
