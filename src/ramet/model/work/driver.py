"""A driver: the adapter that runs one kind of agent program, and what it can do."""

from msgspec import Struct

NEVER_PARKED = ("shell", "command")
"""Drivers whose every program is another one: what fails there says nothing about the next."""


class Abilities(Struct, frozen=True, kw_only=True):
    """What a driver's program can do beyond answering a prompt."""

    resume: bool = False
    """Resume a context window by its native id."""
    fork: bool = False
    """Continue a copy of a context window."""
    tools: bool = False
    """Report which tools it uses, so that silence means something."""
    usage: bool = False
    """Report its usage."""
    cost: bool = False
    """Report what its calls cost."""
    limits: bool = False
    """Report that a usage limit was reached, and when it ends."""
    mcp: bool = False
    """Use an MCP server and get instructions for it, so that it can spawn, report and read."""
    confinement: bool = False
    """Restrict itself to the given tools."""


class DriverRow(Struct, frozen=True, kw_only=True):
    """A driver or a profile, as `ramet drivers` shows it."""

    name: str
    driver: str
    """The driver; the same as the name, except for a profile."""
    program: str | None
    """The path of its program; None if it is not installed."""
    version: str | None
    is_default: bool
    abilities: Abilities
    fix: str | None
    """How to install it, if it is missing."""
    parked_until: str | None = None
    """Until when it is not used, because its account is at a limit or it failed repeatedly."""
    parked_reason: str | None = None
    is_elsewhere: bool = False
    """Whether the daemon's own PATH has another program, or none. It counts only if no client names its own."""
    daemon_program: str | None = None
    """The path of the program in the daemon's own PATH, if that is another one."""
