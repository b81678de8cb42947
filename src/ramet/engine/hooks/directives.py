"""Directives: what a project tells agents in its files, told once to each context window, and again when it changes."""

import posixpath
from collections.abc import Collection, Mapping, Sequence

from ramet.engine.transaction import Transaction
from ramet.model.hooks.directive import Directive
from ramet.model.hooks.resume_contract import disarm
from ramet.store.hooks import hooks
from ramet.store.hooks.hooks import Hooked
from ramet.store.record import efforts

_LONGEST = 12_000
"""The limit of all directives that are shown at once, in characters."""
_MOST_PLACES = 500
_MARK = "--- "
"""Before the name of a directive."""
_HEAD = "Rules for the directories you work in, from the project's own files:"


def tell(
    tx: Transaction, hooked: Hooked, found: Sequence[Directive], files: Sequence[str] = (), head: str = _HEAD
) -> str | None:
    """The directives that a session receives: those that it does not know, or knows in an older version. The
    directories of the files that it has used are known from now on.
    """
    if not found and not files:
        return None
    known = hooks.list_told(tx.db, hooked.id)
    directories = _list_new(known, files)
    news = _list_news(known, found)
    for path in directories:
        hooks.tell(tx.db, hooked.id, path, None)
    if directories or news:
        _discover(tx, hooked, directories, [each.path for each in news])
    return _note_told(tx, hooked, news, head)


def tell_files(tx: Transaction, hooked: Hooked, found: Sequence[Directive], head: str) -> str | None:
    """Other files that a session receives, in the same way; they make no rules for a directory."""
    return _note_told(tx, hooked, _list_news(hooks.list_told(tx.db, hooked.id), found), head) if found else None


def _list_news(known: Mapping[str, str | None], found: Sequence[Directive]) -> list[Directive]:
    return [each for each in found if "\0" not in each.path and known.get(each.path) != each.hash]


def _note_told(tx: Transaction, hooked: Hooked, news: Sequence[Directive], head: str) -> str | None:
    if not news:
        return None
    for each in news:
        hooks.tell(tx.db, hooked.id, each.path, each.hash)
    paths = [each.path for each in news]
    tx.record("session.directed", effort_id=hooked.effort_id, session_id=hooked.id, data={"paths": paths})
    return _render(news, head)


def _list_new(known: Collection[str], files: Sequence[str]) -> list[str]:
    """The directories of files to which a session comes for the first time; at some number it has seen enough."""
    wanted = dict.fromkeys(posixpath.dirname(file) for file in files)
    return [path for path in wanted if path not in known][: max(0, _MOST_PLACES - len(known))]


def _discover(tx: Transaction, hooked: Hooked, directories: list[str], directives: list[str]) -> None:
    """What its effort has come to, each once."""
    effort = efforts.must_find(tx.db, hooked.effort_id)
    before = effort.discovered_directories or [], effort.discovered_directives or []
    after = _joined(before[0], directories), _joined(before[1], directives)
    if after != before:
        hooks.set_discovered(tx.db, effort.id, *after)


def _joined(known: list[str], new: list[str]) -> list[str]:
    return list(dict.fromkeys([*known, *new]))[:_MOST_PLACES]


def _render(news: Sequence[Directive], head: str) -> str:
    """The files, each with its name; what does not fit is named, to be read."""
    parts, left = [], _LONGEST
    for each in news:
        text = f"{_MARK}{each.path}\n{_quote(each.text)}"
        if len(text) > left:
            parts.append(f"{_MARK}{each.path} (too long to show: read the file)")
            continue
        parts.append(text)
        left -= len(text)
    return f"{head}\n\n" + "\n\n".join(parts)


def _quote(text: str) -> str:
    """A directive's text, in which nothing passes for a name, or for another text of ours."""
    lines = (f" {line}" if line.startswith(_MARK) else line for line in text.strip().splitlines())
    return disarm("\n".join(lines))
