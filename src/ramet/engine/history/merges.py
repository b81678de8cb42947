"""Merging: joins what was added on two sides since they parted, in the order of time.

Both sides are copied behind the commit where they parted, so that the branch stays one line. Each copy remembers its
original, and a merge commit at the end names the other side. So earlier merges, and the decisions in them, are known,
and merging the same thing twice adds nothing.
"""

from collections.abc import Iterator

from msgspec import Struct

from ramet.engine.answers import answers
from ramet.engine.history import commits as histories
from ramet.engine.history import references
from ramet.engine.history.commits import Kind, origin
from ramet.engine.history.text_diffs import merge_base
from ramet.engine.transaction import Transaction
from ramet.errors import InvalidParams, InvalidRange
from ramet.model.history.branch import Head, Point, Span
from ramet.model.history.commit import CommitFacts
from ramet.model.history.content import (
    COMPRESSES,
    MetadataContent,
    Priority,
    TypeHints,
    pack,
)
from ramet.protocol.history.branches import Conflict, Merge, MergeReply
from ramet.store.history import commits, segments
from ramet.store.history.commits import StoredCommit
from ramet.store.history.segments import NewCommit

_EVERYTHING = 2**31 - 1

Key = tuple[int, bytes]


class Sides(Struct, frozen=True, kw_only=True):
    """What two sides added since they parted, each oldest first."""

    ours: list[StoredCommit]
    theirs: list[StoredCommit]
    """Without what our side has already."""
    aliases: dict[bytes, bytes]
    """From the hashes of their commits to those of our copies."""

    def about(self, stored: StoredCommit) -> bytes | None:
        """The commit that an edit is about, by our name for it."""
        return None if stored.target is None else self.aliases.get(stored.target, stored.target)

    def edits(self, side: list[StoredCommit]) -> dict[bytes, StoredCommit]:
        """The last edit of each commit that a side edited."""
        return {target: stored for stored in side if (target := self.about(stored)) is not None}

    def range_of(self, summary: StoredCommit) -> list[bytes]:
        """The hashes of the commits that a summary replaces; none if it is not a summary."""
        first, last = (summary.metadata or {}).get(COMPRESSES) or (1, 0)
        side = self.ours if any(summary.hash == stored.hash for stored in self.ours) else self.theirs
        return [stored.hash for stored in side if first <= stored.seq <= last]


class Choice(Struct, frozen=True):
    """What was decided about a conflict."""

    target: bytes
    kind: str
    text: str | None
    """The text or priority that is valid; None if the other side's is left out."""
    left_out: frozenset[bytes]


@answers(Merge)
def merge(tx: Transaction, request: Merge) -> MergeReply:
    """Merge another history into a branch. Conflicts without a decision are returned, and nothing changes."""
    head = references.head(tx, request.into, "into")
    other = references.place(tx, request.from_, "from")
    ours_spans, theirs_spans = references.spans(tx, head), references.spans(tx, other)
    base = merge_base(tx, ours_spans, theirs_spans)
    depth = base.seq if base else 0
    if head.seq == depth:
        return _fast_forward(tx, request, head, other)
    ours, theirs = _since(tx, ours_spans, depth), _since(tx, theirs_spans, depth)
    if head.seq == max(depth, _met(tx, theirs, ours_spans)):
        return _fast_forward(tx, request, head, other)
    met = _met(tx, ours, theirs_spans)
    unmet = [stored for stored in theirs if stored.seq > met]
    sides = _compare(ours, theirs, unmet)
    conflicts = [*_edit_conflicts(tx, sides), *_priority_conflicts(tx, ours, unmet)]
    if other is None or not (conflicts or any(stored.second_parent is None for stored in sides.theirs)):
        return MergeReply(hash=head.commit_hash.hex() if head.commit_hash else None, conflicts=[])
    choices, open_conflicts = _decide(conflicts, sides, request)
    if open_conflicts:
        return MergeReply(hash=None, conflicts=open_conflicts)
    return _join(tx, request, head, base, other, sides, choices)


def _fast_forward(tx: Transaction, request: Merge, head: Head, other: Point | None) -> MergeReply:
    """The other side has all that this one has."""
    if other is None or other.seq <= head.seq:
        return MergeReply(hash=head.commit_hash.hex() if head.commit_hash else None, conflicts=[])
    histories.repoint(tx, request.into, head, other.commit_id, "merge")
    return MergeReply(hash=other.hash.hex(), conflicts=[], merged=other.seq - head.seq)


def _compare(ours: list[StoredCommit], theirs: list[StoredCommit], unmet: list[StoredCommit]) -> Sides:
    copies = {origin(stored): stored.hash for stored in ours}
    return Sides(
        ours=ours,
        theirs=[stored for stored in unmet if origin(stored) not in copies],
        aliases={stored.hash: copies[origin(stored)] for stored in theirs if origin(stored) in copies},
    )


def _met(tx: Transaction, side: list[StoredCommit], spans: list[Span]) -> int:
    """How far along a line one side has merged it already."""
    found = [commits.find(tx.db, stored.second_parent) for stored in side if stored.second_parent is not None]
    bases = [merge_base(tx, spans, references.spans(tx, point)) for point in found]
    return max((base.seq for base in bases if base is not None), default=0)


def _join(
    tx: Transaction,
    request: Merge,
    head: Head,
    base: Point | None,
    other: Point,
    sides: Sides,
    choices: list[Choice],
) -> MergeReply:
    left_out = frozenset[bytes]().union(*(choice.left_out for choice in choices))
    joined = _Joined(tx, head.branch_id, base, sides)
    for stored in _in_order(sides):
        if stored.hash not in left_out:
            joined.add(stored)
    for choice in choices:
        joined.settle(choice)
    commit_hash = joined.close(request.from_, other)
    histories.moved(tx, request.into, head.commit_id, joined.head.commit_id, "merge")
    merged = sum(stored.second_parent is None for stored in sides.theirs)
    return MergeReply(hash=commit_hash.hex(), conflicts=[], merged=merged)


class _Joined:
    """The line that grows behind the commit at which two sides parted."""

    def __init__(self, tx: Transaction, branch_id: int, base: Point | None, sides: Sides) -> None:
        self._tx = tx
        self._sides = sides
        self._places: dict[bytes, Point] = {}
        """The copy of each copied commit."""
        self.head = Head(
            branch_id,
            base.segment_id if base else None,
            base.seq if base else 0,
            base.commit_id if base else None,
            base.hash if base else None,
            base.token_sum if base else 0,
        )

    def add(self, stored: StoredCommit) -> None:
        """Put a copy behind what is there."""
        about = self._sides.about(stored)
        target = None if about is None else self._find(about)
        covered = [self._places[each].seq for each in self._sides.range_of(stored) if each in self._places]
        changes = {COMPRESSES: [min(covered), max(covered)]} if covered else None
        done = histories.copy(self._tx, self.head, stored, target, changes)
        self._step(done.id)
        point = commits.find(self._tx.db, done.hash)
        assert point is not None  # noqa: S101
        self._places[stored.hash] = point

    def settle(self, choice: Choice) -> None:
        """Write down what was decided about a conflict."""
        target = self._find(choice.target)
        if target is None or choice.text is None:
            return
        if choice.kind == "priority":
            commits.annotate(self._tx.db, target.commit_id, _priority(choice.text))
            return
        stored = commits.read_one(self._tx.db, self._tx.codec, target)
        kind = Kind(content_type=stored.content_type, role=stored.role)
        done = histories.add(self._tx, self.head, self._tx.contents.prepare(choice.text), kind, target)
        self._step(done.id)

    def close(self, name: str, other: Point) -> bytes:
        """The merge commit, which names the other side."""
        packed = pack(MetadataContent(kind="merge", data={"from": name, "head": other.hash.hex()}))
        content = self._tx.contents.prepare(packed.text)
        facts = CommitFacts(
            content_hash=content.blob.hash,
            content_type=packed.content_type,
            role=packed.role,
            author="user",
            parent=self.head.commit_hash,
            second_parent=other.hash,
        )
        new = NewCommit(facts=facts, blob=content.blob, tokens=0, second_parent_id=other.commit_id)
        done = segments.append(self._tx.db, self.head, new, self._tx.now_ms)
        self._step(done.id)
        return done.hash

    def _find(self, commit_hash: bytes) -> Point | None:
        return self._places.get(commit_hash) or commits.find(self._tx.db, commit_hash)

    def _step(self, commit_id: int) -> None:
        self.head = segments.head_at(self._tx.db, self.head.branch_id, commit_id)


def _since(tx: Transaction, spans: list[Span], depth: int) -> list[StoredCommit]:
    return list(commits.read_newest(tx.db, tx.codec, spans, limit=_EVERYTHING, after=depth))[::-1]


def _in_order(sides: Sides) -> Iterator[StoredCommit]:
    """Both sides in the order of time, each in its own order.

    If a side has a summary, its range must stay together, so theirs then follows as a whole behind ours.
    """
    summaries = [stored for stored in (*sides.ours, *sides.theirs) if COMPRESSES in (stored.metadata or {})]
    if summaries:
        _refuse_torn(sides, summaries)
        yield from sides.ours
        yield from sides.theirs
        return
    left = _keyed(sides, sides.ours, {})
    right = _keyed(sides, sides.theirs, {stored.hash: key for key, stored in left})
    while left and right:
        yield (left if left[-1][0] <= right[-1][0] else right).pop()[1]
    yield from (stored for _, stored in reversed(left or right))


def _refuse_torn(sides: Sides, summaries: list[StoredCommit]) -> None:
    """A summary whose range would not stay together cannot be taken over."""
    for stored in summaries:
        first, last = (stored.metadata or {})[COMPRESSES]
        if len(sides.range_of(stored)) <= last - first:
            raise InvalidRange(
                f"summary {stored.hash.hex()[:12]} replaces commits that both branches have",
                field="from",
                fix="undo the compression first with `ramet history undo BRANCH`",
            )


def _keyed(sides: Sides, side: list[StoredCommit], earlier: dict[bytes, Key]) -> list[tuple[Key, StoredCommit]]:
    """Commits with the time at which they may come, never earlier than what they follow or edit; the last one first."""
    keyed: list[tuple[Key, StoredCommit]] = []
    latest: Key = (0, b"")
    for stored in side:
        edited = earlier.get(sides.about(stored) or b"", latest)
        latest = max(latest, edited, (stored.at_ms, origin(stored)))
        keyed.append((latest, stored))
    return keyed[::-1]


def _edit_conflicts(tx: Transaction, sides: Sides) -> Iterator[Conflict]:
    mine, others = sides.edits(sides.ours), sides.edits(sides.theirs)
    for target in sorted(mine.keys() & others.keys()):
        if mine[target].text != others[target].text:
            point = commits.find(tx.db, target)
            before = commits.read_one(tx.db, tx.codec, point).text if point else None
            yield Conflict(
                target=target.hex(), kind="edit", base=before, ours=mine[target].text, theirs=others[target].text
            )


def _priority_conflicts(tx: Transaction, ours: list[StoredCommit], theirs: list[StoredCommit]) -> Iterator[Conflict]:
    hints = commits.type_hints(tx.db)
    mine = {origin(stored): stored for stored in ours}
    for stored in theirs:
        same = mine.get(origin(stored))
        if same is None or same.hash == stored.hash:
            continue
        said, other = _said(same, hints), _said(stored, hints)
        if {said, other} == {"pinned", "skip"}:
            yield Conflict(target=same.hash.hex(), kind="priority", base=None, ours=said, theirs=other)


def _said(stored: StoredCommit, hints: dict[str, TypeHints]) -> Priority:
    return histories.priority(stored, hints)


def _decide(conflicts: list[Conflict], sides: Sides, request: Merge) -> tuple[list[Choice], list[Conflict]]:
    """What the request decides, and what it leaves open."""
    choices: list[Choice] = []
    still_open: list[Conflict] = []
    for conflict in conflicts:
        given = (request.resolutions or {}).get(conflict.target)
        if given is None and request.strategy is None:
            still_open.append(conflict)
            continue
        choices.append(_choose(conflict, given, sides, request))
    return choices, still_open


def _choose(conflict: Conflict, given: str | None, sides: Sides, request: Merge) -> Choice:
    target = bytes.fromhex(conflict.target)
    mine = frozenset(stored.hash for stored in sides.ours if sides.about(stored) == target)
    others = frozenset(stored.hash for stored in sides.theirs if sides.about(stored) == target)
    if given is not None:
        text = _priority(given) if conflict.kind == "priority" else given
        return Choice(target, conflict.kind, text, mine | others)
    if request.strategy == "ours":
        return Choice(target, conflict.kind, conflict.ours if conflict.kind == "priority" else None, others)
    if request.strategy == "theirs":
        return Choice(target, conflict.kind, conflict.theirs if conflict.kind == "priority" else None, mine)
    if conflict.kind == "priority":
        return Choice(target, conflict.kind, "pinned", frozenset())
    return Choice(target, conflict.kind, f"{conflict.ours}\n\n{conflict.theirs}", mine | others)


def _priority(text: str) -> Priority:
    match text:
        case "skip" | "normal" | "important" | "pinned":
            return text
        case _:
            raise InvalidParams(
                f"{text!r} is not a priority",
                field="resolutions",
                value=text,
                fix="use one of: skip, normal, important, pinned",
            )
