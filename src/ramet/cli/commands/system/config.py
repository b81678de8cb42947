"""`ramet config`: show every configuration key, its value and its source; set and unset keys in the user's file."""

import sys
from collections.abc import Iterable, Sequence
from itertools import takewhile
from pathlib import Path
from typing import Any

import click
from msgspec import Struct
from msgspec.structs import asdict

from ramet.cli.command import Group, json_option
from ramet.cli.invocation import Invocation
from ramet.cli.output import as_builtins, cell, clean, paged, print_fields, print_json, print_table, say, short_path
from ramet.config.edits.user_file import set_keys, unset_keys
from ramet.config.keys import KEYS, Key, Value, close_names, find_defaults
from ramet.config.layers import DEFAULT, Configuration, load
from ramet.errors import BadRequest, Forbidden, UnknownKey
from ramet.protocol.replies import Page
from ramet.vendors import registry

_SHOW = "show"
_WIDEST = 40
"""A longer value does not widen its column."""


class DescribedKey(Struct, frozen=True, kw_only=True):
    """A key, its value, and the source of the value."""

    key: str
    value: Value
    default: Value
    source: str
    allowed: str
    purpose: str
    variable: str
    key_class: str
    """Who can set it: owner, project, or narrows: a project can only lower it."""
    ignored: str | None = None
    """Why the value in the project's file does not count."""


class _ConfigGroup(Group):
    """A group in which the name of a key means `show`."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if not ctx.resilient_parsing and self._means_show(ctx, args):
            options = list(takewhile(lambda word: word.startswith("-"), args))
            args = [*options, _SHOW, *args[len(options) :]]
        return super().parse_args(ctx, args)

    def _means_show(self, ctx: click.Context, args: list[str]) -> bool:
        words = [word for word in args if not word.startswith("-")]
        is_command = bool(words) and self.get_command(ctx, words[0]) is not None
        return not is_command and not {"-h", "--help"} & set(args)

    def suggestions(self, ctx: click.Context) -> dict[str, str]:
        return {name: command for name, command in super().suggestions(ctx).items() if name != _SHOW}


@click.group(cls=_ConfigGroup, params=[json_option()])
def config() -> None:
    """Show the configuration keys, and set them in your own file.

    `ramet config` lists every key with its value and source; `ramet config KEY` shows one in full. The first source
    that sets a key wins: a flag (--set KEY=VALUE), the environment (RAMET_SECTION_NAME), the project's ramet.yaml,
    ~/.config/ramet/config.yaml, the default. A ramet.yaml can set project keys and lower limits (narrows); owner keys
    only if you trust it: see `ramet trust`. Passwords are hidden.
    """


@config.command(
    _SHOW, examples=["ramet config show", "ramet config show database.type", "RAMET_QUERY_MAX_ROWS=5 ramet config show"]
)
@click.argument("key", required=False)
@click.pass_obj
def show(invocation: Invocation, key: str | None) -> None:
    """Show every configuration key with its value and source, or one KEY in full. `show` can be left out."""
    # By default agents also see the variables of their own programs. Only this command needs them before one starts.
    variables = registry.passed_variables()
    found = load(invocation.environ, invocation.cwd, invocation.flags, agent_variables=variables)
    defaults = find_defaults(variables)
    if key is not None:
        known = _find(key)
        return _show_one(invocation, _describe(found, known, defaults[known.name]))
    rows = [_describe(found, known, defaults[known.name]) for known in KEYS.values()]
    if invocation.as_json:
        return print_json(Page(items=rows))
    with paged(invocation):
        _print_keys([["KEY", "VALUE", "DEFAULT", "CLASS", "SOURCE"], *(_cells(invocation, row) for row in rows)])
        _print_files(invocation, found)
    return None


@config.command(
    "set",
    examples=[
        "ramet config set work.retries 5",
        "ramet config set drivers.profiles.careful.model opus",
        f"""ramet config set spawn.drivers '["{registry.PREFERRED[-1]}"]'""",
        "ramet config set database.type postgres database.url postgres://me@db/ramet",
    ],
)
@click.argument("words", nargs=-1, required=True, metavar="KEY VALUE [KEY VALUE]…")
@click.pass_obj
def set_key(invocation: Invocation, words: tuple[str, ...]) -> None:
    """Set keys in your own file, ~/.config/ramet/config.yaml.

    Values are checked before anything is written. Comments and the order of the file stay. Lists and mappings are JSON.
    In a key whose value is a mapping, name the entry: drivers.profiles.NAME.model. A running daemon keeps its settings
    until it is restarted: ramet daemon stop.
    """
    _refuse_agents(invocation)
    if len(words) % 2:
        raise BadRequest(
            f"{words[-1]!r} has no value", field="value", fix=f"write both: ramet config set {words[-1]} VALUE"
        )
    values = dict(zip(words[::2], words[1::2], strict=True))
    file = set_keys(invocation.environ, values)
    shown = short_path(invocation, str(file))
    say(invocation, {"file": str(file), "keys": list(values)}, f"set {', '.join(values)} in {shown}")
    _note_stronger(invocation, file, values)


@config.command("unset", examples=["ramet config unset work.retries", "ramet config unset drivers.profiles.careful"])
@click.argument("keys", nargs=-1, required=True, metavar="KEY…")
@click.pass_obj
def unset_key(invocation: Invocation, keys: tuple[str, ...]) -> None:
    """Remove keys from your own file, so that their defaults apply. Comments and the order of the file stay."""
    _refuse_agents(invocation)
    file, removed = unset_keys(invocation.environ, list(keys))
    shown = short_path(invocation, str(file))
    absent = [key for key in keys if key not in removed]
    sentences = [f"removed {', '.join(removed)} from {shown}"] if removed else []
    sentences += [f"{shown} does not set {', '.join(absent)}"] if absent else []
    say(invocation, {"file": str(file), "removed": removed}, "\n".join(sentences))
    _note_stronger(invocation, file, removed)


def _refuse_agents(invocation: Invocation) -> None:
    if "RAMET_TOKEN" in invocation.environ or "RAMET_SESSION" in invocation.environ:
        raise Forbidden("an agent cannot change your configuration", fix="run `ramet config` in your own terminal")


def _note_stronger(invocation: Invocation, file: Path, names: Iterable[str]) -> None:
    """Say which of the keys get their value from somewhere else all the same, and that a running daemon has its own."""
    found = load(invocation.environ, invocation.cwd, invocation.flags, is_lenient=True)
    for name in names:
        source = found.sources.get(".".join(name.split(".")[:2]), DEFAULT)
        if source not in (DEFAULT, str(file)):
            click.echo(f"note: here {name} still comes from {short_path(invocation, source)}", err=True)


def _print_files(invocation: Invocation, found: Configuration) -> None:
    """Where things are, and which of the project's settings do not count."""
    click.echo(f"\nhome          {invocation.places.home}")
    trusted = "" if found.project_file is None else " (trusted)" if found.is_trusted else " (not trusted)"
    click.echo(f"project file  {found.project_file or 'none'}{trusted}")
    for each in found.ignored:
        click.echo(clean(f"ignored       {each.key}: {each.reason}"))
    for passed in found.passed_over:
        click.echo(clean(f"not read      {passed.path}: it {passed.reason}"))


def _show_one(invocation: Invocation, row: DescribedKey) -> None:
    if invocation.as_json:
        return print_json(row)
    return print_fields({**asdict(row), "value": _word(row.value), "default": _word(row.default)})


def _cells(invocation: Invocation, row: DescribedKey) -> list[str]:
    default = "same" if row.default == row.value else cell(_word(row.default))
    return [row.key, cell(_word(row.value)), default, row.key_class, short_path(invocation, row.source)]


def _print_keys(rows: Sequence[Sequence[str]]) -> None:
    """A table in which a long value widens its own row only: a few values are lists of hundreds of characters."""
    if sys.stdout.isatty():
        return print_table(rows[0], rows[1:])
    widths = [max(len(text) for text in column if len(text) <= _WIDEST) for column in zip(*rows, strict=True)]
    for row in rows:
        click.echo("  ".join(f"{text:{width}}" for text, width in zip(row, widths, strict=True)).rstrip())
    return None


def _describe(configuration: Configuration, key: Key, default: Value) -> DescribedKey:
    return DescribedKey(
        key=key.name,
        value=configuration.value(key),
        default=default,
        source=configuration.sources[key.name],
        allowed=key.allowed,
        purpose=key.purpose,
        variable=key.variable,
        key_class=key.key_class.value,
        ignored=next((each.reason for each in configuration.ignored if each.key == key.name), None),
    )


def _word(value: Value) -> object:
    """As one would write it in a file: of a profile, only what it sets."""
    if isinstance(value, bool):
        return str(value).lower()
    plain = as_builtins(value)
    if not isinstance(plain, dict):
        return plain
    return {name: _set_fields(each) if isinstance(each, dict) else each for name, each in plain.items()}


def _set_fields(profile: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in profile.items() if value not in (None, [], {})}


def _find(name: str) -> Key:
    if name not in KEYS:
        close = close_names(name)
        fix = f"did you mean {' or '.join(close)}?" if close else "`ramet config` lists every key"
        raise UnknownKey(f"there is no configuration key {name!r}", field="key", value=name, fix=fix)
    return KEYS[name]
