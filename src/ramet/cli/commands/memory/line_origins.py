"""`ramet why`: one line's origin, or who wrote which lines of a file."""

import textwrap

import click

from ramet.cli.output import clean, count, print_fields, print_table
from ramet.cli.times import instant
from ramet.protocol.memory.why import Why, WhyRange, WhySource

_PROMPT_LINES = 4
_WIDTH = 66
_HASH = 12
_ITEMS = 3


def show_line(reply: Why, number: int) -> None:
    """Line, commit, edit, prompt, decision, effort and task, and the command that opens each."""
    found = reply.ranges[0]
    click.echo(f"{clean(reply.path)}:{number}  {_cut(clean(reply.text or '').strip())}")
    source = None if found.source is None else reply.sources[found.source]
    fields: dict[str, object] = {"commit": _commit(found)}
    if source is None:
        print_fields({**fields, "origin": "unknown: no recorded edit of an agent accounts for this line"})
        return
    print_fields({**fields, **_facts(source)})
    _print_block("prompt", _excerpt(source.prompt or ""))
    _print_block("decisions", [_cut(_first_line(item)) for item in source.decisions[:_ITEMS]])
    _print_block("notes", [_cut(_first_line(item)) for item in source.notes[:_ITEMS]])
    _print_block("open with", _commands(source))


def _print_block(title: str, lines: list[str]) -> None:
    if lines:
        click.echo("\n".join([title, *(f"  {line}" for line in lines)]))


def show_file(reply: Why) -> None:
    """The ranges of a file and their origins, and how much of it agents wrote."""
    rows = [_row(found, reply.sources) for found in reply.ranges]
    print_table(["lines", "commit", "effort", "session", "edit", "prompt"], rows, cut="prompt")
    share = round(100 * reply.agent_lines / reply.lines) if reply.lines else 0
    click.echo(
        f"{clean(reply.path)}: {count(reply.lines, 'line')}, {reply.agent_lines} by agents ({share} %), "
        f"{reply.unknown_lines} unknown"
    )


def _row(found: WhyRange, sources: list[WhySource]) -> list[str | None]:
    lines = str(found.first) if found.first == found.last else f"{found.first}-{found.last}"
    commit = (found.git_commit or "not committed")[:_HASH]
    if found.source is None:
        return [lines, commit, "unknown", None, None, None]
    source = sources[found.source]
    edit = "effort only" if source.edit is None else source.edit.tool or source.edit.kind
    session = None if source.session_id is None else f"s{source.session_id}"
    return [lines, commit, f"e{source.effort_id}", session, edit, _cut(_first_line(source.prompt), 40)]


def _commit(found: WhyRange) -> str:
    return "not committed" if found.git_commit is None else found.git_commit[:_HASH]


def _facts(source: WhySource) -> dict[str, object]:
    task = clean(source.task_title or source.task_id)
    command = _cut(_first_line(source.edit.command)) if source.edit is not None and source.edit.command else None
    return {
        "edit": _edit(source),
        **({"command": command} if command else {}),
        "effort": f"e{source.effort_id} {source.skill}",
        "task": task,
    }


def _edit(source: WhySource) -> str:
    by = " ".join(filter(None, [source.driver, f"s{source.session_id}" if source.session_id else None]))
    if source.edit is None:
        return f"not known, such as a shell command; {by} committed the line"
    return f"{source.edit.tool or source.edit.kind} by {by}, {instant(source.edit.at)}"


def _commands(source: WhySource) -> list[str]:
    commands = [f"ramet show e{source.effort_id}"]
    if source.session_id is not None:
        commands.append(f"ramet show s{source.session_id}")
    if source.edit is not None and source.edit.commit is not None:
        commands.append(f"ramet history show {source.edit.commit[:_HASH]}")
    return commands


def _excerpt(prompt: str) -> list[str]:
    lines = [line for text in clean(prompt).strip().split("\n") for line in textwrap.wrap(text, _WIDTH)]
    more = ["…"] if len(lines) > _PROMPT_LINES else []
    return [*lines[:_PROMPT_LINES], *more]


def _first_line(text: str | None) -> str:
    return next((line for line in clean(text or "").split("\n") if line.strip()), "").strip()


def _cut(text: str, most: int = _WIDTH) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"
