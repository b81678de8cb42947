"""The two ways in give the same answers to the same questions."""

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec
import pytest

import ramet
from ramet.errors import RametError

TASK = "/projects/shop/tasks/cart"

_THEN = datetime(2026, 1, 5, 8, tzinfo=UTC)

STEPS: tuple[Callable[[ramet.Ramet], Any], ...] = (
    lambda r: r.db.project.upsert("/projects/shop", name="shop"),
    lambda r: r.db.task.upsert(TASK, keywords="cart"),
    lambda r: r.db.effort.start(TASK, "plan", idempotency_key="one"),
    lambda r: r.db.effort.start(TASK, "plan", idempotency_key="one"),
    lambda r: r.db.effort.start(TASK, "review", idempotency_key="one"),
    lambda r: r.db.effort.start(TASK, "no such skill"),
    lambda r: r.db.session.start(TASK, 1, agent_id="blue", driver="shell", native_id="w1"),
    lambda r: r.db.effort.phase(1, "3"),
    lambda r: r.db.effort.phase(1, "1", proof={"read": True}),
    lambda r: r.db.effort.phase(1, "1"),
    lambda r: r.db.messages.append("shell:w1", "user", "the key is sk-ant-" + "a" * 40),
    lambda r: r.db.messages.append("shell:w1", "bystander", "hello"),  # type: ignore[arg-type]
    lambda r: r.db.messages.list("shell:w1", limit=1),
    lambda r: r.db.session.updateLoadedFiles(1, ["/projects/shop/cart.py"]),
    lambda r: r.db.session.finish(1, dehydration_payload={"next": "draft"}),
    lambda r: r.db.session.finish(1),
    lambda r: r.db.effort.validate(1),
    lambda r: r.db.query("SELECT skill, lifecycle FROM efforts"),
    lambda r: r.db.query("DELETE FROM efforts"),
    lambda r: r.history.commit("main", "one", at=_THEN),
    lambda r: r.history.branch("side", from_="main"),
    lambda r: r.history.commit("side", "two", at=_THEN, tags=["b", "a"]),
    lambda r: r.history.commit("main", "three", at=_THEN, role="assistant"),
    lambda r: r.history.commit("main", "four", content_type="no such type"),
    lambda r: r.history.merge("main", "side"),
    lambda r: r.history.compile("main", format="anthropic", max_tokens=100),
    lambda r: r.history.diff("main", "side"),
    lambda r: r.history.undo("main"),
    lambda r: r.history.undo("main", steps=5),
    lambda r: r.history.log("main", limit=1),
    lambda r: r.events.list(kind="effort.phase"),
    lambda r: r.fleet.status(),
)

_TIMES = ("at", "created_at", "ended_at", "finished_at", "last_heartbeat", "since", "timestamp", "last_activity")


def _answers(r: ramet.Ramet) -> list[Any]:
    """What each step gives, as the wire would show it, without the times."""
    answers = []
    for step in STEPS:
        try:
            answers.append(_timeless(msgspec.to_builtins(step(r))))
        except RametError as error:
            answers.append(error.to_wire())
    return answers


def _timeless(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _timeless(inner) for key, inner in value.items() if key not in _TIMES}
    return [_timeless(inner) for inner in value] if isinstance(value, list) else value


@pytest.mark.requirement("R254")
def test_in_process_and_through_the_daemon_every_answer_is_the_same(daemon_home: Path) -> None:
    with ramet.open(daemon_home / "local.db") as r:
        local = _answers(r)
    with ramet.connect(timeout_seconds=60) as r:
        remote = _answers(r)
    assert local == remote
