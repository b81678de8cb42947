"""`ramet rpc`: list and call operations by name, as programs do."""

import click

from ramet.cli import references
from ramet.cli.command import Group
from ramet.cli.invocation import Invocation
from ramet.cli.output import print_json, print_table


@click.group(cls=Group)
def rpc() -> None:
    """List and call operations by name, as programs do over the socket."""


@rpc.command("list", examples=["ramet rpc list", "ramet rpc list --json | jq -r '.[].name'"])
@click.option("--all", "with_internal", is_flag=True, help="Include operations that only Ramet's own processes call.")
@click.pass_obj
def list_operations(invocation: Invocation, *, with_internal: bool) -> None:
    """List operations with their parameters and purpose. --json adds the schemas."""
    from ramet.protocol.wire.describe import describe  # noqa: PLC0415

    operations = [row for row in describe() if with_internal or row["audience"] != "internal"]
    if invocation.as_json:
        return print_json(operations)
    rows = [[row["name"], ", ".join(_parameters(row["params"])), row["purpose"]] for row in operations]
    return print_table(["OPERATION", "PARAMETERS", "PURPOSE"], rows)


@rpc.command(
    examples=[
        "ramet rpc call db.task.list",
        """ramet rpc call db.task.list '{"project": 1}'""",
        "echo '{}' | ramet rpc call daemon.ping -",
    ]
)
@click.argument("method")
@click.argument("params", default="{}")
@click.pass_obj
def call(invocation: Invocation, method: str, params: str) -> None:
    """Call METHOD with PARAMS and print the result as JSON. PARAMS is a JSON object, or `-` for standard input."""
    given = references.json_object(references.text_or_stdin(params))
    print_json(invocation.connection.call(method, given))


def _parameters(schema: dict[str, object]) -> list[str]:
    """The parameters' names, the optional ones with a question mark."""
    properties, required = schema.get("properties"), schema.get("required") or []
    assert isinstance(properties, dict)  # noqa: S101
    assert isinstance(required, list)  # noqa: S101
    return [name if name in required else f"{name}?" for name in properties if name != "idempotency_key"]
