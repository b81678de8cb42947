"""The daemon's entry point: `python -m ramet.daemon serve|migrate|reset`, started by the client.

Settings and places come as one JSON line on standard input, not as arguments, so that no password shows in `ps`.
Whatever keeps it from starting is one JSON line on standard error, and the exit status is the error's.
"""

import os
import sys
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from ramet.clock import SystemClock
from ramet.config.environment import read_environment
from ramet.config.settings import Places, Settings
from ramet.errors import DaemonFailed, InvalidSetting, RametError
from ramet.faults import Faults, parse_faults
from ramet.protocol.work.keepers import MARKER


class Start(Struct, frozen=True, kw_only=True):
    """What the starter says."""

    settings: Settings
    places: Places


def main(arguments: list[str]) -> int:
    """Do what the one argument names."""
    try:
        start = _read_start(sys.stdin.buffer.readline())
        faults = _read_faults()
        _run(arguments[0] if len(arguments) == 1 else "", start, faults)
    except RametError as error:
        return _fail(error)
    except Exception as error:  # noqa: BLE001 - the starter is told that, the log has the rest
        return _fail(DaemonFailed(f"the daemon failed: {type(error).__name__}"))
    return 0


def _run(command: str, start: Start, faults: Faults) -> None:
    # The parts are imported only now, so that what is missing is reported like any other failure.
    from ramet.daemon import lifecycle, upkeep  # noqa: PLC0415

    clock = SystemClock()
    match command:
        case "serve":
            os.environ.pop(MARKER, None)  # an agent may have started us, and must not take us with it
            environment = read_environment(os.environ, start.settings)
            lifecycle.serve(start.settings, environment, start.places, clock, faults, dict(os.environ))
        case "migrate":
            _print(upkeep.migrate(start.settings, start.places, clock, faults))
        case "reset":
            _print(upkeep.reset(start.settings, start.places, clock))
        case _:
            raise InvalidSetting("usage: python -m ramet.daemon serve|migrate|reset", value=command)


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


def _print(result: Struct) -> None:
    sys.stdout.buffer.write(msgspec.json.encode(result) + b"\n")
    sys.stdout.flush()


def _fail(error: RametError) -> int:
    sys.stderr.buffer.write(msgspec.json.encode(error.to_wire()) + b"\n")
    sys.stderr.flush()
    return error.exit_status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
