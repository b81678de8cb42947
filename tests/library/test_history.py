"""The history by program: with no daemon and no agent, in a page of code."""

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

import ramet
from ramet.errors import InvalidParams
from ramet.protocol.history.contexts import Window
from ramet.protocol.history.inheritance import Filter


def _without_type(content: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in content.items() if name != "content_type"}


def test_what_is_called_most_is_called_without_names(tmp_path: Path) -> None:
    with ramet.open(tmp_path / "a.db") as r:
        said = r.history.commit("main", "hello")
        assert r.history.branch("side", from_="main").hash == said.hash
        assert [row.hash for row in r.history.log("main").items] == [said.hash]
        assert r.history.compile("side").messages == [{"role": "user", "content": "hello"}]
        assert [branch.name for branch in r.history.branches("si").items] == ["side"]
        assert r.history.merge("main", "side").merged == 0


def test_a_struct_is_given_as_itself_or_as_its_fields(tmp_path: Path) -> None:
    with ramet.open(tmp_path / "a.db") as r:
        for turn in range(5):
            r.history.commit("main", f"turn {turn}")
        one = r.history.compile("main", window=Window(first=1, last=1))
        assert one == r.history.compile("main", window={"first": 1, "last": 1})
        assert [message["content"] for message in one.messages] == ["turn 0", "turn 4"]
        r.history.spawn("main", "a", "look", inherit="selective", filter=Filter(last_turns=1))
        r.history.spawn("main", "b", "look", inherit="selective", filter={"last_turns": 1})
        assert r.history.compile("a") == r.history.compile("b")


@pytest.mark.requirement("R34", "R43")
def test_a_typed_content_is_given_as_itself(tmp_path: Path) -> None:
    end = ramet.SessionContent(session_type="end", summary="Done.", next_steps=["ship"])
    with ramet.open(tmp_path / "a.db") as r:
        done = r.history.commit("main", content=end)
        shown = r.history.show(done.hash)
        assert (shown.content_type, shown.text, shown.priority) == ("session", "Done.", "pinned")
        assert shown.content is not None
        assert ramet.SessionContent(**_without_type(shown.content)) == end


def test_a_time_is_given_as_a_datetime_with_its_zone(tmp_path: Path) -> None:
    moment = datetime(2026, 1, 5, 8, tzinfo=UTC)
    with ramet.open(tmp_path / "a.db") as r:
        r.history.commit("main", "then", at=moment)
        assert r.history.log("main").items[0].at == moment
        assert r.history.at("main", time=moment - timedelta(days=1)).hash is None
        with pytest.raises(InvalidParams):
            r.history.commit("main", "when?", at=moment.replace(tzinfo=None))


def test_a_commit_twice_with_one_key_is_there_once(tmp_path: Path) -> None:
    with ramet.open(tmp_path / "a.db") as r:
        first = r.history.commit("main", "once", idempotency_key="turn-1")
        assert r.history.commit("main", "once", idempotency_key="turn-1") == first
        assert len(r.history.log("main").items) == 1
