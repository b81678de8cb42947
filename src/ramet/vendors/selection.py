"""Which driver runs an effort, and which are installed."""

import os
import re
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from importlib.util import find_spec
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from ramet.config.settings import DriverSettings, ProfileSettings
from ramet.errors import DriverMissing, InvalidSetting, UnknownDriver
from ramet.model.spawn.confinement import UNBOUNDED, Confinement
from ramet.model.work.driver import Abilities, DriverRow
from ramet.protocol.work.keepers import Launch
from ramet.vendors import registry
from ramet.vendors.contract.driver_protocol import Driver, Start

_VERSION_SECONDS = 10
_MOST_FOLDERS = 20
_VERSION = re.compile(r"\d+(?:\.\d+)+\S*")


class Found(Struct, frozen=True, kw_only=True):
    """What runs an effort."""

    name: str
    """The profile's, which is the driver's if nothing is configured."""
    driver: Driver
    profile: ProfileSettings
    program: list[str]


def resolve(wanted: str | None, settings: DriverSettings, environ: Mapping[str, str]) -> Found:
    """The driver or profile that is wanted, else the configured one, else the first that is installed."""
    name = wanted or settings.default
    if name is not None:
        return _locate(name, settings, environ)
    for preferred in registry.PREFERRED:
        try:
            return _locate(preferred, settings, environ)
        except DriverMissing:
            continue
    fix = "; or ".join(registry.find_driver(preferred).fix for preferred in registry.PREFERRED)
    names = ", ".join(registry.PREFERRED)
    looked = _list_folders(environ.get("PATH", ""))
    raise DriverMissing(
        f"none of {names} is installed: none is in {looked}", fix=f"{fix}; or set drivers.default to another driver"
    )


def installed(settings: DriverSettings, environ: Mapping[str, str], *, versions: bool = True) -> list[DriverRow]:
    """Every driver and every profile, with the path of its program."""
    try:
        default = resolve(None, settings, environ).name
    except (DriverMissing, InvalidSetting, UnknownDriver):
        default = None
    every = dict.fromkeys([*registry.names("driver"), *settings.profiles])
    rows = [_row(name, settings, environ, versions=versions) for name in every]
    return [replace(row, is_default=row.name == default) for row in rows]


def locate_programs(settings: DriverSettings, environ: Mapping[str, str]) -> dict[str, str | None]:
    """The path of each driver's and each profile's program; None if there is none."""
    every = dict.fromkeys([*registry.names("driver"), *settings.profiles])
    return {name: _row(name, settings, environ, versions=False).program for name in every}


def confinements(settings: DriverSettings) -> dict[str, Confinement]:
    """How much each driver and each profile lets its agents do. A driver that does not exist bounds nothing."""
    names = dict.fromkeys([*registry.names("driver"), *settings.profiles])
    return {name: _confinement(name, settings.profiles.get(name, ProfileSettings())) for name in names}


def _confinement(name: str, profile: ProfileSettings) -> Confinement:
    facts = registry.facts().get(profile.driver or name)
    freedoms = (facts.freedoms if facts else None) or {}
    mode = profile.permission_mode or (facts.permission_mode if facts else None)
    return Confinement(
        runs_commands=not freedoms,
        wrapper=tuple(profile.wrapper),
        sandbox=profile.sandbox,
        freedom=freedoms.get(mode or "", UNBOUNDED),
    )


def launch(driver: Driver, start: Start, sandbox: Sequence[str] = ()) -> Launch:
    """The process that makes an attempt, inside the profile's wrapper and, within that, its sandbox.

    Work may be asked for by an agent. The variables that describe that agent's session are left out, whichever program
    it is and whichever one is started.
    """
    foreign = registry.own_variables()
    environment = {name: value for name, value in start.environment.items() if name not in foreign}
    return wrap(driver.launch(replace(start, environment=environment)), start.profile, sandbox)


def wrap(launch: Launch, profile: ProfileSettings, sandbox: Sequence[str] = ()) -> Launch:
    """The launch inside the profile's wrapper, which learns the folder by `{directory}`, and its sandbox."""
    wrapper = [part.replace("{directory}", launch.directory) for part in profile.wrapper]
    return replace(launch, arguments=[*wrapper, *sandbox, *launch.arguments], is_confined=bool(sandbox))


def _locate(name: str, settings: DriverSettings, environ: Mapping[str, str]) -> Found:
    profile = settings.profiles.get(name, ProfileSettings())
    if name not in settings.profiles and name not in registry.names("driver"):
        raise registry.unknown_driver(name, settings.profiles)
    driver = registry.find_driver(profile.driver or name)
    _require_mode(name, profile)
    program = _program(name, driver, profile, environ)
    return Found(name=name, driver=driver, profile=profile, program=program)


def _require_mode(name: str, profile: ProfileSettings) -> None:
    """Refuse a permission mode that the program does not have, before it is started with it."""
    facts = registry.facts().get(profile.driver or name)
    modes, mode = facts.freedoms if facts else None, profile.permission_mode
    if mode is None or not modes or mode in modes:
        return
    key = f"drivers.profiles.{name}.permission_mode"
    close = get_close_matches(mode, modes, n=1)
    every = f"use one of: {', '.join(modes)}"
    raise InvalidSetting(
        f"{key} is {mode!r}, which is no permission mode of {profile.driver or name}",
        field=key,
        value=mode,
        fix=f"did you mean {close[0]}? {every}" if close else every,
    )


def _program(name: str, driver: Driver, profile: ProfileSettings, environ: Mapping[str, str]) -> list[str]:
    """What a wrapper runs may be inside a container, so a program that is named beside one is not looked for here."""
    path = environ.get("PATH", "")
    if profile.wrapper and _which(profile.wrapper[0], path) is None:
        raise _not_there(name, "wrapper", profile.wrapper[0], path)
    if profile.program:
        is_elsewhere = profile.wrapper and profile.sandbox == "off"
        place = profile.program[0] if is_elsewhere else _which(profile.program[0], path)
        if place is None:
            raise _not_there(name, "program", profile.program[0], path)
        return [place, *profile.program[1:]]
    place = next(filter(None, (_which(called, path) for called in driver.programs)), None) or _bundled(driver)
    if place is None:
        called = " or ".join(driver.programs) or "its program"
        problem = f"the program of {driver.name} is not installed: {called} is not in {_list_folders(path)}"
        raise DriverMissing(problem, value=driver.name, fix=driver.fix)
    return [place]


def _which(program: str, path: str) -> str | None:
    """The path of a program. It will run in another folder, so a relative path is none."""
    place = shutil.which(program, path=path)
    return place if place is not None and Path(place).is_absolute() else None


def _not_there(name: str, field: str, program: str, path: str) -> DriverMissing:
    fix = f"install it, or set drivers.profiles.{name}.{field} to a name in PATH or to an absolute path"
    looked = "" if "/" in program else f" in {_list_folders(path)}"
    return DriverMissing(f"there is no program {program!r} for {name}{looked}", field=field, value=program, fix=fix)


def _list_folders(path: str) -> str:
    """The folders of a PATH, for an error message."""
    folders = [folder for folder in path.split(os.pathsep) if folder]
    shown = ", ".join(folders[:_MOST_FOLDERS]) or "no folder"
    return f"PATH ({shown}{', …' if len(folders) > _MOST_FOLDERS else ''})"


def _bundled(driver: Driver) -> str | None:
    """The program inside a Python package, if that is installed beside Ramet."""
    if driver.bundled is None:
        return None
    package, place = driver.bundled
    spec = find_spec(package)
    folders = (spec.submodule_search_locations or []) if spec else []
    return next((found for folder in folders if (found := shutil.which(str(Path(folder) / place)))), None)


def _row(name: str, settings: DriverSettings, environ: Mapping[str, str], *, versions: bool) -> DriverRow:
    profile = settings.profiles.get(name, ProfileSettings())
    row = DriverRow(
        name=name,
        driver=profile.driver or name,
        program=None,
        version=None,
        is_default=False,
        abilities=Abilities(),
        fix=None,
    )
    try:
        driver = registry.find_driver(row.driver)
        row = replace(row, abilities=driver.abilities)
        _require_mode(name, profile)
        program = _program(name, driver, profile, environ)
    except UnknownDriver as error:
        return replace(row, fix=error.message)
    except InvalidSetting as error:
        return replace(row, fix=f"{error.message}; {error.fix}")
    except DriverMissing as error:
        return replace(row, fix=error.fix)
    asks = versions and driver.tells_version and not profile.wrapper
    return replace(row, program=program[0], version=_version(program, environ) if asks else None)


def _version(program: list[str], environ: Mapping[str, str]) -> str | None:
    """The program's output; None if it has none, for any reason."""
    try:
        told = subprocess.run(
            [*program, "--version"],
            env=dict(environ),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_VERSION_SECONDS,
            check=False,
        )
    except (OSError, ValueError, subprocess.SubprocessError):
        return None
    found = _VERSION.search(told.stdout.decode("utf-8", "replace"))
    return found[0][:100] if found else None
