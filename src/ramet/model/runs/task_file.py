"""A task file: a markdown checklist whose lines are efforts of one run.

    - [ ] 1. Find out why the cart forgets its items
      - Agent: @careful
    - [ ] 2. Fix it
      - Depends: 1
      - Timeout: 30m

`parse` reads it or says what is wrong and where; `render` writes what parses to the same lines. docs/task-files.md has
the whole grammar. Which line waits for which is `ordering`'s affair.
"""

import hashlib
import itertools
import re
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from typing import NoReturn

import msgspec
from msgspec import Struct

from ramet.errors import TaskCycle, TaskFileInvalid
from ramet.model.runs.checklist import (
    Item,
    Note,
    is_fence,
    read_checklist,
)
from ramet.model.runs.line_order import find_cycle, show_cycle

MAX_BYTES = 1024 * 1024
MAX_DEPTH = 20
_MAX_SECONDS = 2**31 - 1
_MAX_NAME = 200
_MAX_DIGITS = 9
_SHOWN = 10

_AGENT = re.compile(r"@?(?P<name>[a-z0-9][a-z0-9._-]{0,63})")
_ID = re.compile(r"[0-9]{1,9}(?:\.[0-9]{1,9})*")
_DURATION = re.compile(r"(?:(\d{1,9})d)?(?:(\d{1,9})h)?(?:(\d{1,9})m)?(?:(\d{1,9})s?)?", re.ASCII)
_UNITS = (86_400, 3600, 60, 1)
_NOTHING = {"", "none", "nothing", "-"}


class Line(Struct, frozen=True, kw_only=True):
    """One line of a task file: what is to be done, and how."""

    key: str
    """Its number: `2`, or `2.1` below it."""
    text: str
    agent: str | None = None
    """The driver or profile that does it."""
    skill: str | None = None
    depends_on: tuple[str, ...] = ()
    """The keys that it names; `ordering.needs` has all that it waits for."""
    model: str | None = None
    timeout_seconds: int | None = None
    accepts_no_change: bool = False
    """Whether `no_change` is good enough: of this line for its dependents, and of the lines that it needs."""
    done: bool = False
    section: str | None = None
    """The heading above it."""
    line_number: int = 0


class TaskFile(Struct, frozen=True, kw_only=True):
    """The lines in their order."""

    lines: tuple[Line, ...]

    @property
    def to_do(self) -> tuple[Line, ...]:
        """The lines whose box is empty."""
        return tuple(line for line in self.lines if not line.done)


class _Settings(Struct, frozen=True, kw_only=True):
    """What notes say beside the dependencies."""

    agent: str | None = None
    skill: str | None = None
    model: str | None = None
    timeout_seconds: int | None = None
    accepts_no_change: bool = False


def parse(content: bytes | str) -> TaskFile:
    """The tasks of a file; `TaskFileInvalid` says what is wrong with it, and where."""
    text = _decode(content)
    items, front = read_checklist(text)
    if not items:
        raise TaskFileInvalid(
            "the file has no tasks" if text.strip() else "the file is empty",
            line=1,
            column=1,
            fix="write each task as a line `- [ ] 1. what to do`",
        )
    defaults = _settings(front, _Settings())
    keys = _number(items)
    known = dict.fromkeys(keys.values())
    lines = tuple(_line(item, keys[item], _dependencies(item, keys, known), defaults) for item in items)
    _check_circles(lines, items)
    return TaskFile(lines=lines)


def render(file: TaskFile) -> str:
    """The file as markdown, which parses to the same lines."""
    rows: list[str] = []
    section = None
    for line in file.lines:
        if line.section != section:
            section = line.section
            rows += ["", f"## {section}", ""] if rows else [f"## {section}", ""]
        rows += _render_line(line)
    return "\n".join(rows) + "\n"


def fingerprint(file: TaskFile) -> str:
    """A hash of what is to be done. Ticking a box, moving prose or wrapping lines anew does not change it."""
    facts = [
        [
            *(line.key, line.text.split(), line.agent, line.skill, line.model, line.timeout_seconds),
            sorted(line.depends_on),
            *(["no_change"] if line.accepts_no_change else []),  # a file without it keeps the hash that it had
        ]
        for line in file.lines
    ]
    return hashlib.sha256(b"task file 1\n" + msgspec.json.encode(facts)).hexdigest()


def refuse(content: bytes | str, line: Line, name: str, value: str, message: str, fix: str) -> NoReturn:
    """Say that the value of a line's directive is wrong, and where it is: below the line, or in the front matter."""
    items, front = read_checklist(_decode(content))
    noted = [note for item in items if item.row == line.line_number for note in item.notes]
    note = next(note for note in [*noted, *front] if note.name.lower() == name)
    note.refuse(message, fix, value)


def _decode(content: bytes | str) -> str:
    encoded = content.encode(errors="surrogatepass") if isinstance(content, str) else content
    if len(encoded) > MAX_BYTES:
        raise TaskFileInvalid(f"the file is larger than {MAX_BYTES:,} bytes", fix="split it into several files")
    try:
        text = encoded.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        _refuse_at(encoded[: error.start], "the file is not UTF-8 text", "save it as UTF-8")
    if "\0" in text:
        _refuse_at(encoded[: encoded.index(b"\0")], "the file contains a NUL character", "remove it")
    return text


def _refuse_at(before: bytes, message: str, fix: str) -> NoReturn:
    """Say what is wrong behind so many bytes."""
    lines = before.decode("utf-8-sig", errors="replace").split("\n")
    raise TaskFileInvalid(message, line=len(lines), column=len(lines[-1]) + 1, fix=fix)


# Numbers.


def _number(items: Sequence[Item]) -> dict[Item, str]:
    """The key of each item. A number of one part counts below the item above; who has none gets the next free one."""
    taken = {_normal(item.number) for item in items if item.number and not _is_relative(item)}
    counted = {(item.parent, int(item.number)) for item in items if item.number and "." not in item.number}
    last: dict[Item | None, int] = defaultdict(int)
    keys: dict[Item, str] = {}
    rows: dict[str, int] = {}
    for item in items:
        prefix = f"{keys[item.parent]}." if item.parent else ""
        number = item.number
        if number is None:
            free = (count for count in itertools.count(last[item.parent] + 1) if (item.parent, count) not in counted)
            number = next(str(count) for count in free if f"{prefix}{count}" not in taken)
        key = _normal(number if "." in number else f"{prefix}{number}")
        above, _, place = key.rpartition(".")
        if above == prefix[:-1]:
            last[item.parent] = max(last[item.parent], int(place))
        _check_key(item, key, rows)
        keys[item] = key
        rows[key] = item.row
    return keys


def _is_relative(item: Item) -> bool:
    """Whether its number counts below the item that it is indented under."""
    return item.parent is not None and item.number is not None and "." not in item.number


def _normal(number: str) -> str:
    """`1.0` and `01` are `1`."""
    parts = [part.lstrip("0") or "0" for part in number.split(".")]
    while len(parts) > 1 and parts[-1] == "0":
        parts.pop()
    return ".".join(parts)


def _check_key(item: Item, key: str, rows: Mapping[str, int]) -> None:
    if key in rows:
        message = f"there is a second task {key}; the first one is in line {rows[key]}"
        fix = "give each task its own number, or no number: it then gets the next free one"
    elif key.count(".") >= MAX_DEPTH:
        message, fix = f"tasks are nested more than {MAX_DEPTH} deep", "nest them less"
    elif len(key.rpartition(".")[2]) > _MAX_DIGITS:
        message, fix = f"there is no number left after {'9' * _MAX_DIGITS}", "use smaller numbers"
    else:
        return
    raise TaskFileInvalid(message, line=item.row, column=item.raw.find("[") + 1, value=key, fix=fix)


# Lines.


def _line(item: Item, key: str, depends_on: tuple[str, ...], defaults: _Settings) -> Line:
    text = item.text
    if not text:
        column = item.raw.find("[") + 1
        raise TaskFileInvalid("the task has no text", line=item.row, column=column, fix="write what to do")
    settings = _settings([note for note in item.notes if not _is_dependency(note)], defaults)
    return Line(
        key=key,
        text=text,
        agent=settings.agent,
        skill=settings.skill,
        depends_on=depends_on,
        model=settings.model,
        timeout_seconds=settings.timeout_seconds,
        accepts_no_change=settings.accepts_no_change,
        done=item.done,
        section=item.section,
        line_number=item.row,
    )


def _settings(notes: Sequence[Note], defaults: _Settings) -> _Settings:
    """What is said, each once, or what is said of all."""
    said: dict[str, str | int | bool] = {}
    for note in notes:
        name, value = note.name.lower(), note.value.strip().strip("`*_\"'").strip()
        if not value or (name == "agent" and value.lower() in ("self", "@self")):
            continue
        field, reading = _READINGS[name]
        if field in said:
            note.refuse(f"{name} is given twice", "give it once", value)
        said[field] = reading(note, value)
    return msgspec.structs.replace(defaults, **said)


def _agent(note: Note, value: str) -> str:
    match = _AGENT.fullmatch(value)
    if match is None:
        note.refuse(
            f"{value!r} is not a valid agent name",
            "name a driver or a profile with lowercase letters, digits, dots and dashes: `Agent: @careful`",
            value,
        )
    return match["name"]


def _name(note: Note, value: str) -> str:
    if len(value) > _MAX_NAME or any(letter.isspace() for letter in value):
        note.refuse(
            f"{note.name.lower()} must be one name, not {value!r}",
            "give only the name; if the line is part of the task's text, start it with another word",
            value,
        )
    return value


def _seconds(note: Note, value: str) -> int:
    match = _DURATION.fullmatch(value.replace(" ", ""))
    amounts = match.groups(default="0") if match else ()
    seconds = sum(int(amount) * unit for amount, unit in zip(amounts, _UNITS, strict=False))
    if not 1 <= seconds <= _MAX_SECONDS:
        note.refuse(
            f"{value!r} is not a duration", "write it as 90s, 10m, 1h30m or 2d; a bare number is seconds", value
        )
    return seconds


def _no_change(note: Note, value: str) -> bool:
    if value.lower().replace(" ", "_").replace("-", "_") != "no_change":
        note.refuse(
            f"only no_change can be accepted, not {value!r}",
            "write `Accept: no_change`; if the line is part of the task's text, start it with another word",
            value,
        )
    return True


_READINGS: dict[str, tuple[str, Callable[[Note, str], str | int | bool]]] = {
    "agent": ("agent", _agent),
    "skill": ("skill", _name),
    "model": ("model", _name),
    "timeout": ("timeout_seconds", _seconds),
    "accept": ("accepts_no_change", _no_change),
}


# Dependencies.


def _is_dependency(note: Note) -> bool:
    return note.name.lower().startswith("depend")


def _dependencies(item: Item, keys: Mapping[Item, str], known: Mapping[str, None]) -> tuple[str, ...]:
    """The keys that an item names, each once."""
    found: dict[str, None] = {}
    for note in filter(_is_dependency, item.notes):
        value = note.value.strip().strip("`*_[]()").strip()
        if value.lower() in _NOTHING:
            continue
        for part in re.split(r"[,;\s]+", value):
            if part and part.lower() not in ("and", "task", "tasks"):
                found[_resolve(part, item, note, keys, known)] = None
    return tuple(found)


def _resolve(part: str, item: Item, note: Note, keys: Mapping[Item, str], known: Mapping[str, None]) -> str:
    """The key that is meant: among its siblings first, for an item whose own number is counted so."""
    number = part.strip("#`*_.")
    if not _ID.fullmatch(number):
        note.refuse(f"{part!r} is not a task number", "write `Depends: 1, 2.1`", part)
    wanted = [_normal(number)]
    if _is_relative(item) and item.parent and "." not in number:
        wanted.insert(0, _normal(f"{keys[item.parent]}.{number}"))
    key = next((key for key in wanted if key in known), None)
    if key is None:
        shown = [*list(known)[:_SHOWN], *(["…"] if len(known) > _SHOWN else [])]
        note.refuse(f"there is no task {number}", f"name one of {', '.join(shown)}", part)
    return key


def _check_circles(lines: Sequence[Line], items: Sequence[Item]) -> None:
    cycle = find_cycle(lines)
    if cycle:
        item = next(item for line, item in zip(lines, items, strict=True) if line.key in cycle)
        note = next(filter(_is_dependency, item.notes), None)
        raise TaskCycle(
            f"tasks wait for each other: {show_cycle(cycle)}",
            line=note.row if note else item.row,
            column=(note.raw if note else item.raw).find("-") + 1,
            value=show_cycle(cycle),
            fix="remove one of these dependencies; a task also waits for the task that it is nested under",
        )


# Rendering.


def _render_line(line: Line) -> list[str]:
    margin = "  " * line.key.count(".")
    number = line.key if "." in line.key else f"{line.key}."
    first, *rest = line.text.split("\n")
    if is_fence(first):
        first, rest = "", [first, *rest]
    head = f"{margin}- [{'x' if line.done else ' '}] {number} {first}".rstrip()
    return [head, *(f"{margin}  {row}".rstrip() for row in rest), *(f"{margin}  - {note}" for note in _notes(line))]


def _notes(line: Line) -> list[str]:
    said = {
        "Agent": line.agent and f"@{line.agent}",
        "Skill": line.skill,
        "Model": line.model,
        "Accept": line.accepts_no_change and "no_change",
        "Timeout": line.timeout_seconds and f"{line.timeout_seconds}s",
        "Depends": ", ".join(line.depends_on),
    }
    return [f"{name}: {value}" for name, value in said.items() if value]
