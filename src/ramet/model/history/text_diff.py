"""How two lists of messages differ, as a unified diff of their lines.

Comparing line by line takes time with the square of the number of lines, so it is done only between messages that both
lists have once and in the same order. Between two of these, lines are compared if they are few; otherwise all lines of
the one list are removed and all of the other added.
"""

import difflib
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

_MOST_LINES = 4_000
"""Of both lists between two messages that they have in common. More are not compared line by line."""
_MOST_COMPARED = 40_000
"""Of all lines that are compared line by line. What comes behind them is not."""
_CONTEXT = 3

Opcode = tuple[str, int, int, int, int]


def compare(a: Sequence[str], b: Sequence[str], name_a: str, name_b: str) -> Iterator[str]:
    """The lines of the diff; none if the lists are equal."""
    if list(a) == list(b):
        return
    old, new = _Lines(a), _Lines(b)
    yield from (f"--- {name_a}", f"+++ {name_b}")
    for group in _Found(_joined(_opcodes(old, new))).get_grouped_opcodes(_CONTEXT):
        first, last = group[0], group[-1]
        yield f"@@ -{_range(first[1], last[2])} +{_range(first[3], last[4])} @@"
        for tag, i1, i2, j1, j2 in group:
            if tag == "equal":
                yield from (f" {line}" for line in old.between(i1, i2))
            else:
                yield from (f"-{line}" for line in old.between(i1, i2))
                yield from (f"+{line}" for line in new.between(j1, j2))


class _Found(difflib.SequenceMatcher[str]):
    """Differences that were found already, for the library to group."""

    def __init__(self, opcodes: list[Opcode]) -> None:
        super().__init__(None, "", "")
        self._opcodes = opcodes

    def get_opcodes(self) -> list[Any]:
        return self._opcodes


class _Lines:
    """The lines of messages, which are split only where they are needed."""

    def __init__(self, messages: Sequence[str]) -> None:
        self.messages = messages
        self.starts = [0]
        """The number of the first line of each message, and of the one behind the last."""
        for message in messages:
            self.starts.append(self.starts[-1] + len(_split(message)))

    def of(self, first: int, last: int) -> list[str]:
        """The lines of some messages."""
        return [line for message in self.messages[first:last] for line in _split(message)]

    def between(self, first: int, last: int) -> list[str]:
        """The lines from one number up to another."""
        if first == last:
            return []
        begins = bisect_left(self.starts, first + 1) - 1
        ends = bisect_left(self.starts, last)
        return self.of(begins, ends)[first - self.starts[begins] : last - self.starts[begins]]


def _split(message: str) -> list[str]:
    return [*message.splitlines(), ""]


def _opcodes(old: _Lines, new: _Lines) -> Iterator[Opcode]:
    i, j, left = 0, 0, _MOST_COMPARED
    for next_i, next_j in [*_anchors(old.messages, new.messages), (len(old.messages), len(new.messages))]:
        starts = old.starts[i], new.starts[j]
        count = old.starts[next_i] + new.starts[next_j] - sum(starts)
        if count <= min(_MOST_LINES, left):
            left -= count
            found = difflib.SequenceMatcher(None, old.of(i, next_i), new.of(j, next_j)).get_opcodes()
            for tag, i1, i2, j1, j2 in found:
                yield tag, starts[0] + i1, starts[0] + i2, starts[1] + j1, starts[1] + j2
        else:
            yield "replace", starts[0], old.starts[next_i], starts[1], new.starts[next_j]
        if next_i < len(old.messages):
            yield "equal", old.starts[next_i], old.starts[next_i + 1], new.starts[next_j], new.starts[next_j + 1]
        i, j = next_i + 1, next_j + 1


def _anchors(a: Sequence[str], b: Sequence[str]) -> list[tuple[int, int]]:
    """The longest list of messages that both have, each once, in the same order; and what is equal at both ends."""
    same = _count_equal(zip(a, b, strict=False))
    tail = _count_equal(zip(reversed(a[same:]), reversed(b[same:]), strict=False))
    inner_a, inner_b = a[same : len(a) - tail], b[same : len(b) - tail]
    counts_a, counts_b = Counter(inner_a), Counter(inner_b)
    places = {message: place for place, message in enumerate(inner_b) if counts_b[message] == 1}
    pairs = [(i, places[message]) for i, message in enumerate(inner_a) if counts_a[message] == 1 and message in places]
    inner = [(same + i, same + j) for i, j in _longest_rise(pairs)]
    ends = [(len(a) - each, len(b) - each) for each in range(tail, 0, -1)]
    return [*((each, each) for each in range(same)), *inner, *ends]


def _count_equal(pairs: Iterator[tuple[str, str]]) -> int:
    count = 0
    for one, other in pairs:
        if one != other:
            break
        count += 1
    return count


def _longest_rise(pairs: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """The longest part of the pairs whose second numbers rise, too."""
    lowest: list[int] = []
    chosen: list[int] = []
    before: list[int] = []
    for index, (_, second) in enumerate(pairs):
        length = bisect_left(lowest, second)
        before.append(chosen[length - 1] if length else -1)
        lowest[length : length + 1] = [second]
        chosen[length : length + 1] = [index]
    rise = []
    index = chosen[-1] if chosen else -1
    while index >= 0:
        rise.append(pairs[index])
        index = before[index]
    return rise[::-1]


def _joined(opcodes: Iterator[Opcode]) -> list[Opcode]:
    """The opcodes without empty ones, and equal ones that follow each other as one."""
    joined: list[Opcode] = []
    for tag, i1, i2, j1, j2 in opcodes:
        if i1 == i2 and j1 == j2:
            continue
        if joined and tag == joined[-1][0] == "equal":
            joined[-1] = ("equal", joined[-1][1], i2, joined[-1][3], j2)
        else:
            joined.append((tag, i1, i2, j1, j2))
    return joined


def _range(start: int, stop: int) -> str:
    length = stop - start
    if length == 1:
        return str(start + 1)
    return f"{start + 1 if length else start},{length}"
