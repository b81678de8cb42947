"""`ramet config`: every configuration key, its value, and where the value comes from."""

import click
from msgspec import Struct

from ramet.cli.command import Command
from ramet.cli.invocation import Invocation
from ramet.cli.output import as_builtins, print_json, print_table, show_row
from ramet.config.keys import KEYS, Key, Value, close_names, find_defaults
from ramet.config.layers import Configuration, load
from ramet.errors import UnknownKey
from ramet.protocol.replies import Page
from ramet.vendors import registry


class DescribedKey(Struct, frozen=True, kw_only=True):
    """A key, its value, and where that comes from."""

    key: str
    value: Value
    default: Value
    source: str
    allowed: str
    purpose: str
    variable: str


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
    # Agents see the variables of their programs by default, which only this command has to know before one is started.
    variables = registry.passed_variables()
    found = load(invocation.environ, invocation.cwd, invocation.flags, agent_variables=variables)
    defaults = find_defaults(variables)
    if key is not None:
        known = _find(key)
        return show_row(invocation, _describe(found, known, defaults[known.name]))
    rows = [_describe(found, known, defaults[known.name]) for known in KEYS.values()]
    if invocation.as_json:
        return print_json(Page(items=rows))
    cells = [[row.key, _word(row.value), _word(row.default), row.source] for row in rows]
    print_table(["KEY", "VALUE", "DEFAULT", "SOURCE"], cells)
    click.echo(f"\nhome          {invocation.places.home}")
    return click.echo(f"project file  {found.project_file or 'none'}")


def _describe(configuration: Configuration, key: Key, default: Value) -> DescribedKey:
    return DescribedKey(
        key=key.name,
        value=configuration.value(key),
        default=default,
        source=configuration.sources[key.name],
        allowed=key.allowed,
        purpose=key.purpose,
        variable=key.variable,
    )


def _word(value: Value) -> object:
    """As one would write it in a file."""
    return str(value).lower() if isinstance(value, bool) else as_builtins(value)


def _find(name: str) -> Key:
    if name not in KEYS:
        close = close_names(name)
        fix = f"did you mean {' or '.join(close)}?" if close else "`ramet config` lists them all"
        raise UnknownKey(f"there is no key {name!r}", field="key", value=name, fix=fix)
    return KEYS[name]
