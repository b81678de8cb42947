"""The redactor: one linear look decides whether a text can hold a secret at all; only then the rules are applied.

The patterns are matched in linear time (RE2): this runs on everything that every agent says. A placeholder names the
kind of secret and eight digits of its hash, so that equal secrets stay recognisably equal, in whatever framing; a text
without secrets, which a redacted one is, stays as it is.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cache, lru_cache
from typing import Any, NamedTuple

import msgspec
import re2

from ramet.errors import InvalidSetting
from ramet.model.redaction import assignments, private_keys, url_passwords
from ramet.model.redaction.canonical_view import INVISIBLE, View
from ramet.model.redaction.known_values import spellings
from ramet.model.redaction.placeholders import PLACEHOLDER, is_placeholder, placeholder
from ramet.model.redaction.secret_names import Strength, strength
from ramet.model.redaction.secret_values import Place, is_secret, is_varied
from ramet.model.redaction.vendor_shapes import AWS_PAIR, HINTS, SHAPES, VARIED

_VALUE = "environment"
_OWN = "configured"

_MATCHER_BYTES = 32 * 1024 * 1024
"""How much a matcher may remember; with less, a dozen known values make it forget and start over all the time."""

_SHORT = 40
_SHORT_TEXTS = 4096
"""How long and how many the texts are whose result is remembered."""

_ROUNDS = 4
"""A secret that stood right behind another may only show once that is gone; a round finds nothing or is the last."""


class Redacted(NamedTuple):
    """A text without its secrets, and how many there were."""

    text: str
    secrets: int


class _Span(NamedTuple):
    """A secret in a text. Of several in one place, the one with the lowest rank that covers all of it counts."""

    start: int
    end: int
    rank: int
    kind: str
    secret: str


class Redactor:
    """Replaces what looks like a secret by a stable placeholder.

    `patterns` are regular expressions of the user's own, `values` are secrets that are known as they are.
    """

    def __init__(self, patterns: Sequence[str] = (), values: Iterable[str] = (), *, is_enabled: bool = True) -> None:
        self._is_enabled = is_enabled
        self.patterns = list(patterns)
        self._values = {spelt: value for value in values if value for spelt in spellings(value)}
        longest_first = sorted(self._values, key=len, reverse=True)
        parts = [*map(re2.escape, longest_first), *map(_checked, patterns)]
        self._known = _compile([PLACEHOLDER, *parts]) if parts else None
        self._hints = _compile_utf8((*parts, *_hints()))
        self._redact_short = lru_cache(maxsize=_SHORT_TEXTS)(self._redact)

    def redact(self, text: str) -> Redacted:
        """The text with each secret replaced."""
        # Names of fields and tools come again and again, and calling the matcher takes longer than matching them.
        return self._redact_short(text) if len(text) <= _SHORT else self._redact(text)

    def _redact(self, text: str) -> Redacted:
        return self._apply(text) if self.may_hold_secrets(text) else Redacted(text, 0)

    def _apply(self, text: str) -> Redacted:
        """The rules, for a text that may hold a secret."""
        secrets = 0
        for _ in range(_ROUNDS):
            spans = self._find(text)
            if not spans:
                break
            text = _replace(text, spans)
            secrets += len(spans)
        return Redacted(text, secrets)

    def may_hold_secrets(self, text: str) -> bool:
        """One linear look at a text, which most pass over: without a hint of a secret, no rule can find one."""
        return self._is_enabled and self._hints.search(text.encode(errors="replace")) is not None

    def redact_content(self, text: str) -> Redacted:
        """A text without secrets. JSON, such as a tool call's input, is also read as the value that it is: there, a
        text under the name of a secret is one, and a line starts where it starts.
        """
        if not self.may_hold_secrets(text):
            return Redacted(text, 0)
        redacted = self._apply(text)
        if not text.startswith(("{", "[", '"')) or not self.may_hold_secrets(redacted.text):
            return redacted
        try:
            value = msgspec.json.decode(redacted.text)
        except (msgspec.DecodeError, RecursionError):
            return redacted
        clean, secrets = self.redact_value(value)
        return Redacted(msgspec.json.encode(clean).decode(), redacted.secrets + secrets) if secrets else redacted

    def cut(self, text: str, at: int) -> int:
        """The nearest place before `at` at which a text can be cut without cutting a secret."""
        if not self.may_hold_secrets(text):
            return at
        return next((span.start for span in self._find(text) if span.start < at < span.end), at)

    def redact_value(self, value: Any) -> tuple[Any, int]:
        """The same for everything that is text in a JSON value, and how many secrets there were. A text under the name
        of a secret is one, whatever it looks like. The value may be as deep as it likes.
        """
        if value is None:
            return None, 0
        whole: list[Any] = [None]
        secrets = 0
        waiting: list[tuple[Any, Any, Any, str]] = [(whole, 0, value, "")]
        while waiting:
            place, key, item, name = waiting.pop()
            if isinstance(item, str):
                place[key], count = self._redact_named(item, name)
                secrets += count
            elif isinstance(item, list):
                place[key] = fresh = [None] * len(item)
                waiting += [(fresh, at, each, _option(item, at) or name) for at, each in enumerate(item)]
            elif isinstance(item, dict):
                place[key], count = self._open(item, waiting)
                secrets += count
            else:
                place[key] = item
        return whole[0], secrets

    def _open(self, items: dict[Any, Any], waiting: list[tuple[Any, Any, Any, str]]) -> tuple[dict[Any, Any], int]:
        """A dict with its keys redacted and its values to come, in the same order."""
        fresh: dict[Any, Any] = {}
        secrets = 0
        label = items.get("name", items.get("key"))
        for key, item in items.items():
            kept, count = self.redact(key) if isinstance(key, str) else (key, 0)
            secrets += count
            fresh[kept] = None
            name = label if key == "value" and isinstance(label, str) else key
            waiting.append((fresh, kept, item, name if isinstance(name, str) else ""))
        return fresh, secrets

    def _redact_named(self, text: str, name: str) -> Redacted:
        redacted = self.redact(text)
        if name and self._is_enabled and not is_placeholder(redacted.text):
            named = strength(name)
            if named is not Strength.NEVER and is_secret(text, named, Place.QUOTED):
                return Redacted(placeholder("entropy" if named is Strength.NONE else "keyword", text), 1)
        return redacted

    def _find(self, text: str) -> list[_Span]:
        """The secrets in a text, none of which overlap, in their order."""
        spans = list(self._look(text))
        view = View(text, without_gutters="PRIVATE" in text or "PuTTY" in text)
        if not view.is_raw:
            for span in self._look(view.text):
                start, end = view.to_raw(span.start, span.end)
                spans.append(span._replace(start=start, end=end, rank=span.rank - _SEEN))
        return _merge(text, spans)

    def _look(self, text: str) -> Iterator[_Span]:
        """What the rules find in a text as it is."""
        # One byte for each character, a question mark for all that have none, so that positions are those of the text.
        data = text.encode("latin-1", "replace")
        for start, end in private_keys.find(text):
            yield _Span(start, end, 10, "private_key", text[start:end])
        for match in _shapes().finditer(data):
            yield from _read_shape(text, *match.span())
        matches = (match.span() for match in _assigned().finditer(data))
        for start, end, secret, kind in assignments.find(text, matches):
            yield _Span(start, end, 40 if kind != "entropy" else 50, kind, secret)
        if self._known is not None:
            clean = text.encode(errors="replace").decode()
            for match in self._known.finditer(clean):
                whole = match.group()
                if not is_placeholder(whole):
                    yield self._read_known(whole, *match.span())

    def _read_known(self, whole: str, start: int, end: int) -> _Span:
        value = self._values.get(whole)
        if value is None:
            return _Span(start, end, 30, find_kind(whole) or _OWN, whole)
        return _Span(start, end, 0, find_kind(value) or _VALUE, value)


_SEEN = 5
"""By how much what was seen in the view goes before the same in the text: its secret is the one without escapes."""


def _option(items: list[Any], at: int) -> str:
    """The option of a command line whose value an item may be, as in ["--token", "…"]."""
    before = items[at - 1] if at else None
    return before if isinstance(before, str) and before.startswith("-") and "=" not in before else ""


def _read_shape(text: str, start: int, end: int) -> Iterator[_Span]:
    """What a match of one of the shapes is."""
    whole = text[start:end]
    if is_placeholder(whole):
        return
    if "://" in whole:
        if (found := url_passwords.extent(text, start, end)) is not None and not is_placeholder(text[slice(*found)]):
            secret = text[slice(*found)]
            yield _Span(*found, 20, find_kind(secret) or "url_password", secret)
        return
    start += whole[0] == "_"
    kind = find_kind(text[start:end])
    if kind is None:  # the id of a key, and the key
        start = text.index("A", start)
        yield _Span(start, start + 20, 10, "aws", text[start : start + 20])
        yield _Span(end - 40, end, 10, "aws", text[end - 40 : end])
    elif kind not in VARIED or (is_varied(text[start + 4 : end]) and not _is_in_data(text, start, end)):
        yield _Span(start, end, 10, kind, text[start:end])


def _is_in_data(text: str, start: int, end: int) -> bool:
    """Whether it is a part of longer data in base 64, which has every text somewhere."""
    before, after = text[max(start - 2, 0) : start], text[end : end + 2]
    return any(len(each) == 2 and set(each) & set("+/") and each.strip("+/").isalnum() for each in (before, after))


def _merge(text: str, spans: list[_Span]) -> list[_Span]:
    """One span for each place."""
    merged: list[_Span] = []
    for span in sorted(spans, key=lambda span: (span.start, -span.end, span.rank)):
        if not merged or span.start >= merged[-1].end:
            merged.append(span)
        elif span.end > merged[-1].end:
            start = merged[-1].start
            merged[-1] = merged[-1]._replace(end=span.end, secret=text[start : span.end])
    return merged


def _replace(text: str, spans: Iterable[_Span]) -> str:
    pieces, end = [], 0
    for span in spans:
        pieces += [text[end : span.start], placeholder(span.kind, span.secret)]
        end = span.end
    return "".join([*pieces, text[end:]])


# What is compiled: once for all redactors, and only when it is needed.


@cache
def _hints() -> tuple[str, ...]:
    """What at least is in a text that holds a secret, in whichever framing.

    A shape hints without its edge and without its length, so that no escape before it matters. An escape hints only if
    it can hide a letter, for all others leave the start of a secret to be seen.
    """
    counts = re.compile(r"\{([0-9]+)(?:,[0-9]*)?\}")
    shapes = [
        HINTS.get(kind) or counts.sub(lambda match: f"{{{min(int(match[1]), 4)},}}", shape).replace(r"\b", "")
        for kind, shape in SHAPES.items()
    ]
    escapes = [r"\x1b", r"\^\[\[", r"%(?:25)*[2-7][0-9a-fA-F]", r"\\(?:u00|x)[2-7]", "&(?:amp;)*(?:quot|apos|#)"]
    invisible = "".join(rf"\x{{{ord(each):x}}}" if each != "-" else each for each in INVISIBLE)
    return (*shapes, *escapes, rf"[{invisible}\x{{9b}}]", private_keys.HINT, url_passwords.HINT, *assignments.HINTS)


def _compile(parts: Sequence[str]) -> "re2._Regexp[str]":
    """One expression without groups of its own, because finding groups is what takes time."""
    options = re2.Options()
    options.max_mem = _MATCHER_BYTES
    return re2.compile("|".join(f"(?:{part})" for part in parts), options=options)


@lru_cache(maxsize=8)
def _compile_utf8(parts: tuple[str, ...]) -> "re2._Regexp[bytes]":
    """The same for encoded texts, in which positions do not matter. A process has several redactors that are equal."""
    options = re2.Options()
    options.max_mem = _MATCHER_BYTES
    return re2.compile("|".join(f"(?:{part})" for part in parts).encode(), options=options)


def _compile_bytes(pattern: str) -> "re2._Regexp[bytes]":
    """For texts of which each character is one byte, so that positions are those of characters."""
    options = re2.Options()
    options.max_mem = _MATCHER_BYTES
    options.encoding = re2.Options.Encoding.LATIN1
    return re2.compile(pattern.encode("latin-1"), options=options)


@cache
def _shapes() -> "re2._Regexp[bytes]":
    tokens = "|".join(f"(?:{shape})" for shape in (AWS_PAIR, *SHAPES.values()))
    parts = (PLACEHOLDER, rf"(?:\b|_)(?:{tokens})", *url_passwords.PATTERNS)
    return _compile_bytes("|".join(f"(?:{part})" for part in parts))


@cache
def _assigned() -> "re2._Regexp[bytes]":
    return _compile_bytes("|".join(f"(?:{part})" for part in (PLACEHOLDER, *assignments.PATTERNS)))


@cache
def _kinds() -> "re2.Set":
    options = re2.Options()
    options.encoding = re2.Options.Encoding.LATIN1
    kinds = re2.Set.FullMatchSet(options)
    for shape in SHAPES.values():
        kinds.Add(shape.encode())
    kinds.Compile()
    return kinds


def find_kind(secret: str) -> str | None:
    """The known shape that a secret has, so that it looks the same however it was found."""
    found: list[int] = _kinds().Match(secret.encode("latin-1", "replace"))
    if found:
        return tuple(SHAPES)[min(found)]
    return "private_key" if secret.startswith("-----BEGIN ") and "PRIVATE KEY" in secret else None


def _checked(pattern: str) -> str:
    options = re2.Options()
    options.log_errors = False
    try:
        compiled = re2.compile(pattern, options=options)
    except re2.error as error:
        reason = error.args[0].decode() if isinstance(error.args[0], bytes) else str(error)
        raise _invalid(pattern, f"cannot be read: {reason}") from error
    if compiled.groupindex:
        raise _invalid(pattern, "names a group, which is not allowed")
    if compiled.search("") is not None:
        raise _invalid(pattern, "matches the empty string, and so every text")
    return pattern


def _invalid(pattern: str, reason: str) -> InvalidSetting:
    return InvalidSetting(
        f"the pattern {pattern!r} in redaction.patterns {reason}",
        field="redaction.patterns",
        value=pattern,
        fix="write an RE2 regular expression that matches only the secret",
    )
