"""The layers, strongest first: flags, the environment, the project's `ramet.yaml`, the user's file, the defaults.

Every value keeps its source, and an unknown key is an error.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
from msgspec import Struct

from ramet.config.files import expand, find_project_file, find_user_file, read_file
from ramet.config.keys import KEYS, SECTIONS, VARIABLES, Key, Value, close_names, find_defaults
from ramet.config.secrets import hide_password
from ramet.config.settings import Settings
from ramet.errors import InvalidSetting, UnknownKey

DEFAULT = "default"
_SEEN_BY_AGENTS = "work.environment"

OTHER_VARIABLES = (
    *("RAMET_HOME", "RAMET_FAULT", "RAMET_AGENT", "RAMET_SESSION", "RAMET_EFFORT", "RAMET_KEEPER"),
    *("RAMET_SOCKET", "RAMET_TOKEN", "RAMET_TOOL_SECONDS"),
)
"""Variables that are not keys: paths, faults for crash tests, and what agents need to know about themselves."""


class Configuration(Struct, frozen=True, kw_only=True):
    """The settings, and the source of each."""

    settings: Settings
    sources: dict[str, str]
    project_file: Path | None

    def value(self, key: Key) -> Value:
        """The key's value, without passwords."""
        value: Value = getattr(getattr(self.settings, key.section), key.field)
        return hide_password(value) if key.name == "database.url" and isinstance(value, str) else value


class _Layer(NamedTuple):
    """The values of some keys, and their source."""

    values: Mapping[str, Any]
    source: str
    start: Path
    """The directory that relative paths start from."""
    is_text: bool
    """Whether the values are strings, to be converted to numbers and booleans."""


def load(
    environ: Mapping[str, str], cwd: Path, flags: Mapping[str, str], *, agent_variables: Sequence[str] = ()
) -> Configuration:
    """The configuration of a command in `cwd`. `agent_variables` belong to the default of `work.environment`; only
    commands that start agents need them.
    """
    project_file = find_project_file(cwd)
    return _pile(_layers(environ, cwd, flags, project_file), environ, project_file, agent_variables)


def load_own(environ: Mapping[str, str]) -> Configuration:
    """The configuration from the user's file alone, for settings that are the same in all projects and shells."""
    return _pile(_file_layers([find_user_file(environ)]), environ, project_file=None)


def _pile(
    layers: Iterable[_Layer],
    environ: Mapping[str, str],
    project_file: Path | None,
    agent_variables: Sequence[str] = (),
) -> Configuration:
    """Merge the layers; later ones win."""
    values: dict[str, Value] = {}
    if agent_variables:
        values[_SEEN_BY_AGENTS] = find_defaults(agent_variables)[_SEEN_BY_AGENTS]
    sources: dict[str, str] = dict.fromkeys(KEYS, DEFAULT)
    for layer in layers:
        for name, given in layer.values.items():
            key = _find_key(name, layer.source)
            source = f"{layer.source} {key.variable}" if layer.source == "environment" else layer.source
            values[name] = _convert(key, given, source, is_text=layer.is_text)
            sources[name] = source
            if name == "database.path":
                values[name] = str(expand(str(values[name]), environ, layer.start))
    _check_database(values, sources)
    return Configuration(settings=_assemble(values), sources=sources, project_file=project_file)


def _layers(
    environ: Mapping[str, str], cwd: Path, flags: Mapping[str, str], project_file: Path | None
) -> Iterator[_Layer]:
    """From the weakest to the strongest."""
    yield from _file_layers([find_user_file(environ), project_file])
    yield _Layer(_read_environment(environ), "environment", cwd, is_text=True)
    yield _Layer(flags, "flag", cwd, is_text=True)


def _file_layers(paths: Iterable[Path | None]) -> Iterator[_Layer]:
    for path in filter(None, paths):
        yield _Layer(read_file(path), str(path), path.parent, is_text=False)


def _read_environment(environ: Mapping[str, str]) -> dict[str, str]:
    """The keys that the environment sets. Empty variables are ignored."""
    found = {}
    for variable in sorted(environ):
        if variable in VARIABLES and environ[variable]:
            found[VARIABLES[variable].name] = environ[variable]
        elif variable not in VARIABLES and (meant := _mistaken_for(variable)):
            raise UnknownKey(
                f"the environment variable {variable} sets no key",
                field=variable,
                fix=f"run `unset {variable}`, or use one of: {', '.join(meant)}",
            )
    return found


def _mistaken_for(variable: str) -> list[str]:
    """The variables that are similar to this one; none if it does not look like a key."""
    if variable in OTHER_VARIABLES or not variable.startswith("RAMET_") or variable.startswith("RAMET_TEST_"):
        return []
    section = variable.split("_")[1].lower()
    close = get_close_matches(variable, VARIABLES, n=3, cutoff=0.8)
    if section not in SECTIONS:
        return close
    return close or [key.variable for key in KEYS.values() if key.section == section]


def _find_key(name: str, source: str) -> Key:
    if name in KEYS:
        return KEYS[name]
    if name in SECTIONS:
        raise InvalidSetting(
            f"{name} is a section, not a key, but {source} sets it to a value",
            field=name,
            fix=f"set one of: {', '.join(key.name for key in KEYS.values() if key.section == name)}",
        )
    close = close_names(name)
    fix = f"did you mean {' or '.join(close)}?" if close else UnknownKey.hint
    raise UnknownKey(f"there is no configuration key {name!r} (in {source})", field=name, fix=fix)


def _convert(key: Key, given: Any, source: str, *, is_text: bool) -> Value:
    try:
        if is_text and key.is_structured:
            given = msgspec.json.decode(given)
        value: Value = msgspec.convert(given, key.kind, strict=not is_text)
    except msgspec.DecodeError as error:
        if key.name == "drivers.profiles" and isinstance(given, dict):
            from ramet.config.profile_errors import find_error  # noqa: PLC0415  most configurations are right

            if wrong := find_error(given, source):
                raise wrong from error
        shown = _show(key, given)
        raise InvalidSetting(
            f"{key.name} is {shown} (from {source}), but must be {key.allowed}",
            field=key.name,
            value=shown,
            fix=f"set {key.name} to {key.allowed}{', as JSON' if is_text and key.is_structured else ''}",
        ) from error
    return value


def _show(key: Key, given: Any) -> str:
    """A wrong value for an error message, without passwords and without the content of structures."""
    if not isinstance(given, str | int | float):
        return "a mapping" if isinstance(given, dict) else f"a {type(given).__name__}"
    return hide_password(str(given)) if key.name == "database.url" else repr(given)[:200]


def _check_database(values: Mapping[str, Value], sources: Mapping[str, str]) -> None:
    """Raise unless the database's keys make sense together."""
    kind, url = values.get("database.type"), values.get("database.url")
    if kind == "postgres" and not url:
        raise InvalidSetting(
            f"database.type is postgres (from {sources['database.type']}), but database.url is not set",
            field="database.url",
            fix="set database.url to postgres://user@host/name",
        )
    if url is not None and kind is None:
        raise InvalidSetting(
            f"database.url is set (from {sources['database.url']}), but database.type is still sqlite",
            field="database.type",
            fix="set database.type to postgres as well",
        )
    if kind == "postgres" and not str(url).startswith(("postgres://", "postgresql://")):
        shown = hide_password(str(url))
        raise InvalidSetting(
            f"database.url is {shown} (from {sources['database.url']}), which is not a PostgreSQL URL",
            field="database.url",
            value=shown,
            fix="write it as postgres://user@host/name",
        )


def _assemble(values: Mapping[str, Value]) -> Settings:
    sections = {
        section: {KEYS[name].field: value for name, value in values.items() if KEYS[name].section == section}
        for section in SECTIONS
    }
    return msgspec.convert(sections, Settings)
