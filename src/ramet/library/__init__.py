"""By program: the operations as typed Python, in this process or through the daemon.

`open` and `connect` give the same object. Each imports its own half when it is called, so that a program that
talks to the daemon does not load a database module.
"""

from os import PathLike

from ramet.library.ramet import Ramet

__all__ = ["Ramet", "connect", "open"]


def open(path: str | PathLike[str]) -> Ramet:  # noqa: A001
    """Run on a database file in this process; the file is created where it does not exist.

    Takes the database's lock. While a daemon or another program holds it, `DatabaseHeld` says to use `connect`.
    """
    from ramet.library.local import LocalTransport  # noqa: PLC0415

    return Ramet(LocalTransport.open(path))


def connect(
    project: str | PathLike[str] | None = None,
    *,
    autostart: bool | None = None,
    timeout_seconds: float | None = None,
) -> Ramet:
    """Go through the daemon of the configured database, which is started where none runs.

    The configuration is that of the directory `project`, or of the current one. `autostart` overrides
    `daemon.autostart`. `timeout_seconds` bounds the wait for each reply.
    """
    from ramet.library.remote import RemoteTransport  # noqa: PLC0415

    transport = RemoteTransport.connect(project, autostart=autostart, timeout_seconds=timeout_seconds)
    return Ramet(transport)
