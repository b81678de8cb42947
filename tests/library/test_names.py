"""What users import, and that importing it costs nothing before it is used."""

import subprocess
import sys

import pytest

import ramet
from ramet import SessionContent
from ramet.model.history.child_branch import DEFAULT_COLLAPSE_SYSTEM, build_collapse_prompt
from ramet.model.history.content import BUILTIN_CONTENT_TYPES, BUILTIN_TYPE_HINTS, validate_content


@pytest.mark.requirement("R33", "R53")
def test_what_users_need_is_there_and_nothing_of_the_store() -> None:
    assert all(getattr(ramet, name) is not None for name in ramet.__all__)
    assert {
        "SessionContent",
        "SpawnInfo",
        "SpawnRecord",
        "SpawnFamily",
        "CollapseResult",
        "SpawnError",
        "SessionError",
    } <= set(ramet.__all__)
    asked_for = {"TaskStore", "SqliteTaskStore", "PostgresTaskStore", "ConnectedTaskStore"}  # by seed 003
    hidden = [name for name in ramet.__all__ if "Store" in name or "Repository" in name or "Row" in name]
    assert set(hidden) == asked_for
    with pytest.raises(AttributeError, match="no attribute 'Tract'"):
        _ = ramet.Tract


def test_importing_ramet_loads_nothing_of_it() -> None:
    program = "import sys, ramet; print(*sorted(name for name in sys.modules if name.startswith('ramet')))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["ramet", "ramet.version"]


@pytest.mark.requirement("R44", "R45", "R47", "R49")
def test_contents_and_prompts_are_where_the_model_is() -> None:
    content = validate_content({"content_type": "session", "session_type": "start", "summary": "Begin."})
    assert isinstance(content, SessionContent)
    assert "session" in BUILTIN_CONTENT_TYPES
    assert BUILTIN_TYPE_HINTS["session"].compression_priority == 95
    assert "Subagent completed: " in DEFAULT_COLLAPSE_SYSTEM
    assert "Target approximately 50 tokens." in build_collapse_prompt("text", "look", target_tokens=50)
