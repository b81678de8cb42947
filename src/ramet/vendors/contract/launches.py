"""The process that a driver asks for."""

from ramet.protocol.keeping import Launch
from ramet.vendors.contract.driver_protocol import Start

VENDOR_MARGIN_SECONDS = 60
"""How much longer than our own tools a program waits for their answers."""

_OF_ANOTHER_SESSION = {
    "CLAUDECODE",
    "CLAUDE_CODE_CHILD_SESSION",
    "CLAUDE_CODE_ENTRYPOINT",
    "CLAUDE_CODE_EXECPATH",
    "CLAUDE_CODE_MESSAGING_SOCKET",
    "CLAUDE_CODE_MESSAGING_TOKEN",
    "CLAUDE_CODE_SESSION_ATTENDED",
    "CLAUDE_CODE_SESSION_ID",
    "CLAUDE_CODE_SSE_PORT",
    "CLAUDE_EFFORT",
    "CLAUDE_ENV_FILE",
    "CLAUDE_PID",
    "CLAUDE_PROJECT_DIR",
    "CODEX_CI",
    "CODEX_PERMISSION_PROFILE",
    "CODEX_SANDBOX_NETWORK_DISABLED",
    "CODEX_SESSION_ID",
    "CODEX_THREAD_ID",
    "CODEX_TOOL_CALL_ID",
}
"""What an agent program tells the shells that it starts about itself. Work that is asked for from within such a shell
would otherwise pass for a part of that session, and hold its keys.
"""


def launch(start: Start, arguments: list[str], stdin: str) -> Launch:
    """The start's program with these arguments."""
    environment = {name: value for name, value in start.environment.items() if name not in _OF_ANOTHER_SESSION}
    return Launch(
        arguments=[*start.program, *arguments], stdin=stdin, environment=environment, directory=start.directory
    )
