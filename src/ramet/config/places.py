"""The paths on disk that depend on the settings: one set of files for each database.

The default database has plain names. Any other database has names with a hash of its identity, so that two databases
never share a daemon and one database never gets two.
"""

import hashlib
import os
from collections.abc import Mapping
from pathlib import Path

from ramet.config.files import expand, xdg_directory
from ramet.config.secrets import HIDDEN, hide_password
from ramet.config.settings import Places, Settings
from ramet.errors import InvalidSetting

_SOCKET_PATH_BYTES = 103
"""The longest path of a Unix socket that works everywhere: macOS has room for 104 bytes with the final NUL."""


def find_home(environ: Mapping[str, str]) -> Path:
    """RAMET_HOME, or its default under the XDG data directory."""
    named = environ.get("RAMET_HOME")
    if not named:
        return xdg_directory(environ, "XDG_DATA_HOME", ".local/share") / "ramet"
    home = expand(named, environ, Path())
    if not home.is_absolute():
        raise InvalidSetting(
            f"RAMET_HOME is {named!r}, which is a relative path",
            field="RAMET_HOME",
            value=named,
            fix="set RAMET_HOME to an absolute path",
        )
    return home


def make_private(folder: Path) -> None:
    """Make a folder that only the user can open, and the missing ones above it.

    Whichever file of Ramet's home is written first, the home has mode 0700: `mkdir` gives its mode to the last folder
    alone.
    """
    for missing in reversed([each for each in folder.parents if not each.exists()]):
        missing.mkdir(mode=0o700, exist_ok=True)
    folder.mkdir(mode=0o700, exist_ok=True)


def find_places(environ: Mapping[str, str], settings: Settings) -> Places:
    """The paths of the configured database's daemon."""
    home = find_home(environ)
    if settings.database.type == "postgres":
        database, name = None, _name(_server(settings.database.url or ""))
        lock_file = home / "run" / f"{name}.lock"
    else:
        default = home / "ramet.db"
        database = Path(settings.database.path or default).resolve()
        name = "ramet" if database == default.resolve() else _name(str(database))
        lock_file = database.with_name(f"{database.name}.lock")
    socket = _socket(home / "run" / f"{name}.sock")
    return Places(
        home=home,
        database=database,
        socket=socket,
        agents_socket=_agents_socket(home / "run" / f"{name}-agents" / "agents.sock"),
        pid_file=socket.with_suffix(".pid"),
        log_file=home / "logs" / f"{name}.log",
        index=home / ("search.db" if name == "ramet" else f"search-{name}.db"),
        backups=home / "backups",
        lock_file=lock_file,
        keepers=home / "keepers" / name,
        worktrees=home / "worktrees",
    )


def _server(url: str) -> str:
    """The database's identity, without the password and with one spelling of the scheme."""
    shown = hide_password(url)
    return (url if shown == HIDDEN else shown).replace("postgresql://", "postgres://", 1)


def _name(identity: str) -> str:
    return f"ramet-{_digest(identity)}"


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode(errors="surrogateescape")).hexdigest()[:12]


def _agents_socket(wanted: Path) -> Path:
    """The same for agents. It is alone in its folder, which a sandbox mounts: the file is another one each time that
    the daemon starts.
    """
    place = _socket(wanted)
    return place if place == wanted else place.with_suffix("") / wanted.name


def _socket(wanted: Path) -> Path:
    """The socket's path, or a short one in a directory of the user if that path is too long."""
    if len(os.fsencode(wanted)) <= _SOCKET_PATH_BYTES:
        return wanted
    return Path(f"/tmp/ramet-{os.getuid()}") / f"{_digest(str(wanted))}.sock"  # noqa: S108
