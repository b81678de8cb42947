"""The server: the official SDK on one side, the calls on the other.

Each answer is one block of text with a JSON document: some programs refuse structured content. The SDK speaks both eras
of the protocol, the handshake of 2025 and the requests without one of 2026; the client's first request decides.
"""

import asyncio
import signal
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import anyio
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel.server import Server
from mcp.server.session import ServerSession
from mcp.server.stdio import stdio_server
from mcp_types import (
    CallToolRequestParams,
    CallToolResult,
    ListToolsResult,
    PaginatedRequestParams,
    TextContent,
    Tool,
)

from ramet.config.layers import load
from ramet.config.places import find_home
from ramet.errors import ConfigError
from ramet.hooks.program import find_own
from ramet.mcp.calls import Calls
from ramet.mcp.tools import TOOLS
from ramet.mcp.uplink import Uplink
from ramet.model.redaction import Redactor
from ramet.model.redaction.structs import StructRedactor
from ramet.vendors import registry
from ramet.version import __version__

DEFAULT_SECONDS = 50.0
"""Below the shortest limit that an agent program has for a call: 60 seconds."""
_PROGRESS_SECONDS = 5.0
_LONGEST_ID = 200
_INSTRUCTIONS = (
    "Delegate parts of your work to other agents under Ramet, collect their results, recall earlier sessions, and "
    "report your own."
)

_Context = ServerRequestContext[Any, Any]


def run(environ: Mapping[str, str]) -> None:
    """Serve standard input and output until the client goes."""
    # Programs end their servers with SIGINT. Nothing here needs to be put in order, and Python's own way would wait for
    # the thread that reads standard input.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    asyncio.run(_serve(build(Calls(_find_session(environ), _seconds(environ)))))


def _find_session(environ: Mapping[str, str]) -> Uplink:
    """Whose tools these are. If Ramet did not start the program, its hooks have named the session to their daemon,
    which is asked then, regardless of the project's own daemon. A program that tells its servers no session is known by
    its process.
    """
    socket, token = _given(environ, "RAMET_SOCKET"), _given(environ, "RAMET_TOKEN")
    session = None if token else _find_native(environ)
    redaction = _find_redaction(environ)
    if token:
        return Uplink(socket, token, redaction=redaction)
    own = socket or str(find_own(environ, find_home(environ)).places.socket)
    return Uplink(own, None, session, redaction, environ, is_found_by_process=session is None)


def _find_redaction(environ: Mapping[str, str]) -> tuple[StructRedactor, Redactor] | None:
    """The patterns that the project adds to the owner's; None if it adds none that can be used."""
    try:
        configuration = load(environ, Path.cwd(), {}, is_lenient=True)
        patterns = configuration.settings.redaction.patterns
        if patterns == configuration.owner.redaction.patterns:
            return None
        return StructRedactor(), Redactor(patterns)
    except (ConfigError, OSError):
        return None


def _find_native(environ: Mapping[str, str]) -> str | None:
    """The session of the program that has started this server, if it says so: `vendor:native_id`."""
    told = ((vendor, facts.server_session_variable) for vendor, facts in registry.facts().items())
    named = ((vendor, variable and _given(environ, variable)) for vendor, variable in told)
    return next((f"{vendor}:{native_id}" for vendor, native_id in named if native_id), None)


def _find_called(meta: Mapping[str, Any]) -> str | None:
    """The program's own id of the session that calls a tool, if the call says so."""
    fields = [facts.call_session_field for facts in registry.facts().values() if facts.call_session_field]
    found = (meta.get(field) for field in fields)
    return next((each for each in found if isinstance(each, str) and 0 < len(each) <= _LONGEST_ID), None)


def build(calls: Calls) -> Server[Any]:
    """The server of these calls."""

    async def list_tools(_context: _Context, _params: PaginatedRequestParams | None) -> ListToolsResult:
        tools = [Tool(name=tool.name, description=tool.description, input_schema=tool.schema) for tool in TOOLS]
        return ListToolsResult(tools=tools)

    async def call_tool(context: _Context, params: CallToolRequestParams) -> CallToolResult:
        async with anyio.create_task_group() as group:
            group.start_soon(_tell_progress, context.session, calls.seconds)
            answer = await calls.call(params.name, params.arguments or {}, _find_called(context.meta or {}))
            group.cancel_scope.cancel()
        # An answer without a text is no block: some programs show the model an empty one as a failure.
        text = answer.text
        return CallToolResult(content=[TextContent(type="text", text=text)] if text else [], is_error=answer.is_error)

    return Server(
        "ramet",
        version=__version__,
        instructions=_INSTRUCTIONS,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
    )


async def _serve(server: Server[Any]) -> None:
    async with stdio_server() as (received, sent):
        await server.run(received, sent, server.create_initialization_options())


async def _tell_progress(session: ServerSession, seconds: float) -> None:
    """Tell the program that the call is running: some give up on a call that is silent for long."""
    pause = min(_PROGRESS_SECONDS, seconds / 10)
    elapsed = 0.0
    while True:
        await anyio.sleep(pause)
        elapsed += pause
        await session.report_progress(elapsed, seconds, f"running for {elapsed:.0f} s")


def _given(environ: Mapping[str, str], name: str) -> str | None:
    """A variable; None if the program passed on the reference to one that it does not have."""
    value = environ.get(name, "")
    return None if value.startswith(("$", "{")) else value


def _seconds(environ: Mapping[str, str]) -> float:
    """RAMET_TOOL_SECONDS, if it is a number that makes sense."""
    try:
        seconds = float(environ.get("RAMET_TOOL_SECONDS") or DEFAULT_SECONDS)
    except ValueError:
        return DEFAULT_SECONDS
    return seconds if 0 < seconds < float("inf") else DEFAULT_SECONDS
