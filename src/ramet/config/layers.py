"""The layers, strongest first: flags, the environment, the project's `ramet.yaml`, the user's file, the defaults.

A project's file sets project keys and narrows limits. An owner key in it does not count, unless the user trusts exactly
this file: what it says is then as good as the user's own. Every value keeps its source, and an unknown key is an error.
"""

from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from math import inf
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
from msgspec import Struct

from ramet.config.files import expand, find_user_file, read_content, read_file
from ramet.config.keys import KEYS, SECTIONS, VARIABLES, Key, Value, close_names, find_defaults
from ramet.config.project_files import PassedOver, find_project_file
from ramet.config.secrets import hide_password
from ramet.config.settings import ADDS, NARROWS, OWNER, PROJECT, Settings
from ramet.config.trust import is_trusted as is_trusted_file
from ramet.errors import ConfigError, InvalidSetting, UnknownKey

DEFAULT = "default"
_SEEN_BY_AGENTS = "work.environment"
_MOST_ADDED = 100
_LONGEST_ADDED = 1000

OTHER_VARIABLES = (
    *("RAMET_HOME", "RAMET_FAULT", "RAMET_AGENT", "RAMET_SESSION", "RAMET_EFFORT", "RAMET_KEEPER"),
    *("RAMET_SOCKET", "RAMET_TOKEN", "RAMET_TOOL_SECONDS", "RAMET_PORT_BASE"),
)
"""Variables that are not keys: paths, faults for crash tests, and what agents need to know about themselves."""


class IgnoredKey(Struct, frozen=True, kw_only=True):
    """A key in a project's file that does not count, and why."""

    key: str
    reason: str


class Configuration(Struct, frozen=True, kw_only=True):
    """The settings of one place, and the source of each."""

    settings: Settings
    owner: Settings
    """The settings without the project's file, but for the database that a trusted file names: what a daemon gets."""
    sources: dict[str, str]
    project_file: Path | None = None
    is_trusted: bool = False
    ignored: tuple[IgnoredKey, ...] = ()
    passed_over: tuple[PassedOver, ...] = ()
    """Projects' files that were not read."""
    problem: ConfigError | None = None
    """Why the project's file does not count at all; only if the caller can do without it."""

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


class _Pile:
    """The layers that were put so far; a later one wins."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        self._environ = environ
        self.values: dict[str, Value] = {}
        self.sources: dict[str, str] = dict.fromkeys(KEYS, DEFAULT)

    def copy(self) -> "_Pile":
        other = _Pile(self._environ)
        other.values, other.sources = dict(self.values), dict(self.sources)
        return other

    def put(self, layer: _Layer, names: Iterable[str] | None = None) -> None:
        """Put all values of a layer, or those of some keys."""
        for name in layer.values if names is None else names:
            key, source, value = self._read(layer, name)
            self.values[key.name], self.sources[key.name] = value, source

    def put_project(self, layer: _Layer) -> tuple[IgnoredKey, ...]:
        """Put the values that an untrusted project's file may set; returns the others."""
        ignored = []
        for name in layer.values:
            key, source, value = self._read(layer, name)
            if reason := self._refuse(key, value):
                ignored.append(IgnoredKey(key=name, reason=reason))
            else:
                self.values[name], self.sources[name] = self._with_own(key, value), source
        return tuple(ignored)

    def keep_own(self, own: "_Pile", names: Iterable[str]) -> None:
        """Let a trusted file add to the owner's lists as well: trust is about more rights, not about fewer rules."""
        for name in names:
            if KEYS[name].key_class is ADDS:
                self.values[name] = own._with_own(KEYS[name], self.values[name])

    def _with_own(self, key: Key, value: Value) -> Value:
        """A project's value; what it adds to is behind the owner's."""
        own = self.values.get(key.name, key.default)
        if key.key_class is not ADDS or not isinstance(own, list) or not isinstance(value, list):
            return value
        return [*own, *(each for each in value if each not in own)]

    def assemble(self) -> Settings:
        _check_database(self.values, self.sources)
        return _assemble(self.values)

    def _read(self, layer: _Layer, name: str) -> tuple[Key, str, Value]:
        key = _find_key(name, layer.source)
        source = f"{layer.source} {key.variable}" if layer.source == "environment" else layer.source
        value = _convert(key, layer.values[name], source, is_text=layer.is_text)
        if name == "database.path":
            value = str(expand(str(value), self._environ, layer.start))
        return key, source, value

    def _refuse(self, key: Key, value: Value) -> str | None:
        """Why an untrusted project may not set this; None if it may."""
        if key.key_class is OWNER:
            return "only you can set it"
        if key.key_class is NARROWS:
            limit = self.values.get(key.name, key.default)
            if _width(key, value) > _width(key, limit):
                return f"a project can only lower it, and {value} is more than {limit}"
        if key.key_class is ADDS:
            return _refuse_added(value)
        return None


def _refuse_added(value: Value) -> str | None:
    """Why these cannot be added to the owner's; None if they can."""
    if not isinstance(value, list) or not value:
        return "a project can only add to it"
    if len(value) > _MOST_ADDED or any(len(each) > _LONGEST_ADDED for each in value):
        return f"a project can add at most {_MOST_ADDED} of at most {_LONGEST_ADDED} characters"
    return None


def _width(key: Key, value: Value) -> float:
    """How much a limit allows."""
    if not isinstance(value, int | float):
        raise TypeError(f"{key.name} is no limit")
    return inf if value == 0 and key.is_unlimited_at_zero else value


def load(
    environ: Mapping[str, str],
    cwd: Path,
    flags: Mapping[str, str],
    *,
    agent_variables: Sequence[str] = (),
    is_lenient: bool = False,
) -> Configuration:
    """The configuration of a command in `cwd`. `agent_variables` belong to the default of `work.environment`; only
    commands that start agents need them. With `is_lenient` a faulty file of the project is the result's `problem`.
    """
    own = _put_own(environ, agent_variables)
    found = find_project_file(cwd, environ)
    project = _Project(own.copy(), own.copy())
    try:
        if found.path is not None:
            project = _put_project(own, found.path, found.content, environ)
    except ConfigError as error:
        if not is_lenient:
            raise
        project = _Project(own.copy(), own.copy(), problem=error)
    for pile in (project.here, project.owner):
        pile.put(_Layer(_read_environment(environ), "environment", cwd, is_text=True))
        pile.put(_Layer(flags, "flag", cwd, is_text=True))
    return Configuration(
        settings=project.here.assemble(),
        owner=project.owner.assemble(),
        sources=project.here.sources,
        project_file=found.path,
        is_trusted=project.is_trusted,
        ignored=project.ignored,
        passed_over=found.passed_over,
        problem=project.problem,
    )


class _Project(NamedTuple):
    """What a project's file adds to the user's own settings."""

    here: _Pile
    """For commands in the project."""
    owner: _Pile
    """For the daemon, which serves every project."""
    ignored: tuple[IgnoredKey, ...] = ()
    is_trusted: bool = False
    problem: ConfigError | None = None


def _put_project(own: _Pile, path: Path, content: bytes, environ: Mapping[str, str]) -> _Project:
    layer = _Layer(read_content(content, path), str(path), path.parent, is_text=False)
    here, owner = own.copy(), own.copy()
    if not is_trusted_file(environ, path, content):
        return _Project(here, owner, ignored=here.put_project(layer))
    here.put(layer)
    here.keep_own(own, layer.values)
    owner.put(layer, [name for name in layer.values if name.startswith("database.")])
    return _Project(here, owner, is_trusted=True)


def load_own(environ: Mapping[str, str]) -> Configuration:
    """The configuration from the user's file alone, for settings that are the same in all projects and shells."""
    own = _put_own(environ)
    settings = own.assemble()
    return Configuration(settings=settings, owner=settings, sources=own.sources)


def check_own(environ: Mapping[str, str], content: bytes, path: Path) -> None:
    """Raise unless this content of the user's file is a valid configuration by itself."""
    pile = _Pile(environ)
    pile.put(_Layer(read_content(content, path), str(path), path.parent, is_text=False))
    pile.assemble()


def list_owner_keys(path: Path, content: bytes) -> dict[str, Any]:
    """The keys in a project's file that count only if the user trusts it."""
    values = read_content(content, path)
    return {name: value for name, value in values.items() if _find_key(name, str(path)).key_class is not PROJECT}


def _put_own(environ: Mapping[str, str], agent_variables: Sequence[str] = ()) -> _Pile:
    """The defaults and the user's file."""
    pile = _Pile(environ)
    if agent_variables:
        pile.values[_SEEN_BY_AGENTS] = find_defaults(agent_variables)[_SEEN_BY_AGENTS]
    if path := find_user_file(environ):
        pile.put(_Layer(read_file(path), str(path), path.parent, is_text=False))
    return pile


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


def convert_text(key: Key, text: str, source: str) -> Value:
    """The value that a person typed for a key. Lists and mappings are JSON."""
    return _convert(key, text, source, is_text=True)


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
