"""The names that a shell offers: efforts, sessions, runs and branches, each with its title.

A shell that waits for TAB must not wait for long, must not start a daemon, and must not fail: without a daemon that
answers soon there are no candidates.
"""

from contextlib import suppress

import click
from click.shell_completion import CompletionItem

from ramet.cli.invocation import Invocation
from ramet.errors import RametError

_PATIENCE_SECONDS = 1.0
_LONGEST_TITLE = 60

KINDS: dict[str, tuple[str, ...]] = {
    "effort": ("effort",),
    "session": ("session",),
    "run": ("run",),
    "work": ("effort", "run"),
    "place": ("branch", "session"),
    "path": (),
    "project": (),
    "anything": ("effort", "session", "run", "branch"),
}
"""What each reference of `ramet.cli.references` can name; a path names files."""


def list_candidates(ctx: click.Context, reference: str, prefix: str) -> list[CompletionItem] | None:
    """What a shell offers for a half-typed reference; files for a path; None if it is no reference."""
    if reference not in KINDS:
        return None
    if not KINDS[reference]:
        return [CompletionItem(prefix, type="file")]
    found: list[CompletionItem] = []
    with suppress(RametError, OSError):
        found = _ask(ctx, reference, prefix)
    return found


def _ask(ctx: click.Context, reference: str, prefix: str) -> list[CompletionItem]:
    import msgspec  # noqa: PLC0415

    from ramet.cli.connections import ask  # noqa: PLC0415
    from ramet.client.autostart import connect  # noqa: PLC0415
    from ramet.protocol.record.names import ListNames  # noqa: PLC0415

    root = ctx.find_root()
    invocation: Invocation = root.obj
    invocation.use(root.params.get("home"), root.params.get("assignments") or ())
    request = msgspec.convert({"kinds": KINDS[reference], "prefix": prefix}, ListNames)
    socket, token = invocation.target.way
    with connect(socket, _PATIENCE_SECONDS, token=token) as connection:
        rows = ask(connection, request).items
    return [CompletionItem(row.name, help=_describe(row.state, row.title)) for row in rows]


def _describe(state: str, title: str) -> str:
    """One short line: an agent wrote the title, and a terminal shows it."""
    from ramet.cli.output import cell  # noqa: PLC0415

    words = cell(f"{state}: {title}" if title else state)
    return words if len(words) <= _LONGEST_TITLE else f"{words[: _LONGEST_TITLE - 1]}…"
