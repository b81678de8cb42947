"""Attribution: which effort, and which of its edits, a line of a file comes from. Never wrong beats attributed.

A line comes with the commit that brought it and with the text around it there. Three rules decide, and a line that none
of them covers stays unknown:

1. A commit that an effort made itself is the effort's, with all its lines.
2. A commit that was made of an effort's commits (a rebase, a squash) has lines of the effort and of others. Whether it
   was made of them shows in its message, in what a rebase keeps, or in many equal lines. Then a line counts if the
   lines around it are those of the recorded edit, too.
3. An agent that shares its checkout with a person commits nothing by itself. Its recorded edits count in any later
   commit, and before one, but only with the lines around them.

Each recorded line accounts for one line of the file. If a person types it again, repeats it elsewhere or brings back
what was deleted, the repetition is nobody's.
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

from ramet.model.memory.edit import EditMaker, RecordedEdit
from ramet.model.memory.edited_lines import Hunk, hash_line, unpack, weigh

_SLACK_MS = 999
"""git counts seconds."""
_MOST_CANDIDATES = 400
_MOST_CONTEXT = 8
_RUN_LINES = 3
_RUN_WEIGHT = 24
_LONE_WEIGHT = 12
"""What a line without any context has to say, if it is the only such line of the file."""
_TELLING_WEIGHT = 8
_BULK_LINES = 3
_BULK_WEIGHT = 40


_Strength = tuple[bool, int]
"""Whether a line stands between the recorded neighbours, and how many lines around it agree."""
_NOWHERE: _Strength = (False, 0)


class CommitFacts(NamedTuple):
    """A commit as git has it."""

    hash: str
    authored_ms: int
    committed_ms: int
    origin: str
    named: frozenset[int] = frozenset()
    """The efforts that its message names."""
    added: Mapping[int, int] = {}
    """The lines that it added anywhere, by their hashes: how much each says."""


class FileLine(NamedTuple):
    """A line of the file as it is now, and where it is in the commit that brought it."""

    number: int
    text: str
    commit: str | None
    """None for a line that no commit has."""
    path: str
    place: int


class Attributed(NamedTuple):
    """The effort that a line comes from, and the edit if it is known."""

    effort_id: int
    edit: RecordedEdit | None


class Version:
    """A text as a sequence of lines that say something."""

    def __init__(self, text: str) -> None:
        hashes = [(number, hash_line(line), line) for number, line in enumerate(text.split("\n"), 1)]
        kept = [(number, hashed, line) for number, hashed, line in hashes if hashed]
        self.hashes = [hashed for _, hashed, _ in kept]
        self.weights = [weigh(line) for _, _, line in kept]
        self.places = {number: index for index, (number, _, _) in enumerate(kept)}
        self.counts = Counter(self.hashes)


class _Fit(NamedTuple):
    """How far the text around a line agrees with a recorded edit."""

    edit: RecordedEdit
    left: int
    right: int
    is_open_left: bool
    """Whether the edit says nothing of what is further up."""
    is_open_right: bool
    weight: int
    """How much the lines say that agree."""
    size: int

    @property
    def context(self) -> int:
        return self.left + self.right

    @property
    def is_firm(self) -> bool:
        """Whether this is the place of the edit, and not another one with the same line."""
        if self.left and self.right:
            return True
        if self.context + 1 >= _RUN_LINES and self.weight >= _RUN_WEIGHT:
            return True
        return (self.is_open_left or self.is_open_right) and self.context > 0 and self.weight >= _RUN_WEIGHT


class _Claim(NamedTuple):
    """A line that may be one of an effort's. A line that was wrapped has several numbers and one place."""

    is_between: bool
    number: int
    place: int


class Attribution:
    """Everything that is known about one file."""

    def __init__(
        self,
        edits: Iterable[RecordedEdit],
        makers: Iterable[EditMaker],
        commits: Mapping[str, CommitFacts],
        own: Mapping[str, int],
        introductions: Sequence[tuple[str, Counter[int]]],
        names: Collection[str],
        now_ms: int,
    ) -> None:
        """`own`: the efforts that made commits themselves. `introductions`: what each commit of the file added more
        often than it removed, the oldest first. `names`: the names that the file has had.
        """
        self._names = names
        self._makers = {maker.effort_id: maker for maker in makers}
        self._commits = commits
        self._own = own
        self._introductions = introductions
        self._order = {commit: place for place, (commit, _) in enumerate(introductions)}
        self._now_ms = now_ms
        self._by_hash: dict[int, list[tuple[RecordedEdit, Hunk, int]]] = defaultdict(list)
        self._origins: dict[int, set[str]] = defaultdict(set)
        self._supply: Counter[tuple[int, int]] = Counter()
        """How many lines of one content an effort added to this file."""
        self._anywhere: set[tuple[int, int]] = set()
        """The contents of the lines that an effort added to any file that is known."""
        totals: dict[tuple[int, str], Counter[int]] = defaultdict(Counter)
        for edit in edits:
            if edit.effort_id in self._makers:
                self._add(edit, totals)
        for (effort_id, _), added in totals.items():
            for hashed, times in added.items():
                self._supply[effort_id, hashed] = max(self._supply[effort_id, hashed], times)
        self._landed: dict[tuple[int, str], bool] = {}
        self._lefts: dict[tuple[int, int, str | None], int] = {}

    def _add(self, edit: RecordedEdit, totals: dict[tuple[int, str], Counter[int]]) -> None:
        if edit.origin is not None:
            self._origins[edit.effort_id].add(edit.origin)
        # A later commit of an effort repeats what an earlier one added, so the most of one commit is what it has.
        # Calls that share a checkout add to each other.
        counted = (
            Counter[int]()
            if edit.path not in self._names
            else totals[edit.effort_id, f"{edit.git_commit}/{edit.part}" if edit.git_commit else ""]
        )
        for hunk in unpack(edit.lines):
            for place, line in enumerate(hunk):
                if not line.is_added:
                    continue
                # A command's lines are in the commits of its effort, or they are gone: they only name the command.
                if edit.kind != "shell":
                    counted[line.hash] += 1
                    self._anywhere.add((edit.effort_id, line.hash))
                found = self._by_hash[line.hash]
                if edit.path in self._names and len(found) < _MOST_CANDIDATES:
                    found.append((edit, hunk, place))

    def attribute(
        self, lines: Sequence[FileLine], versions: Mapping[tuple[str | None, str], Version]
    ) -> dict[int, Attributed]:
        """The lines that can be attributed, by their numbers."""
        found: dict[int, Attributed] = {}
        claims: dict[tuple[int, int, str | None], list[_Claim]] = defaultdict(list)
        for line in lines:
            version = versions.get((line.commit, line.path))
            index = None if version is None else version.places.get(line.place)
            if version is None or index is None:
                continue
            if line.commit is not None and line.commit in self._own:
                found[line.number] = self._of_effort(self._own[line.commit], line, version, index)
                continue
            attributed, strength = self._of_others(line, version, index)
            if attributed is not None:
                found[line.number] = attributed
                key = (attributed.effort_id, version.hashes[index], line.commit)
                claims[key].append(_Claim(strength[0], line.number, line.place))
        self._withdraw(found, claims)
        self._fill_blanks(found, lines)
        return found

    # Rule 1: a commit of the effort's own.

    def _of_effort(self, effort_id: int, line: FileLine, version: Version, index: int) -> Attributed:
        fits = [
            fit
            for fit in self._fits(version, index, line.commit)
            if fit.edit.kind != "commit"
            and self._is_within(fit.edit.effort_id, effort_id)
            and (fit.is_firm or version.weights[index] >= _LONE_WEIGHT)
        ]
        # A command that copies a file or moves its lines did not write them, if a tool has.
        written = [fit for fit in fits if fit.edit.kind == "tool"]
        edit = _earliest(written if any(fit.is_firm for fit in written) else fits)
        return Attributed(edit.effort_id if edit else effort_id, edit)

    def _is_within(self, effort_id: int, outer: int) -> bool:
        """Whether an effort is the other one, or a child that works in its worktree."""
        if effort_id == outer:
            return True
        maker, around = self._makers[effort_id], self._makers.get(outer)
        return around is not None and around.worktree is not None and maker.workspace == around.worktree

    # Rules 2 and 3: a commit that somebody else made, or none.

    def _of_others(self, line: FileLine, version: Version, index: int) -> tuple[Attributed | None, _Strength]:
        hashed = version.hashes[index]
        fits = [
            fit
            for fit in self._fits(version, index, line.commit)
            if self._locates(fit, line, version, index) and self._left(fit.edit.effort_id, hashed, line.commit) > 0
        ]
        if not fits:
            return None, _NOWHERE
        best = max(fit.context for fit in fits)
        leading = [fit for fit in fits if fit.context == best]
        efforts = {fit.edit.effort_id for fit in leading}
        if len(efforts) > 1:
            return None, _NOWHERE  # each of them may have written it
        effort_id, is_between = leading[0].edit.effort_id, any(fit.left and fit.right for fit in leading)
        if self._is_shared(effort_id):
            return Attributed(effort_id, _earliest(leading)), (is_between, best)
        return self._of_effort(effort_id, line, version, index), (is_between, best)

    def _locates(self, fit: _Fit, line: FileLine, version: Version, index: int) -> bool:
        effort_id = fit.edit.effort_id
        is_lone = version.counts[version.hashes[index]] == 1 and version.weights[index] >= _LONE_WEIGHT
        if self._is_shared(effort_id):
            is_alone = fit.size == 1 and is_lone
            return fit.edit.kind == "tool" and fit.edit.is_certain and (fit.is_firm or is_alone)
        if fit.edit.kind != "commit" or line.commit is None:
            return False
        return (fit.is_firm or (is_lone and self._is_named(effort_id, line.commit))) and self._has_landed(
            effort_id, line.commit
        )

    def _is_shared(self, effort_id: int) -> bool:
        """Whether its agent works in a checkout that a person works in as well."""
        maker = self._makers[effort_id]
        return maker.worktree is None and maker.workspace is None

    def _is_named(self, effort_id: int, commit: str) -> bool:
        facts = self._commits.get(commit)
        return facts is not None and (effort_id in facts.named or facts.origin in self._origins[effort_id])

    def _has_landed(self, effort_id: int, commit: str) -> bool:
        """Whether a commit was made of the effort's commits."""
        key = (effort_id, commit)
        if key not in self._landed:
            facts = self._commits.get(commit)
            equal = [
                weight
                for hashed, weight in (facts.added if facts else {}).items()
                if (effort_id, hashed) in self._anywhere
            ]
            telling = [weight for weight in equal if weight >= _TELLING_WEIGHT]
            is_bulk = len(telling) >= _BULK_LINES and sum(telling) >= _BULK_WEIGHT
            self._landed[key] = is_bulk or self._is_named(effort_id, commit)
        return self._landed[key]

    def _fits(self, version: Version, index: int, commit: str | None) -> list[_Fit]:
        facts = None if commit is None else self._commits.get(commit)
        authored, committed = (facts.authored_ms, facts.committed_ms) if facts else (self._now_ms, self._now_ms)
        if commit is not None and facts is None:
            return []
        return [
            _fit(edit, hunk, place, version, index)
            for edit, hunk, place in self._by_hash.get(version.hashes[index], ())
            # What was written after a commit is not in it, nor what was authored before the effort began.
            if edit.at_ms <= committed + _SLACK_MS and self._makers[edit.effort_id].started_ms <= authored + _SLACK_MS
        ]

    # Each recorded line accounts for one line.

    def _withdraw(
        self, found: dict[int, Attributed], claims: Mapping[tuple[int, int, str | None], list[_Claim]]
    ) -> None:
        """Of more lines than were recorded, only those count that stand between the recorded neighbours."""
        for (effort_id, hashed, commit), claimed in claims.items():
            left = self._left(effort_id, hashed, commit)
            if len({claim.place for claim in claimed}) <= left:
                continue
            between = {claim.place for claim in claimed if claim.is_between}
            kept = between if len(between) <= left else set()
            for claim in claimed:
                if claim.place not in kept:
                    del found[claim.number]

    def _left(self, effort_id: int, hashed: int, commit: str | None) -> int:
        """How many of an effort's lines of one content a commit can have."""
        key = (effort_id, hashed, commit)
        if key not in self._lefts:
            self._lefts[key] = self._supply[effort_id, hashed] - self._used_before(effort_id, hashed, commit)
        return self._lefts[key]

    def _used_before(self, effort_id: int, hashed: int, commit: str | None) -> int:
        """How many of an effort's lines of one content older commits of the file have brought."""
        last = len(self._introductions) if commit is None else self._order.get(commit)
        if last is None:
            return 0
        started = self._makers[effort_id].started_ms
        used = 0
        for older, added in self._introductions[:last]:
            facts = self._commits.get(older)
            if not added[hashed] or facts is None or facts.committed_ms + _SLACK_MS < started:
                continue
            if self._is_shared(effort_id) or self._own.get(older) == effort_id or self._has_landed(effort_id, older):
                used += added[hashed]
        return used

    def _fill_blanks(self, found: dict[int, Attributed], lines: Sequence[FileLine]) -> None:
        """A blank line is an effort's if all lines beside it that the same commit brought are."""
        above: FileLine | None = None
        waiting: list[FileLine] = []
        for line in lines:
            if not hash_line(line.text):
                waiting.append(line)
                continue
            self._fill(found, above, waiting, line)
            above, waiting = line, []
        self._fill(found, above, waiting, None)

    def _fill(
        self, found: dict[int, Attributed], above: FileLine | None, blanks: list[FileLine], below: FileLine | None
    ) -> None:
        for line in blanks:
            if line.commit is not None and line.commit in self._own:
                found[line.number] = Attributed(self._own[line.commit], None)
            beside = [each for each in (above, below) if each is not None and each.commit == line.commit]
            known = [found[each.number] for each in beside if each.number in found]
            if known and len(known) == len(beside) and len({each.effort_id for each in known}) == 1:
                found[line.number] = known[0]


def _earliest(fits: Sequence[_Fit]) -> RecordedEdit | None:
    """The edit that fits best. Of several, the first: writing the same line again does not change it."""
    if not fits:
        return None
    best = max(fit.context for fit in fits)
    return min((fit.edit for fit in fits if fit.context == best), key=lambda edit: (edit.at_ms, edit.id))


def _fit(edit: RecordedEdit, hunk: Hunk, place: int, version: Version, index: int) -> _Fit:
    left = right = 0
    while (
        left < _MOST_CONTEXT
        and place > left
        and index > left
        and hunk[place - left - 1].hash == version.hashes[index - left - 1]
    ):
        left += 1
    while (
        right < _MOST_CONTEXT
        and place + right + 1 < len(hunk)
        and index + right + 1 < len(version.hashes)
        and hunk[place + right + 1].hash == version.hashes[index + right + 1]
    ):
        right += 1
    weight = sum(version.weights[index - left : index + right + 1])
    return _Fit(edit, left, right, place == left, place + right + 1 == len(hunk), weight, len(hunk))
