"""How the command line fails: `error:` and what to do about it, on standard error, and an exit status.

An error that no code foresaw is one line, too: its traceback goes to a file, or to the terminal with `--debug`.
"""

import json
import os
import shlex
import sys
from traceback import format_exception

import click

from ramet.cli.command import UnknownCommand
from ramet.cli.invocation import Invocation
from ramet.cli.output import clean
from ramet.errors import EXIT_FAILURE, InvalidParams, RametError, ReplyUnreadable, UnknownMethod, shorten

_INTERRUPTED = 130
_LARGEST_LOG = 1_000_000
"""Bytes. A larger file is started again, so that a command in a loop cannot fill the disk."""


def report(error: BaseException, invocation: Invocation) -> int:
    """Print the error for a person or a program; returns the exit status."""
    difference = invocation.difference
    match error:
        case UnknownMethod() | InvalidParams() | ReplyUnreadable() if difference is not None:
            _say(invocation, error.code, error.message, f"{difference.message}: {difference.fix}")
            return error.exit_status
        case UnknownMethod() if invocation.is_agents:
            _say(invocation, error.code, "this command is not available to agents", "ask the user to run it")
            return error.exit_status
        case RametError():
            _say(invocation, error.code, error.message, error.fix, field=error.field, value=shorten(error.value))
            return error.exit_status
        case click.ClickException():
            _say_usage(error, invocation)
            return error.exit_code
        case click.Abort() | KeyboardInterrupt():
            return _INTERRUPTED
        case BrokenPipeError():
            # The reader of our output has gone: nothing more can be written, not even the interpreter's last flush.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return EXIT_FAILURE
        case _ if difference is not None and not invocation.shows_tracebacks:
            _say(invocation, difference.code, f"{difference.message}, and sent something unexpected", difference.fix)
            return EXIT_FAILURE
        case _:
            return _report_unforeseen(error, invocation)


def _report_unforeseen(error: BaseException, invocation: Invocation) -> int:
    traceback = "".join(format_exception(error))
    if invocation.shows_tracebacks:
        click.echo(clean(traceback), err=True)
    kept = _keep(traceback, invocation)
    where = f"{kept} has the traceback; " if kept else ""
    again = shlex.join(["ramet", "--debug", *sys.argv[1:]])
    fix = f"this is a defect of Ramet: report it. {where}`{again}` shows it"
    _say(invocation, RametError.code, f"Ramet failed: {type(error).__name__}: {error}", fix)
    return EXIT_FAILURE


def _keep(traceback: str, invocation: Invocation) -> str | None:
    """Append a traceback to the log of the command line; its path, or None if it cannot be written."""
    from datetime import UTC, datetime  # noqa: PLC0415

    from ramet.config.places import find_home, make_private  # noqa: PLC0415
    from ramet.model.redaction import Redactor  # noqa: PLC0415

    try:
        folder = find_home(invocation.environ) / "logs"
        make_private(folder)
        file = folder / "command-line.log"
        is_full = file.exists() and file.stat().st_size > _LARGEST_LOG
        flags = os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | (os.O_TRUNC if is_full else os.O_APPEND)
        with os.fdopen(os.open(file, flags, 0o600), "a", encoding="utf-8") as log:
            log.write(f"{datetime.now(UTC).isoformat()}\n{Redactor().redact(traceback).text}\n")
    except (OSError, RametError):
        return None
    return str(file)


def _say_usage(error: click.ClickException, invocation: Invocation) -> None:
    context: click.Context | None = getattr(error, "ctx", None)
    if isinstance(error, UnknownCommand):
        return _say(invocation, "usage", error.message, error.fix)
    if context is not None and not invocation.as_json:
        click.echo(context.get_usage(), err=True)
    fix = f"see `{context.command_path if context else 'ramet'} --help`"
    return _say(invocation, "usage", error.format_message(), fix)


def _say(
    invocation: Invocation, code: str, message: str, fix: str, *, field: str | None = None, value: object = None
) -> None:
    if invocation.as_json:
        body = {"code": code, "message": message, "field": field, "value": value, "fix": fix}
        return click.echo(json.dumps({"error": body}), err=True)
    click.echo(clean(f"error: {message}"), err=True)
    return click.echo(clean(f"  fix: {fix}"), err=True)
