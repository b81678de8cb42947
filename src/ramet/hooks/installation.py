"""Adding our hooks to the settings of agent programs, finding out what became of them, and removing them.

What is created for our entries (an event's list, the object of all hooks, the file) is removed with them; what was
there before stays, even if it was empty: `json_text.put_first` says how the two are told apart.
"""

import json
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ramet.errors import ConfigError
from ramet.installer import json_text, scoped_files
from ramet.installer.changes import Change, State
from ramet.vendors.contract.hooks.settings import MARK, Position, Program

_HOOKS = "hooks"
_STATUS_LINE = "statusLine"
_MEND = "fix the file first"


def plan_install(program: Program, file: Path, scope: Path, *, status_line: bool = False) -> Change:
    """The change that adds our entries, or writes them again if they were changed.

    The status line is added if it is requested and there is no other one. Nothing outside `scope` is read or written.
    """
    with _naming(file):
        before = scoped_files.read(file, scope)
        document = _parse(before)
        state = _state(program, document)
        lines = status_line or is_ours(document.get(_STATUS_LINE))
        after = before
        if state == "outdated" and before is not None:
            after = _remove(before)
        if state != "installed":
            after = _add_hooks(program, after)
        if lines and program.status_line and after is not None and _STATUS_LINE not in json_text.parse(after):
            after = json_text.put_first(after, (), [_member(_STATUS_LINE, program.status_line)])
        return Change(program.name, file, before, after, state, scope)


def plan_remove(program: Program, file: Path, scope: Path) -> Change:
    """The change that takes our entries out, and nothing else."""
    with _naming(file):
        before = scoped_files.read(file, scope)
        state = _state(program, _parse(before))
        after = before if before is None or state == "absent" else _remove(before)
        return Change(program.name, file, before, after, state, scope)


def find_state(program: Program, file: Path, scope: Path) -> State:
    """Whether our entries are there, and as we would write them."""
    with _naming(file):
        return _state(program, _parse(scoped_files.read(file, scope)))


def find_differences(program: Program, file: Path, scope: Path) -> list[str]:
    """What differs from our entries, in words; nothing if our entries are not there at all."""
    with _naming(file):
        document = _parse(scoped_files.read(file, scope))
        return list(_differences(program, document)) if _state(program, document) == "outdated" else []


def find_positions(file: Path, scope: Path) -> list[Position]:
    """The place of our hooks in a file."""
    with _naming(file):
        hooks = _parse(scoped_files.read(file, scope)).get(_HOOKS, {})
    return [
        (event, place, index)
        for event, groups in hooks.items()
        for place, group in enumerate(groups)
        for index in _our_handlers(group)
    ]


def find_status_line(file: Path, scope: Path) -> State:
    """Whether the program has a line to show below its prompt, and whose it is."""
    with _naming(file):
        line = _parse(scoped_files.read(file, scope)).get(_STATUS_LINE)
        return "absent" if line is None else "installed" if is_ours(line) else "foreign"


def is_ours(handler: Any) -> bool:
    """Whether we wrote an entry, even if it was changed since."""
    return isinstance(handler, dict) and MARK in str(handler.get("command"))


# What a file says.


@contextmanager
def _naming(file: Path) -> Iterator[None]:
    """If something is wrong with a file, name the file."""
    try:
        yield
    except ConfigError as error:
        if str(file) in error.message:
            raise
        raise ConfigError(f"{file}: {error.message}", fix=error.fix) from error


def _parse(text: str | None) -> dict[str, Any]:
    """What the file says, as far as we have to work with it."""
    document = {} if text is None else json_text.parse(text)
    hooks = document.get(_HOOKS, {})
    if not isinstance(hooks, dict):
        raise ConfigError("its hooks are not an object", fix=_MEND)
    for event, groups in hooks.items():
        if not isinstance(groups, list):
            raise ConfigError(f"its hooks for {event} are not a list", fix=_MEND)
    return document


def _state(program: Program, document: dict[str, Any]) -> State:
    has_any = any(_our_handlers(group) for groups in document.get(_HOOKS, {}).values() for group in groups)
    if not has_any and not is_ours(document.get(_STATUS_LINE)):
        return "absent"
    return "outdated" if any(_differences(program, document)) else "installed"


def _our_handlers(group: Any) -> list[int]:
    """The positions of our entries among those that a group has."""
    return [index for index, handler in enumerate(_handlers(group)) if is_ours(handler)]


def _handlers(group: Any) -> list[Any]:
    handlers = group.get("hooks") if isinstance(group, dict) else None
    return handlers if isinstance(handlers, list) else []


def _differences(program: Program, document: dict[str, Any]) -> Iterator[str]:
    wanted, hooks = program.groups(), document.get(_HOOKS, {})
    for event in [*wanted, *(event for event in hooks if event not in wanted)]:
        groups = [group for group in hooks.get(event, []) if _our_handlers(group)]
        if event not in wanted:
            yield from (f"{event}: an entry that Ramet does not write" for _ in groups)
        elif len(groups) != 1:
            yield f"{event}: {'no entry' if not groups else f'{len(groups)} entries instead of one'}"
        else:
            yield from _group_differences(event, groups[0], wanted[event])
    line = document.get(_STATUS_LINE)
    if is_ours(line) and line != program.status_line:
        yield f"{_STATUS_LINE}: changed"


def _group_differences(event: str, group: dict[str, Any], wanted: dict[str, Any]) -> Iterator[str]:
    if group.keys() != wanted.keys():
        yield f"{event}: also has {', '.join(sorted(group.keys() - wanted.keys()))}"
    if len(group["hooks"]) != 1:
        yield f"{event}: the same group has another entry"
    handler, right = group["hooks"][_our_handlers(group)[0]], wanted["hooks"][0]
    for field in sorted({*handler, *right}):
        if handler.get(field) != right.get(field):
            yield f"{event}: {field} is {json.dumps(handler.get(field))}, not {json.dumps(right.get(field))}"


# What it would say.


def _add_hooks(program: Program, text: str | None) -> str:
    """The file with our hooks, none of which may be in it yet; each last among those of its event: a program may know
    the hooks that it trusts by their positions.
    """
    groups = {event: json.dumps(group) for event, group in program.groups().items()}
    lists = {event: _block(f"{json.dumps(event)}: [", [group], "]") for event, group in groups.items()}
    hooks = _block(f"{json.dumps(_HOOKS)}: {{", lists.values(), "}")
    if text is None:
        return _block("{", [hooks], "}") + "\n"
    there = _parse(text).get(_HOOKS)
    if there is None:
        return json_text.put_first(text, (), [hooks])
    for event in there.keys() & groups.keys():
        put = json_text.put_last if there[event] else json_text.put_first
        text = put(text, (_HOOKS, event), [groups[event]])
    missing = [each for event, each in lists.items() if event not in there]
    return json_text.put_first(text, (_HOOKS,), missing) if missing else text


def _block(head: str, items: Iterable[str], end: str) -> str:
    """Items between two brackets, each on a line of its own: what is to be read before it is agreed to is short."""
    lines = ",\n".join(items).replace("\n", "\n  ")
    return f"{head}\n  {lines}\n{end}"


def _member(key: str, value: Any) -> str:
    return f"{json.dumps(key)}: {json.dumps(value, indent=2)}"


def _remove(text: str) -> str | None:
    """The file as it was without our entries; None if it would not exist at all."""
    document = _parse(text)
    paths = list(_doomed_hooks(text, document.get(_HOOKS, {})))
    if is_ours(document.get(_STATUS_LINE)):
        paths.append((_STATUS_LINE,))
    if {*paths} >= {(key,) for key in document} and not json_text.was_empty(text, ()):
        return None
    for path in reversed(paths):
        text = json_text.take_out(text, path)
    return text


def _doomed_hooks(text: str, hooks: dict[str, Any]) -> Iterator[json_text.Path]:
    """The places of what goes: our entries, and what has nothing else and was made for them."""
    paths = [path for event, groups in hooks.items() for path in _doomed_groups(text, event, groups)]
    if hooks and {*paths} >= {(_HOOKS, event) for event in hooks} and not json_text.was_empty(text, (_HOOKS,)):
        yield (_HOOKS,)
    else:
        yield from paths


def _doomed_groups(text: str, event: str, groups: list[Any]) -> Iterator[json_text.Path]:
    paths: list[json_text.Path] = []
    for place, group in enumerate(groups):
        ours = _our_handlers(group)
        if ours and len(ours) == len(_handlers(group)):
            paths.append((_HOOKS, event, place))
        else:
            paths += [(_HOOKS, event, place, "hooks", index) for index in ours]
    whole = {(_HOOKS, event, place) for place in range(len(groups))}
    if groups and {*paths} >= whole and not json_text.was_empty(text, (_HOOKS, event)):
        yield (_HOOKS, event)
    else:
        yield from paths
