"""How the command line fails: `error:` and what to do about it, on standard error, and an exit status."""

import json
import os
import sys

import click

from ramet.cli.output import clean
from ramet.errors import RametError, shorten

_INTERRUPTED = 130


def report(error: BaseException, *, as_json: bool) -> int:
    """Say it to a person or to a program; the exit status. An error that nobody foresaw is raised again."""
    match error:
        case RametError():
            _say_error(error, as_json=as_json)
            return error.exit_status
        case click.ClickException():
            _say_usage(error, as_json=as_json)
            return error.exit_code
        case click.Abort() | KeyboardInterrupt():
            return _INTERRUPTED
        case BrokenPipeError():
            # Whoever read us has gone: nothing more can be said, not even when the interpreter flushes at its end.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return 1
        case _:
            raise error


def _say_error(error: RametError, *, as_json: bool) -> None:
    if as_json:
        return _say_json(error.code, error.message, error.field, shorten(error.value), error.fix)
    click.echo(clean(f"error: {error.message}"), err=True)
    return click.echo(clean(f"  fix: {error.fix}"), err=True)


def _say_usage(error: click.ClickException, *, as_json: bool) -> None:
    context: click.Context | None = getattr(error, "ctx", None)
    fix = f"see `{context.command_path if context else 'ramet'} --help`"
    if as_json:
        return _say_json("usage", error.format_message(), None, None, fix)
    if context is not None:
        click.echo(context.get_usage(), err=True)
    click.echo(clean(f"error: {error.format_message()}"), err=True)
    return click.echo(f"  fix: {fix}", err=True)


def _say_json(code: str, message: str, field: str | None, value: object, fix: str) -> None:
    body = {"code": code, "message": message, "field": field, "value": value, "fix": fix}
    click.echo(json.dumps({"error": body}), err=True)
