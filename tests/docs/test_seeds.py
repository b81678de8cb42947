"""Every name of the seed documents has its row: our name, which exists, and a test; or the reason why there is none."""

import importlib
import inspect
import json
import re
from collections.abc import Callable, Collection, Iterator
from pathlib import Path
from typing import Any, get_args

import click
import pytest
from tests.docs.pages import ROOT
from tests.requirements import REQUIREMENTS
from tests.world import open_world
from tools import seeds
from tools.seeds import Row

from ramet.cli.main import ramet as command_line
from ramet.config.keys import KEYS
from ramet.mcp.tools import TOOLS
from ramet.model.event import EventKind
from ramet.model.record.effort import Outcome
from ramet.protocol.operations import OPERATIONS

ROWS = seeds.read_rows()
NAMES: dict[str, dict[str, list[str]]] = json.loads((ROOT / "tests/data/seed_names.json").read_text())
SOUGHT = """
    aur spawn, engine effort start, engine session continue, engine log, engine query, engine rpc, CheckpointState,
    spawn_pointers, parent_tract_id, child_tract_id, inheritance_mode, TraceError, maxSubagentDepth, parentSessionId,
    spawn_session, await_sessions, .gza/plans, gza.yaml, mark_completed, search.query, search.sessions, COMMANDS.md,
    SpawnPointerRepository, SpawnInfo, CollapseResult, SessionContent, ContextAccumulator, spawn_sequential, workflowId,
    childSessionId, spawnDepth, TaskStore, get_next_pending, is_task_blocked, output_content, report_file,
    dehydration_payload, current_phase, fleet_status, db.effort.validate, commands.effort.start, hooks.preToolUse,
    DIALOGUE.md, 1_BRAINSTORM.md
"""
"""What a reader of the seeds looked for and did not find, and what belongs to it."""


def listed() -> Iterator[tuple[str, str, str]]:
    return ((seed, kind, name) for seed, kinds in NAMES.items() for kind, names in kinds.items() for name in names)


@pytest.mark.requirement("R313", "R356")
def test_every_name_of_the_documents_has_exactly_one_row() -> None:
    assert sorted(listed()) == sorted((row.seed, row.kind, row.name) for row in ROWS)
    assert len({(row.seed, row.kind, row.name) for row in ROWS}) == len(ROWS)
    assert list(NAMES) == list(seeds.SEEDS)


@pytest.mark.requirement("R356")
def test_the_names_that_a_reader_looked_for_are_among_them() -> None:
    sought = [name.strip() for name in SOUGHT.split(",")]
    assert len(sought) >= 44
    assert [name for name in sought if not any(name in row.name for row in ROWS)] == []


@pytest.mark.requirement("R313", "R356")
def test_no_cell_is_empty_without_a_reason() -> None:
    proofs = seeds.find_proofs()
    empty = [row for row in ROWS if not (row.ours and row.requirement in proofs) and not row.departure]
    assert empty == []
    assert [row for row in ROWS if row.requirement and row.requirement not in REQUIREMENTS] == []
    assert [row for row in ROWS if row.ours and row.requirement not in proofs] == []
    page = seeds.render()
    assert all(f"| {row.kind} | `{row.name}` |" in page for row in ROWS)


@pytest.mark.requirement("R356")
def test_a_name_that_differs_says_why() -> None:
    silent = [row for row in ROWS if not row.departure and _last(row.name) != _last(row.ours)]
    assert {(row.name, row.ours) for row in silent} <= RENAMED_BY_THEIR_PLACE


RENAMED_BY_THEIR_PLACE = {
    ("parentSessionId", "column sessions.parent_session_id"),
    ("spawnDepth", "column sessions.spawn_depth"),
    ("maxSubagentDepth", "key spawn.depth"),
    ("maxTotalAgentsPerTask", "key spawn.total"),
    ("lastStepNotes", "column sessions.notes"),
    ("session_created", "event session.started"),
    ("session_created.data", "column sessions.parent_session_id"),
    ("spawn", "operation spawn.agent"),
    ("load_tasks", "ramet.model.runs.task_file.parse"),
    ("load_session", "ramet run --resume"),
    ("aur spawn --resume", "ramet run --resume"),
    ("CheckpointState.execution_id", "column runs.id"),
    ("CheckpointState.started_at", "column runs.created_at"),
    ("engine effort start", "ramet effort start"),
    ("engine session continue", "ramet session continue"),
    ("engine query", "ramet query"),
    ("engine rpc", "ramet rpc"),
    ("claude --resume", "ramet resume"),
    ("_get_task_output", "ramet.ConnectedTaskStore.get_task_output"),
    ("config.project_dir", "column projects.path"),
    ("tasks.md", "docs/task-files.md"),
}
"""The same thing under the name that its table, its group of commands or its style of writing gives it."""


def _last(name: str) -> str:
    return name.rpartition(" ")[2] if name.endswith(".md") else re.split(r"[. /(]", name.rstrip(")/"))[-1]


@pytest.mark.requirement("R356")
@pytest.mark.parametrize("row", [row for row in ROWS if row.ours], ids=lambda row: f"{row.seed} {row.name}")
def test_our_name_exists(row: Row, schema: dict[str, list[str]]) -> None:
    kind, _, name = row.ours.partition(" ")
    if kind in ("table", "view", "index"):
        assert name in schema
    elif kind == "column":
        table, _, column = name.partition(".")
        assert column in schema[table]
    elif kind in CLOSED:
        assert name in CLOSED[kind]
    elif kind in CHECKS:
        CHECKS[kind](name)
    elif row.ours.startswith("ramet."):
        _check_attribute(row.ours)
    else:
        assert (ROOT / row.ours).exists()


@pytest.fixture(scope="module")
def schema(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[str]]:
    """The tables, views and indexes of a fresh database, with their columns."""
    with open_world(tmp_path_factory.mktemp("world"), None) as world:
        names = [row[0] for row in world.sql("SELECT name FROM sqlite_master")]
        return {name: [row[1] for row in world.sql(f"PRAGMA table_info({name})")] for name in names}


def _check_operation(text: str) -> None:
    found = re.fullmatch(r"([\w.]+)(?:\((\w+)\))?(?: -> (\w+))?", text)
    assert found is not None
    operation = OPERATIONS[found[1]]
    assert found[2] is None or found[2] in operation.request.__struct_encode_fields__
    assert found[3] is None or found[3] in operation.reply.__struct_encode_fields__


def _check_command(words: list[str]) -> None:
    command: click.Command = command_line
    for word in [word for word in words if not word.startswith("--")]:
        assert isinstance(command, click.Group)
        command = command.get_command(click.Context(command), word)  # type: ignore[assignment]
        assert command is not None, word
    options = {option for each in command.params for option in (*each.opts, *each.secondary_opts)}
    assert {word for word in words if word.startswith("--")} <= options


def _check_attribute(text: str) -> None:
    dotted, _, parameter = text.rstrip(")").partition("(")
    found = _find(dotted)
    if parameter:
        assert parameter in inspect.signature(found).parameters


def _find(dotted: str) -> Any:
    """A module, or what is in one: a field of a class counts."""
    parts = dotted.split(".")
    for length in range(len(parts), 0, -1):
        try:
            found: Any = importlib.import_module(".".join(parts[:length]))
        except ModuleNotFoundError:
            continue
        for name in parts[length:]:
            if name in getattr(found, "__annotations__", {}) or (
                inspect.isclass(found)
                and not hasattr(found, name)
                and any(f"self.{name}" in inspect.getsource(each) for each in found.__mro__[:-1])
            ):
                return None
            found = getattr(found, name)
        return found
    raise AssertionError(dotted)


CLOSED: dict[str, Collection[str]] = {
    "tool": [tool.name for tool in TOOLS],
    "key": KEYS,
    "event": get_args(EventKind),
    "outcome": get_args(Outcome),
}


def _check_text(name: str) -> None:
    """A heading or a file is named in the code; a report's name is made of an ordinal and a skill."""
    fixed = re.sub(r"^\d_[A-Z]+(_\w+)?\.md$|\{\w+\}.*|RAMET_HOME/", "", name).strip("/")
    assert any(fixed in path.read_text() for path in (ROOT / "src").rglob("*.py"))


CHECKS: dict[str, Callable[[str], None]] = {
    "operation": _check_operation,
    "ramet": lambda name: _check_command(name.split()),
    "heading": _check_text,
    "file": _check_text,
}


def test_the_page_is_in_the_navigation() -> None:
    assert "reference/seeds.md" in (ROOT / "mkdocs.yml").read_text()
    assert (Path(seeds.__file__).parent / "seeds.json").exists()
