"""`ramet query`: read the database directly. It cannot change anything."""

import json
import math

import click
from msgspec.structs import replace

from ramet.cli import references
from ramet.cli.command import Command
from ramet.cli.invocation import Invocation
from ramet.cli.output import print_json, print_table
from ramet.protocol.system.database import Query, QueryResult

Scalar = str | int | float | bool | None


@click.command(
    cls=Command,
    examples=[
        "ramet query 'SELECT * FROM fleet_status'",
        "ramet query 'SELECT id, skill FROM efforts WHERE task_id = ?' /projects/site/login",
        "ramet query - < report.sql",
    ],
)
@click.argument("sql")
@click.argument("params", nargs=-1)
@click.pass_obj
def query(invocation: Invocation, sql: str, params: tuple[str, ...]) -> None:
    """Run a read-only SELECT; `-` reads it from standard input. Each PARAM replaces one `?`.

    A PARAM that is a JSON number, true, false or null has that type; anything else is text. To pass a number as text,
    put it in JSON quotes.
    """
    request = Query(sql=references.text_or_stdin(sql), params=[_parse(param) for param in params])
    reply = _read_pages(invocation, request, invocation.configuration.settings.query.max_rows)
    if invocation.as_json:
        return print_json(reply)
    rows = [["NULL" if value is None else value for value in row] for row in reply.rows]
    print_table(reply.columns, rows)
    if reply.truncated:
        click.echo(f"only the first {len(rows)} rows are shown (query.max_rows)", err=True)
    return None


def _read_pages(invocation: Invocation, request: Query, max_rows: int) -> QueryResult:
    """The first rows, as many as `query.max_rows` allows; rows that are large come in several replies."""
    reply = invocation.ask(request)
    rows = list(reply.rows)
    while reply.next is not None and len(rows) < max_rows:
        reply = invocation.ask(replace(request, cursor=reply.next, limit=max_rows - len(rows)))
        rows += reply.rows
    return replace(reply, rows=rows)


def _parse(param: str) -> Scalar:
    try:
        value = json.loads(param)
    except ValueError:
        return param
    if isinstance(value, float) and not math.isfinite(value):  # Python reads NaN, which is no JSON number
        return param
    return value if value is None or isinstance(value, str | int | float) else param
