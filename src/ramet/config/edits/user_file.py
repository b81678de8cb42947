"""Change the user's own configuration file: check the result first, then replace the file in one step.

`set_keys` and `unset_keys` are `ramet config set` and `unset`; `append` adds a value to a list, such as a rule. The
caller makes sure that no agent does this.
"""

import fcntl
import os
import secrets
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ramet.config.edits.values import read_path, read_value
from ramet.config.edits.yaml_text import append_value, remove_value, set_value
from ramet.config.files import read_bytes, read_content, user_file
from ramet.config.layers import check_own
from ramet.config.places import make_private
from ramet.errors import ConfigError, InvalidSetting


def set_keys(environ: Mapping[str, str], values: Mapping[str, str]) -> Path:
    """Set keys to values as a flag gives them: texts, and JSON for lists and mappings. Returns the file's path."""
    read = {name: read_value(name, text) for name, text in values.items()}

    def edit(text: str) -> str:
        for name, value in read.items():
            text = set_value(text, read_path(name), value)
        return text

    return edit_user_file(environ, edit)


def unset_keys(environ: Mapping[str, str], names: list[str]) -> tuple[Path, list[str]]:
    """Remove keys; returns the file's path and the names of those that it had. A name in it need not be a key."""
    path = user_file(environ)
    removed: list[str] = []

    def edit(text: str) -> str:
        for name in names:
            shorter = remove_value(text, name.split("."))
            if shorter == text:
                read_path(name)  # a name that is neither in the file nor a key is refused
            else:
                removed.append(name)
            text = shorter
        return text

    if not path.exists():
        edit("")
        return path, []
    return edit_user_file(environ, edit, may_stay_wrong=True), removed


def append(environ: Mapping[str, str], path: Sequence[str], value: Any) -> Path:
    """Append a value to the list at a path of names, such as `permissions`, `allow`; returns the file's path. Adding a
    value that the list already has changes nothing.
    """
    return edit_user_file(environ, lambda text: append_value(text, path, value))


def edit_user_file(environ: Mapping[str, str], edit: Callable[[str], str], *, may_stay_wrong: bool = False) -> Path:
    """Replace the file's text, if the result is a valid configuration. With `may_stay_wrong`, a file that was not valid
    before need not be valid after it.
    """
    named = user_file(environ)
    try:
        make_private(named.parent)
        path = named.resolve()  # a link stays a link: what it points to is edited
        with _locked(path.parent):
            old = read_bytes(path) if path.exists() else b""
            before = _decode(old, path)
            try:
                after = edit(before)
            except ConfigError as error:
                raise _in_file(error, named) from error
            if after != before:
                _check(environ, after, path, old=before if may_stay_wrong else None)
                _write(path, after.encode())
    except OSError as error:
        raise InvalidSetting(
            f"{named} cannot be written: {error.strerror}",
            value=str(named),
            fix="make the file and its folder writable",
        ) from error
    return named


def _decode(content: bytes, path: Path) -> str:
    if content:
        read_content(content, path)  # its error says which line is wrong
    return content.decode()


def _in_file(error: ConfigError, path: Path) -> ConfigError:
    return type(error)(f"{error.message} ({path})", field=error.field, value=error.value, fix=error.fix)


def _check(environ: Mapping[str, str], text: str, path: Path, *, old: str | None) -> None:
    try:
        check_own(environ, text.encode(), path)
    except ConfigError:
        if old is None or _is_valid(environ, old, path):
            raise


def _is_valid(environ: Mapping[str, str], text: str, path: Path) -> bool:
    try:
        check_own(environ, text.encode(), path)
    except ConfigError:
        return False
    return True


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """One change at a time: two commands at once lose nothing."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def _write(path: Path, content: bytes) -> None:
    """Replace the file at once. It keeps its mode; a new one is the user's alone, because it may hold a password."""
    mode = path.stat().st_mode & 0o7777 if path.exists() else 0o600
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(6)}")
    try:
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
            os.fchmod(descriptor, mode)
            file.flush()
            os.fsync(descriptor)
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)
