"""How things are named on the command line: `e12` an effort, `s7` a session, `r3` a run, a path a task or a project, a
name a branch, the prefix of a hash a commit.

Each function is a click type: it turns what was typed into what the operations take, or says what to type.
"""

import json
import os
import re
import sys
from typing import Any, NamedTuple

import click

from ramet.model.history.branch import session_branch
from ramet.vendors.registry import PREFERRED

_EFFORT = re.compile(r"e?(\d+)")
_SESSION = re.compile(r"s?(\d+)")
_RUN = re.compile(r"r?(\d+)")
_LANDING = re.compile(r"l?(\d+)")
_NATIVE = re.compile(r"[a-z0-9][a-z0-9._-]*:.+", re.DOTALL)
_SESSION_BRANCH = re.compile(r"s(\d+)")
_HASH = re.compile(r"[0-9a-f]{4,64}")


def effort(text: str) -> int:
    """`e12`, or `12` if only an effort can be meant."""
    if match := _EFFORT.fullmatch(text):
        return int(match[1])
    raise click.BadParameter(f"{text!r} is not an effort; write e12 or 12.")


def session(text: str) -> int | str:
    """`s7`, `7`, or the agent program's own name for it: `DRIVER:2f1c…`."""
    if match := _SESSION.fullmatch(text):
        return int(match[1])
    if _NATIVE.fullmatch(text):
        return text
    raise click.BadParameter(f"{text!r} is not a session; write s7, 7 or driver:native_id.")


def native(text: str) -> tuple[str, str]:
    """The agent program, and its own name for a session: `DRIVER:2f1c…`."""
    if not _NATIVE.fullmatch(text):
        raise click.BadParameter(
            f"{text!r} is not a session of an agent program; write DRIVER:ID, such as {PREFERRED[0]}:2f1c0c4e."
        )
    driver, _, native_id = text.partition(":")
    return driver, native_id


def run(text: str) -> int:
    """`r3`, or `3` if only a run can be meant."""
    if match := _RUN.fullmatch(text):
        return int(match[1])
    raise click.BadParameter(f"run not found: {text!r}; write r3 or 3.")


class Work(NamedTuple):
    """An effort or a run; the other is None."""

    effort_id: int | None
    run_id: int | None


def work(text: str) -> Work:
    """`e12` an effort, `r3` a run or a chain."""
    if text[:1] == "e" and (match := _EFFORT.fullmatch(text)):
        return Work(int(match[1]), None)
    if text[:1] == "r" and (match := _RUN.fullmatch(text)):
        return Work(None, int(match[1]))
    raise click.BadParameter(
        f"{text!r} is neither an effort nor a run; write e12 or r3. `ramet history diff` compares contexts."
    )


def landing(text: str) -> int:
    """`l3`, or `3` if only a landing can be meant."""
    if match := _LANDING.fullmatch(text):
        return int(match[1])
    raise click.BadParameter(f"{text!r} is not a landing; write l3 or 3.")


def path(text: str) -> str:
    """A file or directory, which need not exist; a relative one starts at the current directory."""
    if not text:
        raise click.BadParameter("the path is empty.")
    return os.path.abspath(text)  # noqa: PTH100  not resolved: a path is kept as it was written


def project(text: str) -> int | str:
    """A project's number, or a path in it."""
    return int(text) if text.isdecimal() else path(text)


def json_object(text: str) -> dict[str, Any]:
    """A JSON object."""
    try:
        parsed = json.loads(text)
        json.dumps(parsed, allow_nan=False)  # Python reads NaN, Infinity and 1e999, which JSON cannot say
    except ValueError as error:
        raise click.BadParameter(f"not JSON: {error}.") from error
    if not isinstance(parsed, dict):
        raise click.BadParameter('must be a JSON object, such as {"key": "value"}.')
    return parsed


def text_or_stdin(text: str) -> str:
    """The text itself, or with `-` what standard input has."""
    return sys.stdin.read() if text == "-" else text


def file_or_stdin(file: str, option: str) -> str:
    """What a file has, or with `-` standard input."""
    if file == "-":
        return sys.stdin.read()
    try:
        with open(file, encoding="utf-8") as opened:  # noqa: PTH123  pathlib would cost every command its import
            return opened.read()
    except (OSError, UnicodeDecodeError) as error:
        raise click.BadParameter(f"{file} cannot be read: {error}", param_hint=option) from error


def place(text: str) -> str:
    """A branch's name, a commit's hash or a prefix of it, `main~2`; `s7` is the branch of that session."""
    name, tilde, back = text.partition("~")
    if tilde and back and not back.isdecimal():
        raise click.BadParameter(f"{text!r} is not a commit; main~2 is the second commit before the last one of main.")
    if match := _SESSION_BRANCH.fullmatch(name):
        return session_branch(int(match[1])) + tilde + back
    return text


def is_hash(text: str) -> bool:
    """Whether a text can be a commit's hash or a prefix of one."""
    return _HASH.fullmatch(text) is not None


def anything(text: str) -> str:
    """A name of any kind, which the command looks up: e12, s7, r3, a branch, a commit."""
    return text


def text_or_editor(text: str | None, template: str = "") -> str:
    """The text itself, with `-` standard input, and without one what a person writes in their editor."""
    if text is not None:
        return text_or_stdin(text)
    if not sys.stdin.isatty():
        raise click.UsageError("give TEXT, or `-` to read it from standard input.")
    written = click.edit(template, extension=".md")
    if written is None or not written.strip():
        raise click.UsageError("nothing was written, so nothing was changed.")
    return written.rstrip("\n")
