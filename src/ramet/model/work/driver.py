"""A driver: the adapter that runs one kind of agent program, and what it can do."""

from msgspec import Struct

NEVER_PARKED = ("shell", "command")
"""Drivers whose every program is another one: what fails there says nothing about the next."""


class Abilities(Struct, frozen=True, kw_only=True):
    """What a driver's program can do beyond answering a prompt."""

    resume: bool = False
    """Go on with a context window by its native id."""
    fork: bool = False
    """Go on with a copy of one."""
    tools: bool = False
    """Say which tools it uses; its silence then means something."""
    usage: bool = False
    """Say what it used."""
    limits: bool = False
    """Say that a usage limit was reached, and when it ends."""
    mcp: bool = False
    """Take an MCP server, and be told about it: so it can spawn, report and read."""
    confinement: bool = False
    """Be confined to the tools that are named."""


class DriverRow(Struct, frozen=True, kw_only=True):
    """A driver or a configured profile of one, as `ramet drivers` shows it."""

    name: str
    driver: str
    """Whose adapter it is; the same as the name, but for a profile."""
    program: str | None
    """Where its program was found; None where it is not installed."""
    version: str | None
    is_default: bool
    abilities: Abilities
    fix: str | None
    """How to get it, where it is not there."""
    parked_until: str | None = None
    """Until when it is not used: its account is at a limit, or it failed again and again."""
    parked_reason: str | None = None
