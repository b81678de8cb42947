"""The ladder: how a query is asked, from the strictest form to the loosest, until a page is full.

Each rung asks for texts and for units and fuses the two rankings. What costs is the number of postings that the index
has to read, not the number of hits; so a loose rung asks only for the rare words of a query, up to a budget. That makes
the answer the same on a slow machine and on a fast one.
"""

from collections.abc import Callable, Iterator

from msgspec import Struct

from ramet.model.memory.search import misspelt_words
from ramet.model.memory.search.fusion import Signals, fuse, place_key, rank_sessions
from ramet.model.memory.search.hit import TOOL_KINDS, Rung
from ramet.model.memory.search.search_query import SearchQuery, Term, quoted
from ramet.model.memory.search.tool_records import is_error_like, sign
from ramet.store.memory.index.index_reader import Filters, IndexReader, Ranked, Table

MOST_COUNTED = 8_000
"""A word in as many texts is common, however many more have it."""
_POSTINGS = 16_000
"""How many postings the words that rank may have together. To rank by a word, all of its postings are read."""
_MOST_RANKED = 2000
"""How many texts a question may rank. Each needs its length, which is elsewhere in the file: that is what costs."""
_WIDESPREAD = 5000
"""A word in more texts says little about a session."""
_DEPTH = 100
"""How many places a rung looks at, at least."""
_MOST_DROPPED = 2
_LEAST_KEPT = 2
_SHORTEST_PREFIX = 4
_PER_SESSION = 3
"""How many hits of one session stand before those of others."""

Semantic = Callable[[str, Filters, int], list[Ranked]]
"""Finds texts by their meaning: the query, the filters and how many; best first."""


class Found(Struct, frozen=True):
    """A place that answers a query, and by which rung it was found."""

    ranked: Ranked
    rung: Rung
    score: float
    is_unit: bool
    """Whether only the unit matched, so that the text in it is still to be chosen."""


class Climb(Struct, kw_only=True):
    """What the ladder gave."""

    found: list[Found] = []
    dropped: list[str] = []
    corrected: dict[str, str] = {}
    """Misspelt words, and what was looked for instead."""
    prefixes: list[str] = []


class Counted(Struct, frozen=True):
    """A term, and in how many texts it is."""

    term: Term
    texts: int


class Ladder:
    """One query on its way down."""

    def __init__(
        self,
        reader: IndexReader,
        query: SearchQuery,
        filters: Filters,
        signals: Signals,
        semantic: Semantic | None = None,
    ) -> None:
        self.reader = reader
        self.query = query
        self.filters = filters
        self._signals = signals
        self._semantic = semantic
        self._in_tools = filters.kind in TOOL_KINDS
        self._result = Climb()
        self._sessions: dict[int, int] = {}
        self._seen: set[tuple[str, int]] = set()

    def climb(self, wanted: int) -> Climb:
        """Places for a page, those of a stricter rung first."""
        result = self._result
        if not self.query.terms:
            newest = self.reader.newest(self.filters, wanted)
            result.found = [Found(each, "all", 0.0, is_unit=False) for each in newest]
            return result
        counted = self._count()
        if not self._in_tools:
            self._sessions = self._rank_sessions(counted)
        rungs = (
            self._strict,
            self._without_common,
            self._rare,
            self._forms,
            self._parts,
            self._errors,
            self._by_meaning,
        )
        for rung in rungs:
            for found in rung(counted, max(wanted, _DEPTH)):
                key = place_key(found.ranked)
                if key not in self._seen:
                    self._seen.add(key)
                    result.found.append(found)
            if len(result.found) >= wanted:
                break
        result.found = _spread(result.found, is_spread=self.filters.session_id is None)
        return result

    def _count(self) -> list[Counted]:
        """The terms of the query, the rarest first."""
        return sorted((self._counted(term) for term in self.query.terms), key=lambda each: each.texts)

    def _counted(self, term: Term) -> Counted:
        return Counted(term, self.reader.count(term.match, MOST_COUNTED, in_tools=self._in_tools))

    def _rank_sessions(self, counted: list[Counted]) -> dict[int, int]:
        """The sessions by the words that they have anywhere. Common words say little, and have many postings."""
        asked = [each.term.match for each in counted if 0 < each.texts <= _WIDESPREAD]
        having = [self.reader.having(match, _WIDESPREAD) for match in asked]
        return rank_sessions(having, self.reader.count_sessions())

    # The rungs.

    def _strict(self, counted: list[Counted], depth: int) -> Iterator[Found]:
        rung: Rung = "phrase" if self.query.phrases else "all"
        if all(each.texts for each in counted):
            yield from self._ask_all(counted, rung, depth)

    def _without_common(self, counted: list[Counted], depth: int) -> Iterator[Found]:
        """All words that are known but the commonest one or two."""
        known = [each for each in counted if each.texts]
        for dropped in range(0 if len(known) < len(counted) else 1, _MOST_DROPPED + 1):
            kept = known[: len(known) - dropped]
            left_out = [each.term for each in known[len(known) - dropped :]]
            if len(kept) < _LEAST_KEPT or any(term.is_phrase for term in left_out):
                return
            found = list(self._ask_all(kept, "most", depth))
            if found:
                self._result.dropped = [each.term.text for each in counted if each not in kept]
                yield from found
                return

    def _rare(self, counted: list[Counted], depth: int) -> Iterator[Found]:
        """Any of the rare words."""
        known = [each for each in counted if each.texts]
        chosen = _first(known, _MOST_RANKED)
        required = [f"({term.match})" for term in self.query.phrases]
        if chosen:
            loose = " OR ".join(each.term.match for each in chosen)
            yield from self._ask(" AND ".join([*required, f"({loose})"]), "some", depth)
        elif known:
            yield from self._scan(" AND ".join([*required, f"({known[0].term.match})"]), "some", depth)

    def _forms(self, counted: list[Counted], depth: int) -> Iterator[Found]:
        """Words that begin like those of the query; and for a word that nothing has, the nearest one."""
        if len(self._result.found) >= depth:
            return
        forms = []
        for each in counted:
            corrected = None if each.texts or each.term.is_phrase else self._correct(each.term)
            if corrected is not None:
                forms.append(self._counted(Term(each.term.text, quoted(corrected))))
            elif each.term.is_phrase or len(each.term.text) < _SHORTEST_PREFIX or " " in each.term.text:
                forms.append(each)
            else:
                self._result.prefixes.append(each.term.text)
                forms.append(self._counted(Term(each.term.text, f"({each.term.match} OR {quoted(each.term.text)}*)")))
        if all(each.texts for each in forms):
            yield from self._ask_all(sorted(forms, key=lambda each: each.texts), "forms", depth)

    def _correct(self, term: Term) -> str | None:
        tokens = self.reader.tokenize(term.text)
        stem = tokens[0].stem if len(tokens) == 1 else ""
        if not misspelt_words.allowed_edits(stem):
            return None
        found = self._nearest(stem, misspelt_words.prefixes(stem))
        found = found or self._nearest(stem, misspelt_words.other_beginnings(stem))
        if found is not None:
            self._result.corrected[term.text] = self.reader.spell(found)
        return found

    def _nearest(self, stem: str, beginnings: list[str]) -> str | None:
        known = [word for start in beginnings for word in self.reader.similar(start, start + "\U0010ffff")]
        return misspelt_words.best(stem, known)

    def _parts(self, counted: list[Counted], depth: int) -> Iterator[Found]:
        """A word that nothing has may be a part of a path, of an error line or of an identifier."""
        for each in counted:
            if not each.texts and not each.term.is_phrase:
                for ranked in self.reader.named(each.term.text, self.filters, depth):
                    yield Found(ranked, "part", 0.0, is_unit=False)

    def _errors(self, counted: list[Counted], depth: int) -> Iterator[Found]:  # noqa: ARG002
        """Commands that failed with this error."""
        text = self.query.text
        if is_error_like(text):
            for ranked in self.reader.failed_with(sign(text), self.filters, depth):
                yield Found(ranked, "error", 0.0, is_unit=False)

    def _by_meaning(self, counted: list[Counted], depth: int) -> Iterator[Found]:  # noqa: ARG002
        if self._semantic is not None and self.query.text.strip():
            for ranked in self._semantic(self.query.text, self.filters, depth):
                yield Found(ranked, "semantic", 0.0, is_unit=False)

    # Asking.

    def _ask_all(self, counted: list[Counted], rung: Rung, depth: int) -> Iterator[Found]:
        """The places that have all of some terms, ranked by the rare ones."""
        everything = " AND ".join(each.term.match for each in counted)
        ranking = _first([each for each in counted if each.texts < MOST_COUNTED], _POSTINGS)
        if not ranking or ranking[0].texts > _MOST_RANKED:
            yield from self._scan(everything, rung, depth)
        elif len(ranking) < len(counted):
            match = " AND ".join(each.term.match for each in ranking)
            yield from self._ask(match, rung, depth, everything)
        else:
            yield from self._ask(everything, rung, depth)

    def _ask(self, match: str, rung: Rung, depth: int, required: str | None = None) -> Iterator[Found]:
        yield from self._fused(lambda table: self.reader.rank(table, match, self.filters, depth, required), rung)

    def _scan(self, match: str, rung: Rung, depth: int) -> Iterator[Found]:
        """Of words that are too common to rank by."""
        yield from self._fused(lambda table: self.reader.scan(table, match, self.filters, depth), rung)

    def _fused(self, ask: Callable[[Table], list[Ranked]], rung: Rung) -> Iterator[Found]:
        """The places that match, best first by both rankings."""
        ranked_texts = ask("tools" if self._in_tools else "texts")
        ranked_units = [] if self._in_tools else ask("units")
        texts: dict[tuple[str, int], Ranked] = {}
        for ranked in ranked_texts:
            texts.setdefault(place_key(ranked), ranked)
        units = {place_key(ranked): ranked for ranked in ranked_units}
        scores = fuse(ranked_texts, ranked_units, self._sessions, self._signals)
        for key, score in sorted(scores.items(), key=lambda each: (-each[1], each[0])):
            yield Found(texts.get(key) or units[key], rung, score, is_unit=key not in texts)


def _first(counted: list[Counted], most: int) -> list[Counted]:
    """The rarest terms, as long as they have no more postings together. They come sorted."""
    chosen: list[Counted] = []
    postings = 0
    for each in counted:
        postings += each.texts
        if postings > most:
            break
        chosen.append(each)
    return chosen


def _spread(found: list[Found], *, is_spread: bool) -> list[Found]:
    """The same, with no more than a few of one session before those of others."""
    if not is_spread:
        return found
    counts: dict[int | None, int] = {}
    first: list[Found] = []
    later: list[Found] = []
    for each in found:
        session_id = each.ranked.session_id
        counts[session_id] = counts.get(session_id, 0) + 1
        is_first = session_id is None or counts[session_id] <= _PER_SESSION
        (first if is_first else later).append(each)
    return first + later
