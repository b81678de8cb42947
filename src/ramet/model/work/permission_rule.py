"""Permission rules: what agents may do without asking, in the same words for every agent program.

A rule is a kind and a pattern: `run: npm test *`, `edit: src/**`, `read: ~/notes/**`, `fetch: docs.python.org`,
`tool: mcp__ramet__*`. A policy has three lists of them. deny beats ask, ask beats allow, and a call that no rule names
is not allowed. A `run` rule matches the words that a program is given, never the beginning of a string: a command with
several parts passes only if each part does.
"""

import re
import shlex
from collections.abc import Iterator, Sequence
from difflib import get_close_matches
from fnmatch import fnmatchcase
from posixpath import basename, normpath
from typing import Literal, get_args
from urllib.parse import urlsplit

from msgspec import Struct

from ramet.errors import InvalidRule
from ramet.model.work.shell_command import NotUnderstood, SimpleCommand, Word, split

Kind = Literal["run", "edit", "read", "fetch", "tool"]
Verdict = Literal["allow", "ask", "deny"]

KINDS: tuple[Kind, ...] = get_args(Kind)
GRAMMAR = (
    "a rule is run: COMMAND, edit: PATH, read: PATH, fetch: HOST or tool: NAME, "
    "such as run: npm test *, edit: src/**, read: ~/notes/**, fetch: docs.python.org, tool: mcp__ramet__*"
)
_LONGEST = 500
_GIT = ".git"
_HOST = re.compile(r"(\*\.)?[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*")
_TOOL = re.compile(r"[A-Za-z0-9_.*-]+")
_WRAPPERS = frozenset(
    [
        "builtin",
        "chroot",
        "command",
        "doas",
        "env",
        "exec",
        "ionice",
        "nice",
        "nohup",
        "setsid",
        "stdbuf",
        "sudo",
        "time",
        "timeout",
        "xargs",
    ]
)
_SHELLS = frozenset(["ash", "bash", "dash", "eval", "fish", "ksh", "sh", "zsh"])


class Rule(Struct, frozen=True):
    """What is allowed, asked or denied."""

    kind: Kind
    pattern: str

    def __str__(self) -> str:
        return f"{self.kind}: {self.pattern}"

    @property
    def words(self) -> tuple[Word, ...]:
        """The words of a `run` rule, without the `*` at its end."""
        words = _pattern_words(self.pattern)
        return words[:-1] if self.takes_more else words

    @property
    def takes_more(self) -> bool:
        """Whether any further words may follow those of a `run` rule."""
        return _pattern_words(self.pattern)[-1:] == (_ANY,)


_ANY = Word("*", is_exact=False)


class Call(Struct, frozen=True):
    """What an agent wants to do: the command, the path, the address or the tool."""

    kind: Kind
    value: str


class Places(Struct, frozen=True):
    """What relative paths, and those that begin with `~`, are relative to."""

    root: str
    home: str


class Policy(Struct, frozen=True):
    """The rules of one project."""

    allow: tuple[Rule, ...] = ()
    ask: tuple[Rule, ...] = ()
    deny: tuple[Rule, ...] = ()

    def decide(self, call: Call, places: Places) -> Verdict | None:
        """What becomes of a call; None if no rule speaks of it."""
        if call.kind == "run":
            return self._decide_run(call.value, places)
        for verdict, rules in (("deny", self.deny), ("ask", self.ask), ("allow", self.allow)):
            if any(_matches(rule, call, places) for rule in rules):
                return verdict  # type: ignore[return-value]
        return None

    def _decide_run(self, command: str, places: Places) -> Verdict | None:
        """The strictest answer that one of its parts gets. A command that is not understood is never allowed."""
        try:
            parts = split(command)
        except NotUnderstood:
            return None
        verdicts = [verdict for part in parts for verdict in self._decide_part(part, places)]
        for verdict in ("deny", "ask"):
            if verdict in verdicts:
                return verdict
        return "allow" if all(verdict == "allow" for verdict in verdicts) else None

    def _decide_part(self, part: SimpleCommand, places: Places) -> Iterator[Verdict | None]:
        if any(_matches_inside(rule, part) for rule in self.deny):
            yield "deny"
        elif any(_matches_inside(rule, part) for rule in self.ask):
            yield "ask"
        else:
            yield "allow" if any(_matches_words(rule, part.words) for rule in self.allow) else None
        for path in part.writes:
            yield self.decide(Call("edit", path), places)
        for path in part.reads:
            yield self.decide(Call("read", path), places)


def parse(text: str, field: str = "rule") -> Rule:
    """A rule as people write it."""
    text = text.strip()
    kind, colon, pattern = text.partition(":")
    kind, pattern = kind.strip(), pattern.strip()
    if not colon or kind not in KINDS:
        raise _wrong(f"{text!r} is not a rule", field, text, _suggest_rule(kind, pattern, text))
    if len(pattern) >= 2 and pattern[0] == pattern[-1] == '"' and '"' not in pattern[1:-1]:
        pattern = pattern[1:-1].strip()  # as it is written in a YAML file
    if not pattern or len(pattern) > _LONGEST:
        raise _wrong(f"{text[:_LONGEST]!r} has no pattern, or one that is too long", field, text, GRAMMAR)
    if problem := _CHECKS[kind](pattern):
        raise _wrong(f"{text!r} is not a rule: {problem}", field, text, GRAMMAR)
    return Rule(kind, pattern)


def _wrong(message: str, field: str, value: str, fix: str) -> InvalidRule:
    return InvalidRule(message, field=field, value=value, fix=fix)


def _suggest_rule(kind: str, pattern: str, text: str) -> str:
    close = get_close_matches(kind.lower(), KINDS, n=1)
    if pattern and close:
        return f"did you mean {f'{close[0]}: {pattern}'!r}? {GRAMMAR}"
    return f"did you mean {f'run: {text}'!r}? {GRAMMAR}" if text and ":" not in text else GRAMMAR


def suggest(call: Call) -> list[Rule]:
    """The narrowest rules that allow a call; none if no rule can."""
    try:
        match call.kind:
            case "run":
                return _suggest_run(call.value)
            case "fetch":
                return [parse(f"fetch: {_host(call.value)}")]
            case _:
                return [parse(f"{call.kind}: {call.value}")]
    except (InvalidRule, NotUnderstood):
        return []


def explain_refusal(call: Call) -> str | None:
    """Why no rule can allow a command; None if one can."""
    try:
        if call.kind == "run":
            _suggest_run(call.value)
    except (InvalidRule, NotUnderstood) as error:
        return error.message if isinstance(error, InvalidRule) else str(error)
    return None


def _suggest_run(command: str) -> list[Rule]:
    rules = []
    for part in split(command):
        texts = [word.text if not word.is_exact else shlex.quote(word.text) for word in part.words]
        if any(not word.is_exact for word in part.words):
            # The shell replaces a file pattern, so only a rule that takes any further words can match it.
            known = next(place for place, word in enumerate(part.words) if not word.is_exact)
            texts = [*texts[:known], "*"]
        rules.append(parse(f"run: {' '.join(texts)}"))
        rules += [parse(f"edit: {path}") for path in part.writes]
        rules += [parse(f"read: {path}") for path in part.reads]
    return list(dict.fromkeys(rules))


def _matches(rule: Rule, call: Call, places: Places) -> bool:
    if rule.kind != call.kind:
        return False
    match rule.kind:
        case "edit" | "read":
            return _matches_path(rule.pattern, call.value, places)
        case "fetch":
            return _matches_host(rule.pattern, call.value)
        case _:
            return fnmatchcase(call.value, rule.pattern)


def _matches_words(rule: Rule, words: Sequence[Word]) -> bool:
    if rule.kind != "run":
        return False
    wanted = rule.words
    if len(words) < len(wanted) or (len(words) > len(wanted) and not rule.takes_more):
        return False
    return bool(words) and words[0].is_exact and all(map(_matches_word, wanted, words))


def _matches_word(wanted: Word, given: Word) -> bool:
    """A word that the shell may replace is not known, so it matches none."""
    if not given.is_exact:
        return False
    return given.text == wanted.text if wanted.is_exact else _glob(wanted.text, given.text)


def _glob(pattern: str, text: str) -> bool:
    """`*` and `?` alone; a bracket is a bracket."""
    return fnmatchcase(text, pattern.replace("[", "[[]"))


def _matches_inside(rule: Rule, part: SimpleCommand) -> bool:
    """Whether a command, or one that it starts by a well-known way, matches: `env`, `sudo`, `sh -c`, a full path."""
    for words in _inner(list(part.words)):
        named = [words[0]._replace(text=basename(words[0].text)), *words[1:]]
        if _matches_words(rule, words) or _matches_words(rule, named):
            return True
    return False


def _inner(words: list[Word], depth: int = 0) -> Iterator[list[Word]]:
    if not words:
        return
    yield words
    program = basename(words[0].text)
    if depth < 5 and program in _WRAPPERS:
        for place in range(1, len(words)):
            yield from _inner(words[place:], depth + 1)
    elif depth < 5 and program in _SHELLS:
        for word in words[1:]:
            try:
                inside = split(word.text)
            except NotUnderstood:
                continue
            for each in inside:
                yield from _inner(list(each.words), depth + 1)


def _matches_path(pattern: str, path: str, places: Places) -> bool:
    wanted, given = _absolute(pattern, places), _absolute(path, places)
    if given is None or wanted is None or "\0" in path:
        return False
    if _GIT in given.lower().split("/") and _GIT not in wanted.lower().split("/"):
        return False  # what git itself reads is no file of the project
    return re.fullmatch(_path_expression(wanted), given, re.DOTALL) is not None


def _absolute(path: str, places: Places) -> str | None:
    if path == "~" or path.startswith("~/"):
        path = f"{places.home}/{path[2:]}"
    elif path.startswith("~"):
        return None
    elif not path.startswith("/"):
        path = f"{places.root}/{path}"
    return normpath(path).replace("//", "/")


def _path_expression(pattern: str) -> str:
    """`**` is any number of folders, `*` and `?` stay in one."""
    parts = re.split(r"(\*\*/|/\*\*$|\*\*|\*|\?)", pattern)
    meanings = {"**/": "(?:[^/]+/)*", "/**": "(?:/.*)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}
    return "".join(meanings.get(part, re.escape(part)) for part in parts)


def _matches_host(pattern: str, address: str) -> bool:
    host = _host(address)
    if pattern.startswith("*."):
        return host.endswith(pattern[1:].lower()) and len(host) >= len(pattern)
    return host == pattern.lower()


def _host(address: str) -> str:
    try:
        found = urlsplit(address if "//" in address else f"//{address}").hostname or ""
    except ValueError:
        return ""
    return found.rstrip(".").lower()


def _pattern_words(pattern: str) -> tuple[Word, ...]:
    try:
        (only,) = split(pattern)
    except (NotUnderstood, ValueError):
        return ()
    return only.words


def _check_run(pattern: str) -> str | None:
    try:
        parts = split(pattern)
    except NotUnderstood as error:
        return str(error)
    if len(parts) != 1 or parts[0].writes or parts[0].reads:
        return "a run rule is one command without ;, &&, | or a redirection: write one rule for each part"
    if not parts[0].words[0].is_exact and parts[0].words != (_ANY,):
        return "the program has to be named without * or ~"
    return None


def _check_path(pattern: str) -> str | None:
    if ".." in pattern.split("/"):
        return "a path has no .."
    if pattern.startswith("~") and not pattern.startswith("~/"):
        return "only your own home can be named with ~"
    return None if pattern.isprintable() else "a path has only printable characters"


def _check_host(pattern: str) -> str | None:
    return None if _HOST.fullmatch(pattern) else "a host is a name such as docs.python.org or *.python.org"


def _check_tool(pattern: str) -> str | None:
    return None if _TOOL.fullmatch(pattern) else "a tool's name has letters, digits, _, -, . and *"


_CHECKS = {"run": _check_run, "edit": _check_path, "read": _check_path, "fetch": _check_host, "tool": _check_tool}
