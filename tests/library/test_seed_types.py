"""The types of seed 000: what the library returns and raises, in this process and through the daemon."""

from collections.abc import Iterator
from dataclasses import FrozenInstanceError, fields, is_dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

import ramet
from ramet import CollapseResult, SessionContent, SessionError, SpawnError, SpawnInfo
from ramet.errors import Conflict, InvalidParams, RametError, SessionEnded, SpawnCycle, WrongTask
from ramet.model.history import content

TASK = "/projects/shop/tasks/cart"
INFO = SpawnInfo(1, "main", None, "kid", "look", "full_clone", None, datetime(2026, 1, 1, tzinfo=UTC))
RESULT = CollapseResult(None, "kid", "found", 1, 100, "look")
BOUNDARY = SessionContent(session_type="end", summary="Done.")


@pytest.fixture(params=["open", "connect"])
def r(request: pytest.FixtureRequest, home: Path) -> Iterator[ramet.Ramet]:
    """The same program, with the database in its process and behind the daemon."""
    if request.param == "connect":
        request.getfixturevalue("daemon_home")
    with ramet.open(home / "own.db") if request.param == "open" else ramet.connect(timeout_seconds=60) as opened:
        opened.db.project.upsert("/projects/shop")
        opened.db.task.upsert(TASK)
        yield opened


@pytest.mark.requirement("R39", "R40", "R353")
def test_the_types_have_exactly_the_fields_of_the_seed() -> None:
    assert is_dataclass(SpawnInfo)
    assert is_dataclass(CollapseResult)
    assert [field.name for field in fields(SpawnInfo)] == [
        *("spawn_id", "parent_tract_id", "parent_commit_hash", "child_tract_id", "purpose"),
        *("inheritance_mode", "display_name", "created_at"),
    ]
    assert [field.name for field in fields(CollapseResult)] == [
        *("parent_commit_hash", "child_tract_id", "summary_text", "summary_tokens", "source_tokens", "purpose"),
    ]


@pytest.mark.requirement("R39", "R42", "R353")
def test_a_spawn_is_returned_as_spawn_info_and_cannot_be_changed(r: ramet.Ramet) -> None:
    said = r.history.commit("main", "Move the cart.")
    info = r.history.spawn("main", "kid", "look around", inherit="full_clone", display_name="Scout")
    assert type(info) is SpawnInfo
    assert (info.parent_tract_id, info.parent_commit_hash, info.child_tract_id) == ("main", said.hash, "kid")
    assert (info.purpose, info.inheritance_mode, info.display_name) == ("look around", "full_clone", "Scout")
    assert info.created_at.tzinfo is not None
    for field in fields(info):
        with pytest.raises(FrozenInstanceError):
            setattr(info, field.name, "another")


@pytest.mark.requirement("R40", "R42", "R353")
def test_a_collapse_is_returned_as_collapse_result_with_or_without_its_commit(r: ramet.Ramet) -> None:
    r.history.commit("main", "Move the cart.")
    r.history.spawn("main", "kid", "look around")
    draft = r.history.collapse("kid", text="Seen.", auto_commit=False)
    assert type(draft) is CollapseResult
    assert (draft.parent_commit_hash, draft.summary_text, draft.child_tract_id) == (None, "Seen.", "kid")
    done = r.history.collapse("kid", text="Seen.")
    assert done.parent_commit_hash == r.history.log("main", limit=1).items[0].hash
    assert (done.purpose, done.summary_tokens) == ("look around", draft.summary_tokens)
    assert done.source_tokens > 0
    for field in fields(done):
        with pytest.raises(FrozenInstanceError):
            setattr(done, field.name, "another")


@pytest.mark.requirement("R353")
def test_the_relatives_of_a_history_are_spawn_infos_with_their_collapses(r: ramet.Ramet) -> None:
    r.history.commit("main", "Move the cart.")
    spawned = r.history.spawn("main", "kid", "look around")
    folded = r.history.collapse("kid", text="Seen.")
    family = r.history.spawns("main")
    (child,) = family.children
    assert isinstance(child, SpawnInfo)
    assert child.collapses == (folded.parent_commit_hash,)
    assert [getattr(child, field.name) for field in fields(SpawnInfo)] == [
        getattr(spawned, field.name) for field in fields(SpawnInfo)
    ]
    assert (family.parent, family.ancestors) == (None, ())
    assert (r.history.spawns("kid").parent, r.history.spawns("kid").ancestors) == (child, ("main",))


@pytest.mark.requirement("R52", "R353")
def test_a_refused_spawn_is_a_spawn_error(r: ramet.Ramet) -> None:
    r.history.commit("main", "Move the cart.")
    with pytest.raises(SpawnError) as refused:
        r.history.collapse("main")
    assert (refused.value.field, refused.value.value) == ("child", "main")
    with pytest.raises(SpawnError) as cycle:
        r.history.spawn("main", "main", "look")
    assert type(cycle.value) is SpawnCycle
    session = r.db.session.start(TASK, r.db.effort.start(TASK, "do").id)
    with pytest.raises(SpawnError, match="depth"):
        _nest(r, session.id, 10)


def _nest(r: ramet.Ramet, session_id: int, levels: int) -> None:
    for _ in range(levels):
        session_id = r.spawn.agent("look", parent_session_id=session_id).child_session_id or 0


@pytest.mark.requirement("R52", "R353")
def test_a_session_whose_state_refuses_is_a_session_error(r: ramet.Ramet) -> None:
    effort = r.db.effort.start(TASK, "do")
    session = r.db.session.start(TASK, effort.id)
    r.db.session.finish(session.id)
    with pytest.raises(SessionError) as ended:
        r.db.session.heartbeat(session.id)
    assert type(ended.value) is SessionEnded
    r.db.task.upsert("/projects/shop/tasks/other")
    with pytest.raises(SessionError) as other:
        r.db.session.start("/projects/shop/tasks/other", effort.id)
    assert type(other.value) is WrongTask
    assert issubclass(SessionError, Conflict)
    assert issubclass(SpawnError, RametError)


@pytest.mark.requirement("R353")
@pytest.mark.parametrize(
    ("value", "field", "wrong"),
    [
        *((INFO, field, 1.5) for field in ("spawn_id", "parent_tract_id", "parent_commit_hash", "child_tract_id")),
        (INFO, "purpose", None),
        (INFO, "inheritance_mode", "partial"),
        (INFO, "display_name", 7),
        (INFO, "created_at", "yesterday"),
        (INFO, "created_at", datetime(2026, 1, 1)),  # noqa: DTZ001
        (RESULT, "parent_commit_hash", b"ab"),
        *((RESULT, field, None) for field in ("child_tract_id", "summary_text", "purpose")),
        *((RESULT, field, "1") for field in ("summary_tokens", "source_tokens")),
    ],
)
def test_a_constructor_refuses_a_wrong_value_by_its_field(value: Any, field: str, wrong: object) -> None:
    with pytest.raises(InvalidParams, match=f"{type(value).__name__}.{field}") as refused:
        replace(value, **{field: wrong})
    assert refused.value.field == field
    assert refused.value.fix


@pytest.mark.requirement("R353")
@pytest.mark.parametrize(
    ("kind", "fields", "field"),
    [
        (SessionContent, {"session_type": "zzz", "summary": "x"}, "session_type"),
        (SessionContent, {"session_type": "end", "summary": 1}, "summary"),
        (SessionContent, {"session_type": "end", "summary": "x", "decisions": ["a", 1]}, "decisions"),
        (content.DialogueContent, {"text": "x", "role": "tool"}, "role"),
        (content.ToolIOContent, {"text": "x", "tool_name": "Bash", "status": "maybe"}, "status"),
        (content.OutputContent, {"text": "x", "format": "yaml"}, "format"),
        (content.ConfigContent, {"settings": ["a"]}, "settings"),
    ],
)
def test_a_content_that_no_commit_could_hold_cannot_be_made(kind: Any, fields: dict[str, Any], field: str) -> None:
    with pytest.raises(InvalidParams) as refused:
        kind(**fields)
    assert refused.value.field == field
    if field == "session_type":
        assert refused.value.fix == "use one of: start, end, handoff, checkpoint"


@pytest.mark.requirement("R304")
def test_a_commit_with_an_unknown_kind_of_boundary_names_the_known_ones(r: ramet.Ramet) -> None:
    wrong = {"content_type": "session", "session_type": "zzz", "summary": "x"}
    with pytest.raises(InvalidParams, match="zzz") as refused:
        r.history.commit("main", content=wrong)
    assert (refused.value.field, refused.value.fix) == (
        "content.session_type",
        "use one of: start, end, handoff, checkpoint",
    )
    r.history.commit("main", content=BOUNDARY)
    assert r.history.log("main", limit=1).items[0].preview == "Done."


@pytest.mark.requirement("R53", "R353")
def test_every_import_path_of_the_seed_has_its_own_here() -> None:
    from ramet.errors import SessionError, SpawnError
    from ramet.model.history.child_branch import DEFAULT_COLLAPSE_SYSTEM, build_collapse_prompt
    from ramet.model.history.content import SessionContent
    from ramet.protocol.history.child_branches import SpawnRow
    from ramet.store.history.child_branches import SpawnPointers, StoredSpawnPointers

    assert (SessionError, SpawnError, SessionContent) == (ramet.SessionError, ramet.SpawnError, ramet.SessionContent)
    assert issubclass(StoredSpawnPointers, SpawnPointers)
    assert "spawn_id" in SpawnRow.__struct_fields__
    assert DEFAULT_COLLAPSE_SYSTEM
    assert callable(build_collapse_prompt)
