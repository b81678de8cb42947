"""Recalling: a short answer to a question from what is on record, or nothing.

It searches like everybody, keeps only relevant hits, and quotes them within a number of bytes. What ended an error, how
a tool is used and which files belong to a topic are read from recorded commands, results and edits.
"""

import posixpath
import re

from msgspec.structs import replace

from ramet.engine.answers import answers
from ramet.engine.memory import places
from ramet.engine.memory.search import search as searches
from ramet.engine.record import lookup
from ramet.engine.transaction import Transaction
from ramet.errors import Forbidden, IndexDamaged, InvalidParams
from ramet.model.history.commit import estimate_tokens
from ramet.model.instant import to_iso
from ramet.model.memory.recollection import Recollection, clip, inject, parse_place, render
from ramet.model.memory.relevance import WeighedWord, Weighing
from ramet.model.memory.search import search_query, tool_records
from ramet.model.memory.search.hit import Hit, Kind
from ramet.model.memory.search.search_query import SearchQuery
from ramet.protocol.memory.recall import Recall, Recalled
from ramet.store.database.connection import Connection
from ramet.store.memory import chunks, recollections
from ramet.store.memory.index.index_reader import Filters
from ramet.store.memory.recollections import Fixed, Step
from ramet.store.record import efforts

_MOST_HITS = 16
"""That are looked at; a page beyond them is not relevant."""
_MOST_WEIGHED = 12
_MOST_POSTINGS = 3000
_LEAST_ASKED = 2
_MOST_WORDS = 16
"""Of a question that are looked for in each hit."""
_MOST_ITEMS = 8
_MOST_OF_A_SESSION = 2
_MOST_COMMANDS = 20
_MOST_FILES = 30
_MOST_TOPIC_SESSIONS = 10
_MOST_FIXES = 5
_MOST_STEPS = 6
_LONGEST_QUESTION = 4000
"""Characters. What a longer text is about is in its beginning."""
_LONGEST_QUOTE = 700
_LONGEST_STEP = 200
_PARTS = re.compile(r"&&|\|\|?|;")
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=\S*")
_BEFORE_TOOL = ("sudo", "env", "time", "exec")


@answers(Recall)
def recall(tx: Transaction, request: Recall) -> Recalled:
    """The operation `memory.recall`."""
    if not request.query.strip():
        raise InvalidParams("the question is empty", field="query", value="", fix="give words, an error or a place")
    project_id = _find_project(tx, request)
    place = parse_place(request.query) if request.mode == "recall" else None
    if place is not None:
        items = places.open_place(tx, place, project_id)
        return _reply(render(items, request.max_bytes, by_time=True), items)
    try:
        items = _MODES[request.mode](Question(tx, request, project_id))
    except IndexDamaged:
        tx.index.is_damaged = True  # its writer makes a new one
        items = []
    return _reply((inject if request.is_hint else render)(items, request.max_bytes), items)


def _reply(text: str, items: list[Recollection]) -> Recalled:
    return Recalled(text=text, items=items if text else [], tokens=estimate_tokens(text))


def _find_project(tx: Transaction, request: Recall) -> int | None:
    """The only project whose history the asker gets; None for every project."""
    named = lookup.project_id(tx, request.project)  # which refuses an agent that names another one
    if request.session_id is not None:
        session = lookup.session(tx, request.session_id)
        if tx.asker not in (None, session.id):
            raise Forbidden(
                f"session {tx.asker} cannot ask as session {session.id}", field="session_id", value=session.id
            )
        return efforts.project_of(tx.db, session.effort_id)
    if tx.asker is not None:
        return efforts.project_of(tx.db, lookup.session(tx, tx.asker).effort_id)
    return named


class Question:
    """A question on its way through the index."""

    def __init__(self, tx: Transaction, request: Recall, project_id: int | None) -> None:
        self.tx = tx
        self.text = request.query[:_LONGEST_QUESTION]
        self.project_id = project_id
        self.is_hint = request.is_hint
        self.own_session = None if request.session_id is None else lookup.session(tx, request.session_id).id
        self.query = search_query.parse_plain(self.text)
        if tx.index.freshen is not None and not self.is_hint:
            tx.index.freshen(tx.db)  # once, and never for a hook, which must not wait
        self.index: Connection | None = tx.index.reader()

    def search(self, kind: Kind | None = None) -> list[Hit]:
        """The relevant hits, best first; what the asker said itself is none."""
        if not self.query.terms:
            return []
        weighing = self._weigh()
        filters = Filters(project_id=self.project_id, kind=kind)
        hits = searches.find(self.tx, self._narrow(weighing), filters, _MOST_HITS, freshens=False).items
        others = [hit for hit in hits if hit.session_id is None or hit.session_id != self.own_session]
        return [
            hit
            for hit in others[:_MOST_WEIGHED]
            if weighing.is_relevant(hit.rung, self._find_words(hit, weighing), is_hint=self.is_hint)
        ]

    def _weigh(self) -> Weighing:
        """The rarest words of the question, with how many texts have each."""
        if self.index is None:
            return Weighing([], 0)
        matches = [term.match for term in self.query.terms]
        words = [WeighedWord(match, recollections.count_texts(self.index, match)) for match in matches]
        rarest = sorted(words, key=lambda word: word.texts)[:_MOST_WORDS]
        return Weighing(rarest, recollections.count_all(self.index))

    def _narrow(self, weighing: Weighing) -> SearchQuery:
        """The question without its common words: what has only these is not relevant, and to rank it takes long."""
        kept: set[str] = set()
        postings = 0
        for word in weighing.words:  # the rarest first
            postings += word.texts
            if len(kept) >= _LEAST_ASKED and postings > _MOST_POSTINGS:
                break
            kept.add(word.match)
        return replace(self.query, terms=[term for term in self.query.terms if term.is_phrase or term.match in kept])

    def _find_words(self, hit: Hit, weighing: Weighing) -> set[str]:
        """Which words of the question a hit has, or the unit that it belongs to."""
        matches = [word.match for word in weighing.words]
        if self.index is None:
            return set()
        doc = recollections.find_doc(self.index, hit.session_id, hit.message_id, hit.place)
        if doc is None:  # a title or a goal, of which the snippet is the whole
            shown = hit.snippet.lower()
            return {match for match in matches if match.strip('"').lower() in shown}
        return recollections.find_words(self.index, doc, matches)


def _find(question: Question) -> list[Recollection]:
    """What is known about something: the best places, few of each session, and the same text once. A report is often
    the last answer of its session, too.
    """
    found: dict[str, Recollection] = {}
    often: dict[int | None, int] = {}
    for hit in question.search():
        often[hit.session_id] = often.get(hit.session_id, 0) + 1
        if hit.session_id is None or often[hit.session_id] <= _MOST_OF_A_SESSION:
            quote = _quote(question, hit)
            found.setdefault(" ".join(quote.text.split()), quote)
    return list(found.values())[:_MOST_ITEMS]


def _quote(question: Question, hit: Hit) -> Recollection:
    """A hit with more around it than its snippet, because the asker cannot see the rest."""
    doc = None
    if question.index is not None:
        doc = recollections.find_doc(question.index, hit.session_id, hit.message_id, hit.place)
    text = hit.snippet if doc is None else _around(doc.unpack(question.tx.codec), hit.snippet)
    document = chunks.find(question.tx.db, int(hit.place[1:])) if hit.kind == "chunk" else None
    return Recollection(
        place=hit.place,
        kind=hit.kind if document is None else document.source_type,
        time=hit.time,
        text=text,
        agent=hit.agent,
        title=hit.title if document is None else document.source_path,
        exit_status=hit.exit_status,
    )


def _around(whole: str, snippet: str) -> str:
    if len(whole) <= _LONGEST_QUOTE:
        return whole
    at = whole.find(snippet.strip("… \n")[:40])
    if at < 0:
        return snippet
    start = max(0, at - _LONGEST_QUOTE // 4)
    cut = whole[start : start + _LONGEST_QUOTE]
    return f"{'… ' if start else ''}{cut}{' …' if start + _LONGEST_QUOTE < len(whole) else ''}"


def _fix(question: Question) -> list[Recollection]:
    """What ended an error before: what was done between the failure and the success of the same command."""
    if question.index is None:
        return []
    line = tool_records.find_error_line(question.text) or question.text
    fixed = recollections.list_fixed(question.index, tool_records.sign(line), question.project_id, _MOST_HITS)
    if not fixed:
        failures = [(hit.session_id, hit.message_id) for hit in question.search("error")]
        candidates = (recollections.find_fixed(question.index, *failure) for failure in failures)
        fixed = [each for each in candidates if each is not None]
    described = {each.id: _describe_fix(question, each) for each in fixed}
    unique = {each.text: each for each in described.values()}
    return list(unique.values())[:_MOST_FIXES]


def _describe_fix(question: Question, fixed: Fixed) -> Recollection:
    assert question.index is not None  # noqa: S101
    steps = recollections.list_steps(question.index, question.tx.codec, fixed, _MOST_STEPS)
    status = "" if fixed.exit_status is None else f" (exit {fixed.exit_status})"
    lines = [
        *([f"error: {fixed.error_line}"] if fixed.error_line else []),
        f"failed: {_one_line(fixed.command)}{status}",
        *(_describe_step(step) for step in steps),
        f"worked: {_one_line(fixed.worked)}",
    ]
    return Recollection(
        place=f"s{fixed.session_id}:{fixed.message_id}",
        kind="fix",
        time=to_iso(fixed.success_ms),
        text="\n".join(lines),
    )


def _describe_step(step: Step) -> str:
    did = "edited" if step.kind == "edit" else "tried" if step.has_failed else "ran"
    text = step.text.partition("\n")[0] if step.kind == "edit" else step.text
    return f"{did}: {_one_line(text)}"


def _one_line(text: str) -> str:
    return clip(" ".join(text.split()), _LONGEST_STEP)


def _how(question: Question) -> list[Recollection]:
    """The commands of a tool that worked."""
    words = question.text.split()
    match = " AND ".join(term.match for term in question.query.terms)
    if question.index is None or not match:
        return []
    within = "zkcommand" if question.project_id is None else f"zkcommand AND zp{question.project_id}"
    match = f"text : ({match}) AND scope : ({within})"
    runs = recollections.list_worked(question.index, match, question.project_id, 10 * _MOST_COMMANDS)
    return [
        Recollection(
            place=f"s{run.session_id}:{run.message_id}",
            kind="command",
            time=to_iso(run.time_ms),
            text=run.command,
            exit_status=0 if run.exit_status is None else run.exit_status,
            times=run.times,
        )
        for run in runs
        if is_use_of(run.command, words)
    ][:_MOST_COMMANDS]


def is_use_of(command: str, words: list[str]) -> bool:
    """Whether a command line runs a tool: `docker` is run by `cd a && docker ps`, and not by `grep docker file`."""
    for part in _PARTS.split(command):
        parts = part.split()
        while parts and (parts[0] in _BEFORE_TOOL or _ASSIGNMENT.fullmatch(parts[0])):
            parts = parts[1:]
        is_tool = bool(parts) and posixpath.basename(parts[0]) == posixpath.basename(words[0])
        if is_tool and all(word in parts for word in words[1:]):
            return True
    return False


def _files(question: Question) -> list[Recollection]:
    """The files that sessions about a topic touched."""
    sessions = dict.fromkeys(hit.session_id for hit in question.search() if hit.session_id is not None)
    chosen = list(sessions)[:_MOST_TOPIC_SESSIONS]
    if question.index is None or not chosen:
        return []
    return [
        Recollection(
            place=f"s{each.session_id}:{each.message_id}" if each.message_id else f"s{each.session_id}",
            kind="edited" if each.is_edited else "read",
            time=to_iso(each.time_ms),
            text=each.path,
            times=each.sessions,
        )
        for each in recollections.list_touched(question.index, chosen, _MOST_FILES)
    ]


_MODES = {"recall": _find, "fix": _fix, "how": _how, "files": _files}
