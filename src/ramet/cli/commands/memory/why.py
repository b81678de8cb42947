"""`ramet why`: where the lines of a file come from."""

import os
import re

import click

from ramet.cli.command import Command
from ramet.cli.commands.memory.line_origins import show_file, show_line
from ramet.cli.invocation import Invocation
from ramet.cli.output import count, paged, print_json, say
from ramet.cli.progress import working
from ramet.protocol.memory.why import AskWhy, ExportNotes, Why

_PLACE = re.compile(r"(.+?):(\d{1,9})(?:-(\d{1,9}))?", re.DOTALL)
_REF = re.compile(r"refs/notes/[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
_MOST_ROUNDS = 1000


@click.command(
    cls=Command,
    examples=[
        "ramet why src/cache.py:42",
        "ramet why src/cache.py:40-60",
        "ramet why src/cache.py",
        "ramet why --export-notes",
    ],
)
@click.argument("place", metavar="[PATH[:LINE[-LINE]]]", required=False)
@click.option("--export-notes", is_flag=True, help="Write the origins of all lines as git notes, without prompts.")
@click.option(
    "--ref", metavar="REF", default="refs/notes/ramet", help="The ref of the notes (default: refs/notes/ramet)."
)
@click.option(
    "--commits", type=click.IntRange(1, 10_000), default=500, help="Newest commits to write notes for (default: 500)."
)
@click.pass_obj
def why(invocation: Invocation, place: str | None, export_notes: bool, ref: str, commits: int) -> None:
    """Show the commit, edit, prompt, effort and task that a line comes from.

    A path alone lists who wrote which lines. Lines of people, and lines whose origin is not certain, are `unknown`.
    """
    if export_notes:
        return _export(invocation, place, ref, commits)
    if place is None:
        raise click.UsageError("give PATH, PATH:LINE or PATH:LINE-LINE.")
    path, first, last = _parse(place)
    reply = _ask(invocation, AskWhy(path=_absolute(invocation, path), first=first, last=last))
    if invocation.as_json:
        return print_json(reply)
    with paged(invocation):
        if first is not None and reply.lines == 1:
            show_line(reply, first)
        else:
            show_file(reply)
    return None


def _ask(invocation: Invocation, request: AskWhy) -> Why:
    """Recorded sessions are read in steps, the first time that a line of their project is asked about."""
    with working(invocation, "reading recorded edits"):
        reply = invocation.ask(request)
        for _ in range(_MOST_ROUNDS):
            if not reply.unread_sessions:
                break
            reply = invocation.ask(request)
    return reply


def _export(invocation: Invocation, place: str | None, ref: str, commits: int) -> None:
    if not _REF.fullmatch(ref):
        raise click.BadParameter(f"{ref!r} is not a ref of notes; write refs/notes/NAME.", param_hint="--ref")
    with working(invocation, "writing notes"):
        reply = invocation.ask(ExportNotes(path=_absolute(invocation, place or "."), ref=ref, limit=commits))
    said = f"wrote {count(reply.written, 'note')} to {reply.ref}, {reply.unchanged} unchanged"
    say(invocation, reply, f"{said}; git log --notes={reply.ref.removeprefix('refs/notes/')} shows them")


def _parse(place: str) -> tuple[str, int | None, int | None]:
    """The path and the lines. A file whose name ends like a line number is meant if it exists."""
    found = _PLACE.fullmatch(place)
    if found is None or os.path.lexists(place):
        return place, None, None
    first, last = int(found[2]), int(found[3]) if found[3] else None
    if first < 1 or (last is not None and last < first):
        raise click.BadParameter(f"{place!r}: lines count from 1, and the last is not before the first.")
    return found[1], first, last


def _absolute(invocation: Invocation, path: str) -> str:
    return os.path.normpath(invocation.cwd / path)
