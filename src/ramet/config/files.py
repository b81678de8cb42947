"""The configuration files: where they are, and their content as dotted keys.

PyYAML is imported only if there is a file to read, because most commands run without one.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from ramet.errors import InvalidSetting

MAX_BYTES = 1024 * 1024
"""A larger file is no configuration."""


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
        with path.open("rb") as file:
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
        return yaml.safe_load(text)
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
