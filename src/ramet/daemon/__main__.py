"""The daemon's entry point: `python -m ramet.daemon COMMAND`, where COMMAND is one of `_COMMANDS`.

The client starts it; a daemon starts `readers` if the process that forks its readers is gone.

Settings and places come as one JSON line on standard input, not as arguments, so that no password shows in `ps`.
If it cannot start, it writes one JSON line to standard error, and its exit status is the error's.
"""

import errno
import os
import shlex
import sys
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from ramet.clock import SystemClock
from ramet.config.environment import read_environment
from ramet.config.settings import Places, Settings
from ramet.daemon.readers.failures import find_known
from ramet.errors import DaemonFailed, InvalidSetting, RametError, StoreError
from ramet.faults import Faults, parse_faults
from ramet.protocol.work.keepers import MARKER


class Start(Struct, frozen=True, kw_only=True):
    """What the starter says."""

    settings: Settings
    places: Places
    order: dict[str, Any] = {}
    """What else a task needs."""


_KEEPING = ("migrate", "reset", "check", "lift-ban")
_RETURNING = ("backups", "preview", "restore", "accept", "salvage")
_COMMANDS = ("serve", "readers", *_KEEPING, *_RETURNING, "redact")


def main(arguments: list[str]) -> int:
    """Do what the one argument names."""
    try:
        start = _read_start(sys.stdin.buffer.readline())
        faults = _read_faults()
    except RametError as error:
        return _fail(error)
    try:
        _run(arguments[0] if len(arguments) == 1 else "", start, faults)
    except StoreError as error:
        return _fail(_name_file(error, start.places))
    except RametError as error:
        return _fail(error)
    except OSError as error:
        return _fail(_explain(error, start.places))
    except Exception as error:  # noqa: BLE001 - the starter gets the kind of error, the log has the rest
        return _fail(_unforeseen(error))
    return 0


def _run(command: str, start: Start, faults: Faults) -> None:
    # The parts are imported only now, so that what is missing is reported like any other failure.
    from ramet.daemon import composition, lifecycle  # noqa: PLC0415
    from ramet.daemon.offline import upkeep  # noqa: PLC0415

    clock = SystemClock()
    match command:
        case "serve":
            os.environ.pop(MARKER, None)  # an agent may have started us, and must not take us with it
            environment = read_environment(os.environ, start.settings)
            lifecycle.serve(start.settings, environment, start.places, clock, faults, dict(os.environ))
        case "readers":
            environment = read_environment(os.environ, start.settings)
            control = start.order.get("control")
            composition.serve_readers(start.settings, environment, start.places, clock, control)
        case _ if command in _KEEPING:
            _print(_maintain(command, start, faults))
        case _ if command in _RETURNING:
            _print(_return(command, start, faults))
        case "redact":
            redaction = msgspec.convert(start.order, upkeep.RedactOrder)
            environment = read_environment(os.environ, start.settings)
            _print(upkeep.redact(start.settings, environment, start.places, clock, faults, redaction))
        case _:
            raise InvalidSetting(f"usage: python -m ramet.daemon {'|'.join(_COMMANDS)}", value=command)


def _maintain(command: str, start: Start, faults: Faults) -> Struct:
    """What is done to the database as a whole."""
    from ramet.daemon.offline import upkeep  # noqa: PLC0415

    match command:
        case "migrate":
            return upkeep.migrate(start.settings, start.places, SystemClock(), faults)
        case "reset":
            return upkeep.reset(start.settings, start.places, SystemClock())
        case "check":
            return upkeep.check(start.settings, start.places)
        case _:
            return upkeep.lift_ban(start.places)


def _return(command: str, start: Start, faults: Faults) -> Struct:
    """Return to a backup, or to what is left of a database."""
    from ramet.daemon import composition  # noqa: PLC0415
    from ramet.daemon.offline import restores, salvages  # noqa: PLC0415

    settings, places, clock = start.settings, start.places, SystemClock()
    match command:
        case "backups":
            return restores.list_backups(places)
        case "accept":
            return restores.accept(places)
        case "salvage":
            return salvages.run_salvage(
                settings, places, clock, faults, msgspec.convert(start.order, salvages.SalvageOrder)
            )
    order = msgspec.convert(start.order, restores.RestoreOrder)
    if command == "preview":
        return restores.preview(places, order)
    engine = composition.build_engine(settings, read_environment(os.environ, settings), places)
    return restores.restore(settings, places, engine, clock, faults, order)


def _read_start(line: bytes) -> Start:
    try:
        return msgspec.json.decode(line, type=Start, dec_hook=_to_path)
    except msgspec.DecodeError as error:
        raise InvalidSetting(f"the settings on standard input are not valid: {error}") from error


def _to_path(kind: type, value: Any) -> Any:
    if kind is Path and isinstance(value, str):
        return Path(value)
    raise NotImplementedError(kind)


def _read_faults() -> Faults:
    try:
        return parse_faults(os.environ.get("RAMET_FAULT", ""))
    except ValueError as error:
        raise InvalidSetting(str(error), field="RAMET_FAULT") from error


def _explain(error: OSError, places: Places) -> RametError:
    """An error of the system, with its path. The log may be on that disk, so it cannot have the reason."""
    if error.errno in (errno.EMFILE, errno.ENFILE, errno.ENOMEM):
        return find_known(error) or _unforeseen(error)
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return _explain_full_disk(error, places)
    if not isinstance(error.filename, str | bytes) or error.strerror is None:
        return _unforeseen(error)
    path = Path(os.fsdecode(error.filename))
    nearest = next((each for each in (path, *path.parents) if os.path.lexists(each)), path)
    is_in_the_way = error.errno in (errno.ENOTDIR, errno.EEXIST) and nearest.is_file()
    shown, reason = (nearest, "it is not a directory") if is_in_the_way else (path, error.strerror)
    writable = "set RAMET_HOME to a directory that you can write to"
    if error.errno == errno.EROFS:
        fix = f"make the file system of {nearest} writable (`findmnt -T {shlex.quote(str(nearest))}` shows it)"
        fix += f", or {writable}" if path.is_relative_to(places.home) else ""
    elif path.is_relative_to(places.home):
        fix = writable
    else:
        fix = f"make sure that you can write to {nearest}"
    return DaemonFailed(f"the daemon cannot use {shown}: {reason}", field="path", value=str(shown), fix=fix)


def _explain_full_disk(error: OSError, places: Places) -> DaemonFailed:
    """The system does not always say which file it was."""
    named = isinstance(error.filename, str | bytes)
    shown = os.fsdecode(error.filename) if named else str(places.home)
    folders = [str(places.home), *([str(places.database.parent)] if places.database else [])]
    fix = f"free disk space: `df -h {shlex.join(dict.fromkeys(folders))}` shows how much is left"
    return DaemonFailed(f"the daemon cannot use {shown}: {error.strerror}", field="path", value=shown, fix=fix)


def _name_file(error: StoreError, places: Places) -> StoreError:
    """Say which file it is that cannot be used. An error that does not pass says so itself."""
    file = str(places.database)
    if places.database is not None and error.is_transient and file not in error.message:
        error.message = f"{file}: {error.message}"
    return error


def _unforeseen(error: Exception) -> DaemonFailed:
    reason = (error.strerror if isinstance(error, OSError) else None) or type(error).__name__
    return DaemonFailed(f"the daemon failed: {reason}", fix="see `ramet daemon logs`")


def _print(result: Struct) -> None:
    sys.stdout.buffer.write(msgspec.json.encode(result) + b"\n")
    sys.stdout.flush()


def _fail(error: RametError) -> int:
    sys.stderr.buffer.write(msgspec.json.encode(error.to_wire()) + b"\n")
    sys.stderr.flush()
    return error.exit_status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
