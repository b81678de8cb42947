"""`ramet config`: show every configuration key, its value, and the source of the value."""

import sys
from collections.abc import Sequence
from typing import Any

import click
from msgspec import Struct
from msgspec.structs import asdict

from ramet.cli.command import Command
from ramet.cli.invocation import Invocation
from ramet.cli.output import as_builtins, cell, clean, paged, print_fields, print_json, print_table, short_path
from ramet.config.keys import KEYS, Key, Value, close_names, find_defaults
from ramet.config.layers import Configuration, load
from ramet.errors import UnknownKey
from ramet.protocol.replies import Page
from ramet.vendors import registry

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


@click.command(
    cls=Command, examples=["ramet config", "ramet config database.type", "RAMET_QUERY_MAX_ROWS=5 ramet config"]
)
@click.argument("key", required=False)
@click.pass_obj
def config(invocation: Invocation, key: str | None) -> None:
    """Show every configuration key with its value and source, or one KEY in full.

    The first source that sets a key wins: a flag (--set KEY=VALUE), the environment (RAMET_SECTION_NAME), the project's
    ramet.yaml, ~/.config/ramet/config.yaml, the default. A ramet.yaml can set project keys and lower limits
    (narrows); owner keys only if you trust it: see `ramet trust`. Passwords are hidden.
    """
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
