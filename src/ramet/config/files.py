"""The configuration files: where they are, and their content as dotted keys.

PyYAML is imported only if there is a file to read, because most commands run without one.
"""

import os
import stat
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from ramet.errors import InvalidSetting

MAX_BYTES = 1024 * 1024
"""A larger file is no configuration."""
MAX_VALUES = 10_000
"""Values of a file, each counted as often as an alias repeats it: nine lines of ten aliases each are a billion."""
MAX_DEPTH = 20
"""Levels of a file. The deepest key has four."""


def find_user_file(environ: Mapping[str, str]) -> Path | None:
    """The user's file, if it exists."""
    path = user_file(environ)
    return path if _is_file(path) else None


def user_file(environ: Mapping[str, str]) -> Path:
    """The path of the user's file, which need not exist."""
    return xdg_directory(environ, "XDG_CONFIG_HOME", ".config") / "ramet" / "config.yaml"


def xdg_directory(environ: Mapping[str, str], variable: str, otherwise: str) -> Path:
    """One of the user's base directories. A relative path in the variable is ignored, as XDG requires."""
    named = environ.get(variable, "")
    return Path(named) if named.startswith("/") else user_home(environ) / otherwise


def user_home(environ: Mapping[str, str]) -> Path:
    """The user's home directory."""
    return Path(environ["HOME"]) if environ.get("HOME") else Path.home()


def expand(path: str, environ: Mapping[str, str], start: Path) -> Path:
    """Make a path absolute: `~` is the user's home, and a relative path starts from `start`."""
    if path == "~" or path.startswith("~/"):
        return user_home(environ) / path[2:]
    return start / path


def read_file(path: Path) -> dict[str, Any]:
    """The values of a file by dotted key. Keys without a value are ignored."""
    return read_content(read_bytes(path), path)


def read_content(content: bytes, path: Path) -> dict[str, Any]:
    """The values in the content of a file."""
    document = _parse(_decode(content, path), path)
    if document is None:
        return {}
    if not isinstance(document, dict):
        raise InvalidSetting(
            f"{path} is not a mapping",
            value=str(path),
            fix="write sections with keys below them: `database:`, and indented below it `path: …`",
        )
    return dict(_flatten(document, ""))


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except OSError:
        return False


def read_bytes(path: Path) -> bytes:
    """The file's content; one byte more than allowed if it is too large."""
    try:
        # A pipe in the file's place would wait for somebody who writes to it.
        with os.fdopen(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                raise InvalidSetting(
                    f"{path} is not a regular file", value=str(path), fix="put a file there, or remove what is there"
                )
            return file.read(MAX_BYTES + 1)
    except OSError as error:
        raise InvalidSetting(
            f"{path} cannot be read: {error.strerror}", value=str(path), fix="make the file readable, or remove it"
        ) from error


def _decode(content: bytes, path: Path) -> str:
    if len(content) > MAX_BYTES:
        raise InvalidSetting(
            f"{path} is larger than {MAX_BYTES} bytes", value=str(path), fix="a configuration has a few lines"
        )
    try:
        return content.decode()
    except UnicodeDecodeError as error:
        raise InvalidSetting(f"{path} is not UTF-8 text", value=str(path), fix="save it as UTF-8") from error


def _parse(text: str, path: Path) -> Any:
    import yaml  # noqa: PLC0415

    try:
        return yaml.load(text, _loader())  # noqa: S506 - a SafeLoader
    except _TooMuchError as error:
        raise InvalidSetting(f"{path} {error}", value=str(path), fix="a configuration has a few lines") from error
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = f"{path}, line {mark.line + 1}" if mark else str(path)
        problem = getattr(error, "problem", None) or "not YAML"
        raise InvalidSetting(f"{where}: {problem}", value=str(path), fix="fix the YAML there") from error
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
        # PyYAML lets these escape for values that only look like a date or a number, and for deep nesting.
        raise InvalidSetting(
            f"{path}: a value cannot be read", value=str(path), fix="fix the YAML in that file"
        ) from error


class _TooMuchError(Exception):
    """A file has more than a configuration has. The message says of what."""


@cache
def _loader() -> Any:
    """A loader that stops as soon as there is too much."""
    import yaml  # noqa: PLC0415

    class Loader(yaml.SafeLoader):
        """Counts the values and the levels while it reads."""

        def __init__(self, stream: str) -> None:
            super().__init__(stream)
            self._depth = 0
            self._values = 0
            self._sizes: dict[yaml.Node, int] = {}
            """How many values the nodes have that aliases can repeat."""

        def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
            is_alias = self.check_event(yaml.AliasEvent)
            before = self._values
            self._values += 1
            self._depth += 1
            if self._depth > MAX_DEPTH:
                raise _TooMuchError(f"is nested more than {MAX_DEPTH} levels deep")
            node = super().compose_node(parent, index)
            self._depth -= 1
            if node is not None:
                if is_alias:
                    self._values += self._sizes.get(node, MAX_VALUES)  # an alias of what it is in has no end
                else:
                    self._sizes[node] = self._values - before
            if self._values > MAX_VALUES:
                raise _TooMuchError(f"has more than {MAX_VALUES} values")
            return node

    return Loader


def _flatten(mapping: Mapping[Any, Any], prefix: str) -> Iterator[tuple[str, Any]]:
    """Join sections and names with dots, only as deep as keys are, so that a nested value stays one value."""
    for name, value in mapping.items():
        key = f"{prefix}{name}"
        if key == "checks" and isinstance(value, dict):
            yield "checks.commands", value
        elif isinstance(value, dict) and "." not in key:
            yield from _flatten(value, f"{key}.")
        elif value is not None:
            yield key, _SPELLINGS[key](value) if key in _SPELLINGS else value


def _spell_off(profiles: Any) -> Any:
    """YAML reads the word `off` as false; as a profile's sandbox it is a word."""
    if not isinstance(profiles, dict):
        return profiles
    return {
        name: {**profile, "sandbox": "off"}
        if isinstance(profile, dict) and profile.get("sandbox") is False
        else profile
        for name, profile in profiles.items()
    }


def _spell_rules(rules: Any) -> Any:
    """YAML reads `run: npm test` in a list as a mapping of one key; as a rule it is a text."""
    if not isinstance(rules, list):
        return rules
    return [
        f"{next(iter(rule))}: {next(iter(rule.values()))}" if isinstance(rule, dict) and len(rule) == 1 else rule
        for rule in rules
    ]


def _spell_projects(projects: Any) -> Any:
    if not isinstance(projects, dict):
        return projects
    return {
        path: {name: _spell_rules(rules) for name, rules in lists.items()} if isinstance(lists, dict) else lists
        for path, lists in projects.items()
    }


_SPELLINGS = {
    "drivers.profiles": _spell_off,
    "permissions.allow": _spell_rules,
    "permissions.ask": _spell_rules,
    "permissions.deny": _spell_rules,
    "permissions.projects": _spell_projects,
}
"""What people write in a file, as the settings have it."""
