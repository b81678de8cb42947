"""What a commit may hold: typed payloads, and how each kind is treated."""

from typing import Any

import pytest

from ramet.errors import InvalidParams, UnknownContentType
from ramet.model.history.content import (
    BUILTIN_CONTENT_TYPES,
    BUILTIN_TYPE_HINTS,
    SessionContent,
    validate_content,
)

BOUNDARY = {"content_type": "session", "session_type": "end", "summary": "done"}


@pytest.mark.requirement("R34", "R43", "R44")
def test_content_of_the_type_session_is_recognised_as_such() -> None:
    content = validate_content(dict(BOUNDARY))
    assert isinstance(content, SessionContent)
    assert (content.content_type, content.session_type, content.summary) == ("session", "end", "done")
    assert SessionContent(session_type="start", summary="").content_type == "session"
    assert "session" in BUILTIN_CONTENT_TYPES


@pytest.mark.requirement("R35")
@pytest.mark.parametrize("session_type", ["start", "end", "handoff", "checkpoint"])
def test_a_boundary_is_one_of_four(session_type: str) -> None:
    content = validate_content({**BOUNDARY, "session_type": session_type})
    assert isinstance(content, SessionContent)
    assert content.session_type == session_type


@pytest.mark.requirement("R35", "R36", "R37")
@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"session_type": "pause"}, "content.session_type"),
        ({"session_type": None}, "content.session_type"),
        ({"summary": 5}, "content.summary"),
        ({"summary": None}, "content.summary"),
        ({"decisions": "use x"}, "content.decisions"),
        ({"next_steps": [1]}, "content.next_steps[0]"),
    ],
)
def test_a_boundary_that_is_not_one_is_refused_by_its_field(fields: dict[str, Any], field: str) -> None:
    with pytest.raises(InvalidParams) as refusal:
        validate_content({**BOUNDARY, **fields})
    assert refusal.value.field == field
    assert refusal.value.fix


@pytest.mark.requirement("R36")
@pytest.mark.parametrize("missing", ["summary", "session_type"])
def test_a_boundary_needs_its_kind_and_its_summary(missing: str) -> None:
    with pytest.raises(InvalidParams, match=missing):
        validate_content({name: value for name, value in BOUNDARY.items() if name != missing})


@pytest.mark.requirement("R37", "R38")
def test_lists_are_empty_by_default_and_no_two_boundaries_share_one() -> None:
    first, second = (SessionContent(session_type="start", summary="s") for _ in range(2))
    assert (first.decisions, first.failed_approaches, first.next_steps) == ([], [], [])
    first.decisions.append("mine alone")
    assert second.decisions == []
    assert SessionContent(session_type="start", summary="s").decisions == []


def test_a_boundary_cannot_be_changed() -> None:
    boundary = SessionContent(session_type="start", summary="s")
    with pytest.raises(AttributeError):
        boundary.summary = "another"  # type: ignore[misc]


@pytest.mark.requirement("R45")
def test_a_boundary_is_pinned_of_the_system_and_never_compressed() -> None:
    hints = BUILTIN_TYPE_HINTS["session"]
    assert (hints.default_priority, hints.default_role, hints.compression_priority) == ("pinned", "system", 95)
    assert hints.is_protected


def test_settings_and_notes_do_not_compile_and_all_else_does() -> None:
    silent = {name for name, hints in BUILTIN_TYPE_HINTS.items() if not hints.compiles}
    assert silent == {"config", "metadata"}
    assert all(0 <= hints.compression_priority <= 100 for hints in BUILTIN_TYPE_HINTS.values())


@pytest.mark.parametrize("kind", ["nope", "", None, 5, ["session"]])
def test_an_unknown_type_is_refused_with_the_known_ones(kind: Any) -> None:
    with pytest.raises(UnknownContentType) as refusal:
        validate_content({"content_type": kind, "text": "x"})
    assert (refusal.value.field, refusal.value.value) == ("content.content_type", kind)
    assert all(name in (refusal.value.fix or "") for name in BUILTIN_CONTENT_TYPES)
