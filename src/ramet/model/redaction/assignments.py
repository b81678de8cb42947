"""Secrets that belong to a name: in code, `.env`, YAML, JSON, XML, headers, queries and command lines.

RE2 finds the places where a name ends and its value starts. How far the value reaches is read from there: a quoted
value ends at a quote that is escaped no more than its first, so JSON in JSON in a log is read right.
"""

import re
from collections.abc import Iterable, Iterator
from functools import cache
from typing import NamedTuple

from ramet.model.redaction.secret_names import Strength, strength
from ramet.model.redaction.secret_values import Place, is_secret

# A repetition with a bound makes a matcher count, which takes room; so bounds are only where no character ends one.
_LONG = r"(?:pass(?:w(?:or)?d|wort|phrase|code)|secret|token|credential|api[_.-]?key|connection[_.-]?string)"
_SHORT = (
    r"(?:pass|pwd|pw|key|auth(?:orization)?|cookie|session|sid|jwt|bearer|sig(?:nature)?|salt|csrf|xsrf|dsn|otp|pat"
    r"|pin|sas|creds?|licen[sc]e)"
)
_NAME = rf"(?i:{_LONG}[A-Za-z0-9_.-]*|{_SHORT}[0-9]*(?:[_.-][A-Za-z0-9_.-]*)?)"
_QUOTE = r"\\*[\"'`]?"
_CLOSING = r"\\*[\"'`\])]*"
_EQUALS = r"[ \t]*(?::[ \t]*[A-Za-z_](?:[A-Za-z0-9_.\[\]|<> ]| & ){0,40}=|=>|:=|=+|:)[ \t]*"
_SCHEME = r"(?i:bearer|basic|token|apikey|ssws|digest|bot|splunk)"

PATTERNS = (
    rf"<[A-Za-z0-9_.:-]*{_NAME}(?:[ \t][^<>\n]*)?>",
    rf"\B--?[A-Za-z-]*{_NAME}(?:[ \t]+|\\*[\"'],[ \t]*)",
    rf"{_NAME}\([ \t]*",
    rf"{_NAME}{_QUOTE}[ \t]*[,;]?\s*{_QUOTE}(?i:value){_CLOSING}{_EQUALS}",
    rf"{_NAME}{_CLOSING}{_EQUALS}",
    r"(?i:\blogin[ \t]+)\S{1,100}\s+(?i:password[ \t]+)",
    rf"\b{_SCHEME}[ \t]+",
    rf"(?i:\b(?:curl|wget|https?|xh)[ \t])[^\n|;]{{0,200}}?(?:-u|--user)[ \t=]*{_QUOTE}[^\s:\"'@/\\]+:",
    rf"[A-Za-z_][A-Za-z0-9_.-]*{_CLOSING}[ \t]*(?:=>|:=|=|:)[ \t]*{_QUOTE}[A-Za-z0-9+/_~-]{{20}}",
)
"""A name up to its value, as RE2 patterns: an element, an option, a call, a pair of name and value, a sign; `.netrc`,
a scheme, a login; and any name with a long value, which is matched up to where that is long.
"""

HINTS = (
    rf"{_NAME}(?:{_CLOSING}[ \t]*[:=]|\(|{_QUOTE}[ \t]*[,;]?\s*{_QUOTE}(?i:value))",
    rf"\B--?[A-Za-z-]*{_NAME}(?:[ \t]|\\*[\"'],)",
    rf"<[A-Za-z0-9_.:-]*{_NAME}[ \t>]",
    rf"\b{_SCHEME}[ \t]+[A-Za-z0-9_.~+/=-]{{8}}",
    r"(?:-u|--user)[ \t=]",
    rf"[=:][ \t]*{_QUOTE}[A-Za-z+/_~-]*[0-9][A-Za-z0-9+/_~-]{{8}}",
    r"(?i:\blogin[ \t])",
)
"""What at least is in a text that holds one."""

_LONGEST = 500
"""A longer value is no secret but data."""
_NAME_CHARACTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.$-"


class Assigned(NamedTuple):
    """A secret that is a value: where it is, what it is without its escapes, and by which kind of rule it was found."""

    start: int
    end: int
    secret: str
    kind: str


class _Value(NamedTuple):
    start: int
    end: int
    place: Place


@cache
def _pattern(name: str) -> re.Pattern[str]:
    return re.compile(_READ[name])


_READ = {
    "name": r"[A-Za-z0-9_.$-]{1,100}",
    "sign": r"[A-Za-z0-9_.-]+\\*[\"'`\])]*[ \t]*(?:=>|:=|=|:)[ \t]*",
    "login": r"(?i:curl|wget|https?|xh)[ \t].*[ \t](?:-u|--user)",
    "quote": r"[bBrRuUfF@$]{0,2}(\\{0,8})([\"'`])(?:\2\2(?=[^\"'`]))?",
    "escape": r"\\+([\"'\\/`])",
    # To the next space or quote, or to what starts another name.
    "bare": (
        r"(?:[^\s\"'`;,&<>=]|=(?=[=\s\"'`;,&<>)\]}]|$)"
        r"|[;,](?=[^\s\"'`;,<>])(?![A-Za-z_ .-]{1,40}=)|&(?![A-Za-z_.-]{1,40}=))+"
    ),
    # Without a digit to the next space, only a password can be meant.
    "code": r"[^0-9\s]*(?:\s|$)",
    "next": r"[ \t]+[A-Za-z_.]+=[^=\s]",
    "line": r"[^\n\r]{0,1001}",
    # What may be before a name that has a line of its own.
    "head": r"[ \t]*(?:[-+>*][ \t]+)?(?:export[ \t]+|set[ \t]+|ENV[ \t]+|ARG[ \t]+)?[\"']?",
    "token": r"[A-Za-z0-9_.~+/=:-]{8,4000}",
}


def find(text: str, matches: Iterable[tuple[int, int]]) -> Iterator[Assigned]:
    """The secrets behind the places that `PATTERNS` matched."""
    for start, end in matches:
        assigned = _read(text, start, end)
        if assigned is not None:
            yield assigned


def _read(text: str, start: int, end: int) -> Assigned | None:
    """What a match means, by its first and its last characters."""
    matched = text[start:end]
    match matched[0], matched.rstrip(" \t")[-1]:
        case "[", _:
            return None  # a placeholder
        case "<", _:
            return _judge(text, _name(text, start + 1), _element(text, end))
        case "-", last if last not in "=:>":
            value = _quoted(text, end) or _bare(text, end)
            # Not taken for a literal, because a sentence about an option has a word behind it.
            return _judge(text, _name(text, start), value and value._replace(place=Place.FIELD))
        case _, "(":
            return _judge(text, _name(text, start), _quoted(text, end))
        case _, ":" if _pattern("login").match(matched):
            return _judge(text, "password", _literal(text, end))
        case _, "=" | ":" | ">":
            return _named(text, start, end)
    if sign := _pattern("sign").match(matched):
        return _named(text, start, start + sign.end())
    return _scheme(text, start, end)


def _named(text: str, start: int, end: int) -> Assigned | None:
    """What belongs to the name at `start`, behind its sign, which is before `end`."""
    name = _name(text, start)
    if text[max(start - 70, 0) : start].rstrip(_NAME_CHARACTERS).endswith(("::", "//")):
        return None  # the name of a type or of a host
    return None if strength(name) is Strength.NEVER else _judge(text, name, _value(text, name, start, end))


def _judge(text: str, name: str, value: _Value | None) -> Assigned | None:
    if value is None:
        return None
    secret, named = text[value.start : value.end], strength(name)
    if "\\" in secret:
        secret = _pattern("escape").sub(r"\1", secret)
    if not is_secret(secret, named, value.place):
        return None
    return Assigned(value.start, value.end, secret, "entropy" if named is Strength.NONE else "keyword")


def _name(text: str, start: int) -> str:
    """The whole of a name, of which a part was matched."""
    before = text[max(start - 60, 0) : start]
    rest = _pattern("name").match(text, start)
    return before[len(before.rstrip(_NAME_CHARACTERS)) :] + (rest.group() if rest else "")


def _value(text: str, name: str, start: int, end: int) -> _Value | None:
    """What follows a sign. Code is passed over as soon as it can be no secret, because names are mostly in code."""
    quoted = _quoted(text, end)
    if quoted is not None or (strength(name) is not Strength.STRONG and _pattern("code").match(text, end)):
        return quoted
    return _of_line(text, name, start, end) or _inline(text, name, start, end)


def _quoted(text: str, start: int) -> _Value | None:
    """To the first quote of this kind that is escaped no more than the opening one."""
    opening = _pattern("quote").match(text, start)
    if opening is None:
        return None
    first, quote, escapes = opening.end(), opening.group(2), len(opening.group(1))
    find = _closing(quote, escapes)
    closing = (find.search if escapes else find.match)(text, first, first + _LONGEST)
    return _Value(first, closing.start(1), Place.QUOTED) if closing and closing.start(1) > first else None


@cache
def _closing(quote: str, escapes: int) -> re.Pattern[str]:
    if escapes:
        return re.compile(rf"(?<!\\)(\\{{0,{escapes}}}{quote})")
    return re.compile(rf"[^{quote}\\]*(?:\\.[^{quote}\\]*)*({quote})", re.DOTALL)


def _of_line(text: str, name: str, start: int, end: int) -> _Value | None:
    """The rest of a line that has nothing but a name and its value: YAML, a header, Java's properties."""
    line = text.rfind("\n", max(start - 100, 0), start) + 1
    if line == 0 and start > 100:
        return None
    head = _pattern("head").match(text, line)
    if head is None or not text.startswith(name, head.end()):
        return None
    rest = _pattern("line").match(text, end)
    value = (rest.group() if rest else "").partition(" #")[0].strip()
    if not value or any(character.isspace() for character in value) or value[-1] in ",;{([|>":
        return None
    is_property = text[end - 1] == "=" and "." in name and not name.startswith(("self.", "this."))
    is_field = text[start:end].rstrip().endswith(":")
    if name.isupper() and text[end - 1] == "=":
        return _Value(end, end + len(value), Place.LITERAL)
    return _Value(end, end + len(value), Place.FIELD) if is_field or is_property else None


def _bare(text: str, start: int) -> _Value | None:
    found = _pattern("bare").match(text, start, start + _LONGEST)
    if found is None:
        return None
    value = found.group().rstrip(".;,)]}\\|:")
    return _Value(start, start + len(value), Place.BARE) if value else None


def _literal(text: str, start: int) -> _Value | None:
    """The same where no code can be."""
    value = _bare(text, start)
    return value and value._replace(place=Place.LITERAL)


def _inline(text: str, name: str, start: int, end: int) -> _Value | None:
    """A value without quotes in the middle of a line. With no space at its sign, it is what a shell, a query, a log or
    a connection string says, unless a comma or a bracket follows it as in code.
    """
    value = _bare(text, end)
    if value is None or text[end - 1] != "=" or text[end - 2] in " \t=!<>":
        return value
    before, after = text[start - len(name) : start][-1:] or text[start - 1 : start], text[value.end : value.end + 2]
    is_shell = name.isupper() or name.startswith("-") or before in ("?", "&", ";") or after[:1] in ("&", ";")
    is_log = _pattern("next").match(text, value.end) is not None
    return value._replace(place=Place.LITERAL) if (is_shell or is_log) and after[:1] not in (",", ")", "(") else value


def _element(text: str, start: int) -> _Value | None:
    end = text.find("<", start, start + _LONGEST)
    return _Value(start, end, Place.QUOTED) if end > start else None


def _scheme(text: str, start: int, end: int) -> Assigned | None:
    """What follows the name of a scheme: in a header any credential, elsewhere only what is random. Or the last word
    of `login … password …`, as in `.netrc`.
    """
    if text[start : start + 5].lower() == "login":
        return _judge(text, "password", _literal(text, end))
    found = _pattern("token").match(text, end)
    if found is None:
        return None
    value = found.group().rstrip(".:")
    is_header = "authorization" in text[max(start - 30, 0) : start].lower()
    named = Strength.STRONG if is_header else Strength.WEAK
    if len(value) < (8 if is_header else 20) or not is_secret(value, named, Place.QUOTED):
        return None
    return Assigned(end, end + len(value), value, "authorization")
