"""Who runs a command: the session of an agent that does, as its environment says."""

from collections.abc import Mapping
from typing import Any

_NATIVE = {"CLAUDE_CODE_SESSION_ID": "claude", "CODEX_THREAD_ID": "codex", "CODEX_SESSION_ID": "codex"}
"""Where agent programs tell what they run which session it is."""


def find_session(environ: Mapping[str, str]) -> int | str | None:
    """The session of the agent that runs this; None where a person does."""
    who = identify(environ)
    if "session_id" in who:
        return int(who["session_id"])
    return f"{who['driver']}:{who['native_id']}" if "native_id" in who else None


def identify(environ: Mapping[str, str]) -> dict[str, Any]:
    """The parameters of an operation that say whose session it is, be it one that is not known yet."""
    started = environ.get("RAMET_SESSION", "")
    if started.isdecimal():
        return {"session_id": int(started)}
    agent = {"agent_id": environ["RAMET_AGENT"]} if environ.get("RAMET_AGENT") else {}
    window = find_window(environ)
    return agent if window is None else {**agent, "driver": window[0], "native_id": window[1]}


def find_window(environ: Mapping[str, str]) -> tuple[str, str] | None:
    """The agent program that runs this, and its own name for its session; None where a person does."""
    named = ((driver, environ.get(variable)) for variable, driver in _NATIVE.items())
    return next(((driver, name) for driver, name in named if name), None)
