"""What there is to import: the stored sessions of every agent program, or of some, or in a file or folder."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

import click

from ramet.cli.invocation import Invocation
from ramet.config.files import user_home
from ramet.model.instant import to_datetime
from ramet.model.memory.stored_session import Head, Source
from ramet.protocol.record.projects import ListProjects
from ramet.vendors import registry
from ramet.vendors.contract.stored_files.session_sources import Surroundings


class Survey(NamedTuple):
    """What was found of one agent program."""

    vendor: str
    sessions: int
    size_bytes: int
    first: datetime
    last: datetime
    projects: int

    @classmethod
    def of(cls, vendor: str, sources: Sequence[Source], heads: "dict[str, Head | None]") -> "Survey":
        """From its sources, and what the heads of some say."""
        started = [head.started_at for each in sources if (head := heads.get(each.key)) and head.started_at is not None]
        changed = [to_datetime(each.changed_ms) for each in sources]
        directories = {head.cwd for each in sources if (head := heads.get(each.key)) and head.cwd is not None}
        return cls(
            vendor=vendor,
            sessions=len(sources),
            size_bytes=sum(each.size_bytes for each in sources),
            first=min([*started, *changed]),
            last=max(changed),
            projects=len(directories),
        )


def discover(invocation: Invocation, names: Sequence[str]) -> list[Source]:
    """The stored sessions of the agent programs and in the files that are named, or of all programs."""
    sessions = registry.sessions()
    vendors = [name for name in names if name in sessions] if names else list(sessions)
    around = find_surroundings(invocation)
    found = [source for vendor in vendors for source in sessions[vendor].find(around)]
    for name in names:
        if name not in sessions:
            found += recognise(existing(invocation, name))
    return in_order({(each.vendor, each.key): each for each in found}.values())


def find_surroundings(invocation: Invocation) -> Surroundings:
    """Where agent programs of this user keep their sessions."""
    projects = tuple(Path(row.path) for row in invocation.ask(ListProjects()).items)
    return Surroundings(user_home(invocation.environ), invocation.environ, projects)


def existing(invocation: Invocation, name: str) -> Path:
    """The file or folder that a person named."""
    path = invocation.cwd / Path(name).expanduser()
    if not path.exists():
        known = ", ".join(registry.names("sessions"))
        raise click.BadParameter(f"{name!r} is neither an agent program ({known}) nor a file or folder.")
    return path


def recognise(path: Path) -> list[Source]:
    """The stored sessions in a file or below a folder, of the programs that recognise any."""
    found = [source for each in registry.sessions().values() for source in each.recognise(path)]
    if not found:
        known = ", ".join(registry.names("sessions"))
        raise click.BadParameter(f"no session of {known} was found in {path}.")
    return found


def in_order(sources: Iterable[Source]) -> list[Source]:
    """As they are imported: a session before its copies, which changed later, and sub-agents behind all others."""
    return sorted(sources, key=lambda each: (each.is_subagent, each.changed_ms, each.vendor, each.key))


def find_head(source: Source) -> Head | None:
    """What a session says of itself, from its first piece; None if it cannot be read or says nothing."""
    try:
        first = next(iter(registry.sessions()[source.vendor].read(source, None)), None)
    except (OSError, ValueError):
        return None
    return None if first is None else first.head
