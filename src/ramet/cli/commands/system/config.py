"""`ramet config`: every configuration key, its value, and where the value comes from."""

from typing import Any

import click

from ramet.cli.command import Command
from ramet.cli.invocation import Invocation
from ramet.cli.output import print_json, print_table, show_row
from ramet.config.keys import KEYS, Key, close_names
from ramet.errors import UnknownKey


@click.command(
    cls=Command, examples=["ramet config", "ramet config database.type", "RAMET_QUERY_MAX_ROWS=5 ramet config"]
)
@click.argument("key", required=False)
@click.pass_obj
def config(invocation: Invocation, key: str | None) -> None:
    """Every configuration key, its value and where it comes from; or all about one KEY.

    A value comes from a flag (--set KEY=VALUE), else from the environment (RAMET_SECTION_NAME), else from the
    nearest ramet.yaml, else from ~/.config/ramet/config.yaml, else it is the default. Passwords are not shown.
    """
    if key is not None:
        return show_row(invocation, _describe(invocation, _find(key)))
    rows = [_describe(invocation, known) for known in KEYS.values()]
    if invocation.as_json:
        return print_json({"items": rows, "next": None})
    columns = ("key", "value", "default", "source")
    print_table([name.upper() for name in columns], [[_word(row[name]) for name in columns] for row in rows])
    click.echo(f"\nhome          {invocation.places.home}")
    return click.echo(f"project file  {invocation.configuration.project_file or 'none'}")


def _describe(invocation: Invocation, key: Key) -> dict[str, Any]:
    configuration = invocation.configuration
    return {
        "key": key.name,
        "value": configuration.value(key),
        "default": key.default,
        "source": configuration.sources[key.name],
        "allowed": key.allowed,
        "purpose": key.purpose,
        "variable": key.variable,
    }


def _word(value: Any) -> Any:
    """As one would write it in a file."""
    return str(value).lower() if isinstance(value, bool) else value


def _find(name: str) -> Key:
    if name not in KEYS:
        close = close_names(name)
        fix = f"did you mean {' or '.join(close)}?" if close else "`ramet config` lists them all"
        raise UnknownKey(f"there is no key {name!r}", field="key", value=name, fix=fix)
    return KEYS[name]
