"""Who runs a command: the session of an agent that does, as its environment says."""

from collections.abc import Mapping
from typing import TypedDict

from ramet.vendors import registry


class Caller(TypedDict, total=False):
    """Whose session it is, in the parameters of an operation: the session, or the program and its own name for it; and
    the agent.
    """

    session_id: int
    agent_id: str
    driver: str
    native_id: str


def find_session(environ: Mapping[str, str]) -> int | str | None:
    """The session of the agent that runs this; None where a person does."""
    who = identify(environ)
    if "session_id" in who:
        return who["session_id"]
    return f"{who['driver']}:{who['native_id']}" if "native_id" in who else None


def identify(environ: Mapping[str, str]) -> Caller:
    """The parameters of an operation that say whose session it is, be it one that is not known yet."""
    started = environ.get("RAMET_SESSION", "")
    if started.isdecimal():
        return {"session_id": int(started)}
    agent: Caller = {"agent_id": environ["RAMET_AGENT"]} if environ.get("RAMET_AGENT") else {}
    window = find_window(environ)
    return agent if window is None else {**agent, "driver": window[0], "native_id": window[1]}


def find_window(environ: Mapping[str, str]) -> tuple[str, str] | None:
    """The agent program that runs this, and its own name for its session; None where a person does."""
    told = ((vendor, name) for vendor, facts in registry.facts().items() for name in facts.session_variables)
    named = ((vendor, environ.get(variable)) for vendor, variable in told)
    return next(((vendor, name) for vendor, name in named if name), None)
