"""Lists in the library: whole without a limit, a page with one, and iterators that have one page in memory."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

import ramet
from ramet.errors import InvalidParams, ReplyTooLarge
from ramet.library.local import LocalTransport
from ramet.library.ramet import Ramet
from ramet.library.transport import Subscription
from ramet.protocol.operations import Operation

NAMES = [f"branch{number}" for number in range(8)]


class Counted:
    """A transport that counts what it passes on, and has a largest reply: so many items."""

    def __init__(self, inner: LocalTransport, most: int) -> None:
        self._inner = inner
        self._most = most
        self.limits: list[int | None] = []

    def call(self, operation: Operation, params: Mapping[str, Any]) -> Any:
        if operation.name == "history.branches":
            self.limits.append(params["limit"])
        reply = self._inner.call(operation, params)
        if len(getattr(reply, "items", ())) > self._most:
            raise ReplyTooLarge(field="limit", value=params["limit"])
        return reply

    def subscribe(self, operation: Operation, params: Mapping[str, Any]) -> Subscription:
        return self._inner.subscribe(operation, params)

    def close(self) -> None:
        self._inner.close()


@pytest.fixture(params=["open", "connect"])
def opened(request: pytest.FixtureRequest, daemon_home: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Both ways in; no page of theirs has more than three items."""
    monkeypatch.setenv("RAMET_LIMITS_PAGE_MAX", "3")
    opener: Callable[[], Ramet] = {"open": lambda: ramet.open(daemon_home / "x.db"), "connect": ramet.connect}[
        request.param
    ]
    with opener() as r:
        for name in NAMES:
            r.history.branch(name)
        yield r


@pytest.mark.requirement("R343")
def test_a_list_is_whole_without_a_limit_and_a_page_with_one(opened: Ramet) -> None:
    everything = opened.history.branches()
    assert ([row.name for row in everything.items], everything.next) == (NAMES, None)
    page = opened.history.branches(limit=2)
    assert ([row.name for row in page.items], page.next) == (NAMES[:2], NAMES[1])
    rest = opened.history.branches(cursor=NAMES[5])
    assert [row.name for row in rest.items] == NAMES[6:]
    assert [row.name for row in opened.history.iter_branches(cursor=NAMES[1])] == NAMES[2:]
    assert [row.name for row in opened.history.iter_branches("branch")] == NAMES


@pytest.mark.requirement("R343")
def test_a_wrong_cursor_is_refused_by_the_iterator_too(opened: Ramet) -> None:
    with pytest.raises(InvalidParams) as refusal:
        next(opened.history.iter_branches(cursor="no branch"))
    assert refusal.value.field == "cursor"


@pytest.mark.requirement("R343")
def test_an_iterator_asks_for_a_page_when_it_is_needed_and_for_less_if_it_is_too_large(home: Path) -> None:
    counted = Counted(LocalTransport.open(home / "x.db"), most=2)
    with Ramet(counted) as r:
        for name in NAMES:
            r.history.branch(name)
        found = r.history.iter_branches()
        assert counted.limits == []
        assert next(found).name == NAMES[0]
        asked = list(counted.limits)
        assert asked == [1000, 500, 250, 125, 62, 31, 15, 7, 3, 1]
        assert [row.name for row in found] == NAMES[1:]
        assert len(counted.limits) == len(asked) + len(NAMES) - 1
        assert [row.name for row in r.history.branches().items] == NAMES
