"""A source: a database or file of an earlier system. It is read twice, to check and to import it, and never written."""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Iterator, Mapping
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from ramet.errors import ImportSourceInvalid
from ramet.model.instant import from_datetime
from ramet.model.memory.predecessor import SourceRow, System

Key = TypeVar("Key", bound=Hashable)

_LEAST_MS = 100_000_000_000
"""A smaller number counts seconds: as milliseconds it would be before 1973."""
_MOST_MS = 253_402_300_799_999
"""The end of the year 9999, behind which no text stands for an instant."""


class Source(ABC):
    """One database or file, with everything that Ramet reads from it."""

    system: System

    def __init__(self, path: Path, identity: str, version: str) -> None:
        self.path = path
        self.identity = identity
        """Names the source wherever it is: what is imported once stays known when its file is moved or copied."""
        self.version = version

    @abstractmethod
    def rows(self) -> Iterator[SourceRow]:
        """Every row, those that others name before them. `ImportSourceInvalid` says what is wrong with the source."""


def invalid(path: Path, problem: str, *, field: str, value: object = None, fix: str | None = None) -> Exception:
    """Why a source cannot be imported."""
    return ImportSourceInvalid(f"{path}: {problem}", field=field, value=value, fix=fix)


def instant(value: object) -> int | None:
    """A stored time in milliseconds since 1970; None if it is none. A time without a zone is in UTC."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int | float) and math.isfinite(value):
        found = int(value if value >= _LEAST_MS else value * 1000)
    elif isinstance(value, str):
        try:
            moment = datetime.fromisoformat(value)
            found = from_datetime(moment if moment.tzinfo else moment.replace(tzinfo=UTC))
        except (ValueError, OverflowError):
            return None
    else:
        return None
    return found if 0 <= found <= _MOST_MS else None


def plain(value: Any) -> Any:
    """A value of a column as JSON has it: bytes and numbers without an end are named as such."""
    if isinstance(value, bytes):
        return {"hex": value.hex()}
    if isinstance(value, float) and not math.isfinite(value):
        return {"float": str(value)}
    return value


def text(value: object) -> str | None:
    """A text that is not empty; else None."""
    return value if isinstance(value, str) and value else None


def decoded(value: object, kind: Callable[[Any], bool]) -> Any:
    """What a column keeps as JSON, if it is of a kind; else None."""
    try:
        found = msgspec.json.decode(value) if isinstance(value, str) else None
    except (msgspec.DecodeError, RecursionError):
        return None
    return found if kind(found) else None


def is_object(value: object) -> bool:
    return isinstance(value, dict)


def is_list(value: object) -> bool:
    return isinstance(value, list)


def is_texts(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(each, str) for each in value)


def fingerprint(*parts: object) -> str:
    """A name for what is always the same in a source."""
    return sha256("\n".join(map(str, parts)).encode()).hexdigest()[:16]


def file_name(label: str) -> str:
    """A label as one part of a path."""
    return label.replace("/", "_").replace("\0", "").strip(". ")[:100] or "unnamed"


def parents_first(links: Mapping[Key, list[Key]], path: Path, field: str) -> list[Key]:
    """The keys in an order in which each stands behind those that it names. One that names itself, over others or not,
    is a fault of the source.
    """
    order: list[Key] = []
    done: set[Key] = set()
    open_keys: set[Key] = set()
    for start in links:
        stack = [(start, iter(links[start]))] if start not in done else []
        open_keys.update(key for key, _ in stack)
        while stack:
            key, rest = stack[-1]
            following = next((each for each in rest if each in links and each not in done), None)
            if following is None:
                stack.pop()
                open_keys.discard(key)
                done.add(key)
                order.append(key)
            elif following in open_keys:
                cycle = [each for each, _ in stack]
                shown = " → ".join(map(str, [*cycle[cycle.index(following) :], following]))
                raise invalid(
                    path,
                    f"{field} goes in a circle: {shown}",
                    field=field,
                    value=str(following),
                    fix=f"set {field} of {following} to null in a copy of the file, and import the copy",
                )
            else:
                stack.append((following, iter(links[following])))
                open_keys.add(following)
    return order
