"""Merging: what was added on two sides since they parted, joined in the order of time.

Both sides are copied behind the commit where they parted, so that the branch stays one line; each copy remembers what
it is a copy of, so that merging the same thing twice adds nothing. A merge commit at the end names the other side.
"""

from collections.abc import Iterator

from msgspec import Struct

from ramet.engine import histories, places
from ramet.engine.contexts import merge_base
from ramet.engine.histories import Kind, origin
from ramet.engine.transaction import Transaction
from ramet.errors import InvalidParams, InvalidRange
from ramet.model.branch import Head, Point, Span
from ramet.model.commit import CommitFacts
from ramet.model.compiling import COMPRESSES
from ramet.model.content import MetadataContent, Priority, TypeHints, pack
from ramet.protocol.history import Conflict, Merge, MergeReply
from ramet.store import commits, history
from ramet.store.commits import StoredCommit
from ramet.store.history import NewCommit

_EVERYTHING = 2**31 - 1

Key = tuple[int, bytes]


class Side(Struct, frozen=True):
    """What one side added since the two parted, oldest first."""

    commits: list[StoredCommit]

    def edits(self) -> dict[bytes, StoredCommit]:
        """The last edit of each commit that was edited."""
        return {stored.target: stored for stored in self.commits if stored.target is not None}


class Choice(Struct, frozen=True):
    """What was decided about a conflict."""

    target: bytes
    kind: str
    text: str | None
    """The text or priority that holds; None where the other side's is simply left out."""
    left_out: frozenset[bytes]


def merge(tx: Transaction, request: Merge) -> MergeReply:
    """Join another history into a branch; conflicts that nobody decided come back, and nothing changes."""
    head = places.head(tx, request.into, "into")
    other = places.place(tx, request.from_, "from")
    ours_spans, theirs_spans = places.spans(tx, head), places.spans(tx, other)
    base = merge_base(tx, ours_spans, theirs_spans)
    depth = base.seq if base else 0
    ours = Side(_since(tx, ours_spans, depth))
    known = {origin(stored) for stored in ours.commits}
    all_theirs = Side(_since(tx, theirs_spans, depth))
    theirs = Side([stored for stored in all_theirs.commits if origin(stored) not in known])
    if other is None or not theirs.commits:
        return MergeReply(hash=head.commit_hash.hex() if head.commit_hash else None, conflicts=[])
    conflicts = [*_edit_conflicts(tx, ours, theirs), *_priority_conflicts(tx, ours, all_theirs)]
    choices, open_conflicts = _decide(conflicts, ours, theirs, request)
    if open_conflicts:
        return MergeReply(hash=None, conflicts=open_conflicts)
    if not ours.commits:
        histories.repoint(tx, request.into, head, other.commit_id, "merge")
        return MergeReply(hash=other.hash.hex(), conflicts=[], merged=len(theirs.commits))
    return _join(tx, request, head, base, other, ours, theirs, choices)


def _join(
    tx: Transaction,
    request: Merge,
    head: Head,
    base: Point | None,
    other: Point,
    ours: Side,
    theirs: Side,
    choices: list[Choice],
) -> MergeReply:
    left_out = frozenset[bytes]().union(*(choice.left_out for choice in choices))
    joined = _Joined(tx, head.branch_id, base)
    for stored in _in_order(ours, theirs, depth=base.seq if base else 0):
        if stored.hash not in left_out:
            joined.add(stored)
    for choice in choices:
        joined.settle(choice)
    commit_hash = joined.close(request.from_, other)
    histories.moved(tx, request.into, head.commit_id, joined.head.commit_id, "merge")
    return MergeReply(hash=commit_hash.hex(), conflicts=[], merged=len(theirs.commits))


class _Joined:
    """The line that grows behind the commit where two sides parted."""

    def __init__(self, tx: Transaction, branch_id: int, base: Point | None) -> None:
        self._tx = tx
        self._places: dict[bytes, Point] = {}
        """Where each commit, by its origin, is now."""
        self._moved: dict[int, int] = {}
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
        target = None if stored.target is None else self._find(stored.target)
        span = (stored.metadata or {}).get(COMPRESSES)
        changes = None if span is None else {COMPRESSES: [self._moved.get(seq, seq) for seq in span]}
        done = histories.copy(self._tx, self.head, stored, target, changes)
        self._step(done.id)
        self._moved[stored.seq] = self.head.seq
        point = commits.find(self._tx.db, done.hash)
        assert point is not None  # noqa: S101
        self._places[stored.hash] = self._places[origin(stored)] = point

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
        done = history.append(self._tx.db, self.head, new, self._tx.now_ms)
        self._step(done.id)
        return done.hash

    def _find(self, commit_hash: bytes) -> Point | None:
        return self._places.get(commit_hash) or commits.find(self._tx.db, commit_hash)

    def _step(self, commit_id: int) -> None:
        self.head = history.head_at(self._tx.db, self.head.branch_id, commit_id)


def _since(tx: Transaction, spans: list[Span], depth: int) -> list[StoredCommit]:
    found = commits.read_newest(tx.db, tx.codec, spans, limit=_EVERYTHING, after=depth)
    return [stored for stored in reversed(list(found)) if stored.second_parent is None]


def _in_order(ours: Side, theirs: Side, depth: int) -> Iterator[StoredCommit]:
    """Both sides in the order of time, each in its own order.

    Where a side has a summary, its range must stay together, so theirs then follows as a whole behind ours.
    """
    spans = [(stored.metadata or {}).get(COMPRESSES) for side in (ours, theirs) for stored in side.commits]
    if any(span is not None for span in spans):
        if any(span[0] <= depth for span in spans if span is not None):
            raise InvalidRange("one side compresses what both have in common", fix="undo the compression first")
        yield from ours.commits
        yield from theirs.commits
        return
    left, right = _keyed(ours), _keyed(theirs)
    while left and right:
        yield (left if left[-1][0] <= right[-1][0] else right).pop()[1]
    yield from (stored for _, stored in reversed(left or right))


def _keyed(side: Side) -> list[tuple[Key, StoredCommit]]:
    """Commits with the time at which they may come, never earlier than what they follow; the last one first."""
    keyed: list[tuple[Key, StoredCommit]] = []
    latest: Key = (0, b"")
    for stored in side.commits:
        latest = max(latest, (stored.at_ms, origin(stored)))
        keyed.append((latest, stored))
    return keyed[::-1]


def _edit_conflicts(tx: Transaction, ours: Side, theirs: Side) -> Iterator[Conflict]:
    mine, others = ours.edits(), theirs.edits()
    for target in mine.keys() & others.keys():
        if mine[target].text != others[target].text:
            point = commits.find(tx.db, target)
            before = commits.read_one(tx.db, tx.codec, point).text if point else None
            yield Conflict(
                target=target.hex(), kind="edit", base=before, ours=mine[target].text, theirs=others[target].text
            )


def _priority_conflicts(tx: Transaction, ours: Side, theirs: Side) -> Iterator[Conflict]:
    hints = commits.type_hints(tx.db)
    mine = {origin(stored): stored for stored in ours.commits}
    for stored in theirs.commits:
        same = mine.get(origin(stored))
        if same is None or same.hash == stored.hash:
            continue
        said, other = _said(same, hints), _said(stored, hints)
        if {said, other} == {"pinned", "skip"}:
            yield Conflict(target=same.hash.hex(), kind="priority", base=None, ours=said, theirs=other)


def _said(stored: StoredCommit, hints: dict[str, TypeHints]) -> Priority:
    return histories.priority(stored, hints)


def _decide(conflicts: list[Conflict], ours: Side, theirs: Side, request: Merge) -> tuple[list[Choice], list[Conflict]]:
    """What the request decides, and what it leaves open."""
    choices: list[Choice] = []
    still_open: list[Conflict] = []
    for conflict in conflicts:
        given = (request.resolutions or {}).get(conflict.target)
        if given is None and request.strategy is None:
            still_open.append(conflict)
            continue
        choices.append(_choose(conflict, given, ours, theirs, request))
    return choices, still_open


def _choose(conflict: Conflict, given: str | None, ours: Side, theirs: Side, request: Merge) -> Choice:
    target = bytes.fromhex(conflict.target)
    mine = frozenset(stored.hash for stored in ours.commits if stored.target == target)
    others = frozenset(stored.hash for stored in theirs.commits if stored.target == target)
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
