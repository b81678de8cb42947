"""`ramet doctor`: check everything that Ramet needs, and say how to fix what is wrong."""

from collections import Counter
from textwrap import wrap

import click

from ramet.cli.command import Command
from ramet.cli.commands.system.examinations import EXAMINATIONS, Finding
from ramet.cli.invocation import Invocation
from ramet.cli.output import cell, count, print_json
from ramet.cli.progress import working
from ramet.cli.screens.styled_lines import terminal_width
from ramet.errors import RametError, StoreError

_MARK_WIDTH = 4
_LEAST_WIDTH = 20
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
    found: list[Finding] = []
    try:
        found.extend(EXAMINATIONS[name](invocation))
    except RametError as error:
        # Whoever asked the database for something, it is the database that failed.
        name = "database" if isinstance(error, StoreError) else name
        found.append(Finding(name, "fail", error.message, error.fix))
    return found


def _wrap(text: str, indent: str) -> str:
    """The text on as many lines as a terminal needs for it; anywhere else on one."""
    columns = terminal_width()
    if columns is None:
        return cell(text)
    room = max(columns - len(indent), _LEAST_WIDTH)
    return f"\n{indent}".join(wrap(cell(text), room, break_long_words=False, break_on_hyphens=False))


def _show(findings: list[Finding], *, colour: bool) -> None:
    width = max(len(finding.name) for finding in findings)
    indent = " " * (_MARK_WIDTH + 2 + width + 2)
    for finding in findings:
        mark = click.style(f"{finding.result:{_MARK_WIDTH}}", fg=_COLOURS[finding.result] if colour else None)
        click.echo(f"{mark}  {finding.name:{width}}  {_wrap(finding.detail, indent)}")
        if finding.fix:
            click.echo(f"{indent}{_wrap(f'fix: {finding.fix}', indent)}")
    counts = Counter(finding.result for finding in findings)
    click.echo(f"\n{counts['ok']} ok, {count(counts['warn'], 'warning')}, {count(counts['fail'], 'error')}")
