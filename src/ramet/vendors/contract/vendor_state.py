"""The files in which a program keeps its settings, its sessions and its credentials, and the hosts of its models.

A sandboxed agent gets these and nothing else of the user's home. A program's folder also holds the sessions of other
projects, so a vendor names the files one by one, and of its sessions only those of one directory.
"""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

from ramet.config.files import user_home
from ramet.config.settings import ProfileSettings


class StateFile(NamedTuple):
    """A file or a folder below the program's own folder."""

    name: str
    is_writable: bool = False
    holds_credentials: bool = False
    """Whether whoever reads it can act as the user at the program's provider."""


class Sessions(NamedTuple):
    """Where the sessions of one directory are, below the program's own folder."""

    path: str
    """As the program sees it."""
    source: str
    """As this machine has it. Created if it does not exist."""
    files: tuple[str, ...] = ()
    """Files below `path`, as this machine has it, that belong to the session to resume and are not in `source` yet."""


class State(NamedTuple):
    """What one program needs of its user's home."""

    name: str
    folder: str
    """Below the user's home."""
    folder_variable: str
    """The environment variable that names another folder."""
    files: tuple[StateFile, ...]
    find_sessions: Callable[[Path, str, str | None], Sessions]
    """By the program's folder, the directory that the agent works in, and the native id of the session to resume."""
    hosts: tuple[str, ...]
    """The hosts of its models and of its log-in."""
    address_variables: tuple[str, ...] = ()
    """The environment variables that name another address of its models."""
    find_addresses: Callable[[Path], list[str]] = lambda _: []
    """More addresses, by the program's folder."""
    find_variables: Callable[[Path], list[str]] = lambda _: []
    """The environment variables that the user's own configuration of the program names, by the program's folder."""
    find_conflict: Callable[[ProfileSettings], str | None] = lambda _: None
    """Why a profile cannot run inside a sandbox, and what to change, as a sentence with a semicolon."""

    def place(self, environ: Mapping[str, str]) -> Path:
        """The program's own folder."""
        named = environ.get(self.folder_variable)
        return Path(named) if named else user_home(environ) / self.folder

    def model_hosts(self, environ: Mapping[str, str]) -> list[str]:
        """The hosts that it has to reach, with the port if it is not the usual one."""
        named = [address for name in self.address_variables if (address := environ.get(name))]
        given = (host_of(address) for address in [*named, *self.find_addresses(self.place(environ))])
        return list(dict.fromkeys([*self.hosts, *filter(None, given)]))


def host_of(address: str) -> str | None:
    """`host` or `host:port` of a URL; None if it has none."""
    try:
        url = urlsplit(address)
        host, port = url.hostname, url.port
    except ValueError:
        return None
    if host is None:
        return None
    host = f"[{host}]" if ":" in host else host
    return host if port is None else f"{host}:{port}"
