"""A query as people type it: words, quoted phrases and filters, and what of it the index is asked.

Nothing that is typed is syntax of the index: every word is quoted before it gets there. So unbalanced quotes, operators
and symbols are only text.
"""

import re

from msgspec import Struct

from ramet.errors import InvalidParams, UnknownFilter
from ramet.model.memory.search.words import STOP_WORDS, is_humped, pair_characters, split_identifier, split_scripts

FILTERS = ("agent", "kind", "path", "project", "role", "session", "since")

LONGEST_QUERY = 20_000
"""Characters. A longer text is no query; what it is about is in its beginning."""
MOST_TERMS = 32

_PIECE = re.compile(r'(?P<filter>(?<!\S)[A-Za-z_]+):(?:"(?P<quoted>[^"]*)"|(?P<value>[^\s"]+))|"(?P<phrase>[^"]+)"|\S+')
_WORDS = re.compile(r"\w+")
_INNER = re.compile(r"[^\W_]+(?:[^\w\s]+[^\W_]+|_+[^\W_]+)*")
_AGE = re.compile(r"(\d{1,6})([mhdw])")
_SECONDS = {"m": 60, "h": 3600, "d": 86_400, "w": 604_800}


class Term(Struct, frozen=True):
    """One word of a query, or one quoted phrase."""

    text: str
    match: str
    """How the index is asked for it."""
    is_phrase: bool = False


class SearchQuery(Struct, frozen=True, kw_only=True):
    """What was asked."""

    text: str
    """The query without its filters."""
    terms: list[Term]
    filters: dict[str, str]

    @property
    def phrases(self) -> list[Term]:
        """The quoted ones, which are never left out."""
        return [term for term in self.terms if term.is_phrase]


def parse(typed: str) -> SearchQuery:
    """Read a query. A filter that does not exist is an error that names those that do."""
    typed = typed[:LONGEST_QUERY].replace("\0", " ")
    filters: dict[str, str] = {}
    rest: list[str] = []
    terms: dict[str, Term] = {}
    common: dict[str, Term] = {}
    for piece in _PIECE.finditer(typed):
        if piece["filter"] and _is_filter(piece):
            filters[piece["filter"].lower()] = piece["quoted"] if piece["quoted"] is not None else piece["value"]
            continue
        rest.append(piece.group())
        for term in [_phrase(piece["phrase"])] if piece["phrase"] else _words(piece.group()):
            if term is not None:
                (common if term.text.lower() in STOP_WORDS and not term.is_phrase else terms)[term.match] = term
    chosen = terms or common
    return SearchQuery(text=" ".join(rest), terms=list(chosen.values())[:MOST_TERMS], filters=filters)


def parse_plain(typed: str) -> SearchQuery:
    """Read a query that has no filters: a colon in it is only a colon."""
    return parse(typed.replace(":", " "))


def _is_filter(piece: "re.Match[str]") -> bool:
    """Whether a word with a colon is a filter. `https://…`, `std::vector` and `main.py:12` are none."""
    name, value = piece["filter"].lower(), piece["value"] or ""
    if name in FILTERS:
        return True
    if value.startswith(("/", ":", "\\")) or len(name) == 1:
        return False
    raise UnknownFilter(f"there is no filter {name}:", field="query", value=piece.group())


def _phrase(text: str) -> Term | None:
    return Term(text, quoted(text), is_phrase=True) if _WORDS.search(text) else None


def _words(text: str) -> list[Term | None]:
    """The terms of a piece between spaces: `foo/bar.py` and `a_b` are one each, because their words belong together."""
    return [_term(word) for word in _INNER.findall(text)]


def _term(word: str) -> Term:
    pieces = split_scripts(word)
    if any(is_paired for _, is_paired in pieces):
        return Term(word, " AND ".join(_paired(piece) if is_paired else quoted(piece) for piece, is_paired in pieces))
    if is_humped(word):
        return Term(word, f"({quoted(word)} OR {quoted(' '.join(split_identifier(word)))})")
    return Term(word, quoted(word))


def _paired(run: str) -> str:
    if len(run) == 1:
        return f"{quoted(run)}*"
    return f"({quoted(run)} OR {quoted(' '.join(pair_characters(run)))})"


def quoted(text: str) -> str:
    """A text that the index takes as words alone."""
    return '"' + text.replace('"', '""') + '"'


def parse_since(value: str, now_ms: int, field: str = "since") -> int:
    """The oldest time that a filter lets through, in milliseconds since 1970."""
    from datetime import UTC, datetime  # noqa: PLC0415 - only this needs it

    if age := _AGE.fullmatch(value.strip().lower()):
        return now_ms - int(age[1]) * _SECONDS[age[2]] * 1000
    try:
        day = datetime.fromisoformat(value.strip())
    except ValueError as error:
        raise InvalidParams(
            f"{field} is {value!r}, which is no time",
            field=field,
            value=value,
            fix="give an age such as 12h or 7d, or a date",
        ) from error
    return int((day if day.tzinfo else day.replace(tzinfo=UTC)).timestamp() * 1000)
