"""Aider's runs: a file without ids and with local times."""

import os
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from ramet.model.hooks.transcript import Entry
from ramet.model.memory.stored_session import Source
from ramet.vendors.aider.sessions import NAME, SESSIONS
from ramet.vendors.contract.stored_files.session_sources import Surroundings
from ramet.vendors.contract.stored_files.unreadable import SourceUnreadable

RUN = "# aider chat started at 2025-07-01 10:00:00\n\n> Aider v0.86.2  \n> Model: model-h with diff edit format  \n\n"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    made = tmp_path / "shop"
    made.mkdir()
    return made


@pytest.fixture
def zone(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("TZ", "XYZ-2")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


def add(project: Path, text: str) -> None:
    with (project / NAME).open("a") as file:
        file.write(text)


def find(project: Path) -> list[Source]:
    return list(SESSIONS.find(Surroundings(project.parent, {}, (project,))))


def entries_of(source: Source, position: str | None = None) -> list[Entry]:
    return [entry for piece in SESSIONS.read(source, position) for entry in piece.entries]


@pytest.mark.requirement("R380")
def test_only_the_folders_of_known_projects_are_searched(project: Path) -> None:
    add(project, RUN + "#### Hello.  \n\nHello!\n")
    assert len(find(project)) == 1
    assert list(SESSIONS.find(Surroundings(project.parent, {}))) == []
    assert list(SESSIONS.recognise(project.parent)) == []


@pytest.mark.requirement("R382")
def test_a_local_time_is_an_instant(project: Path, zone: None) -> None:
    add(project, RUN + "#### Hello.  \n\nHello!\n")
    (piece,) = SESSIONS.read(find(project)[0], None)
    assert piece.head is not None
    assert piece.head.started_at is not None
    assert piece.head.started_at.isoformat() == "2025-07-01T08:00:00+00:00"


@pytest.mark.requirement("R381")
def test_a_run_that_goes_on_continues_and_its_keys_stay(project: Path) -> None:
    add(project, RUN + "#### One.  \n\nFirst.\n")
    (source,) = find(project)
    first = list(SESSIONS.read(source, None))
    cost = "Cost: $0.02 message, $0.05 session."
    add(project, f"\n> Tokens: 5.3k sent, 2k cache hit, 120 received. {cost}  \n\n#### Two.  \n\nSecond.\n")
    (grown,) = find(project)
    assert grown.key == source.key
    rest = entries_of(grown, first[-1].position)
    assert [entry.text for entry in rest if entry.role == "user"] == ["Two."]
    assert [entry.key for entry in entries_of(grown)] == [entry.key for piece in first for entry in piece.entries] + [
        entry.key for entry in rest
    ]
    (used,) = [entry.usage for entry in rest if entry.usage]
    assert used == {
        "input_tokens": 3300,
        "output_tokens": 120,
        "cache_read_tokens": 2000,
        "cache_write_tokens": 0,
        "context_tokens": 5300,
        "cost_usd": 0.02,
    }


@pytest.mark.requirement("R381")
def test_runs_of_the_same_second_are_told_apart_and_keep_their_names(project: Path) -> None:
    add(project, RUN + "#### One.  \n\n" + RUN + "#### Two.  \n\n")
    names = [source.key for source in find(project)]
    assert len(set(names)) == 2
    add(project, RUN.replace("10:00:00", "11:00:00") + "#### Three.  \n\n")
    assert [source.key for source in find(project)][:2] == names
    assert [entries_of(source)[1].text for source in find(project)] == ["One.", "Two.", "Three."]


def test_a_command_line_of_several_lines_is_the_program_s_and_a_torn_line_is_left(project: Path) -> None:
    add(
        project,
        RUN.replace("> Aider", "> aider --message One.\nTwo. x.py  \n> Aider")
        + "#### One.  \n#### Two.  \n\nHalf an ans",
    )
    (source,) = find(project)
    assert [(entry.role, entry.text) for entry in entries_of(source)][1:] == [("user", "One.\nTwo.")]
    position = list(SESSIONS.read(source, None))[-1].position
    add(project, "wer.\n")
    assert [entry.text for entry in entries_of(find(project)[0], position)] == ["Half an answer."]


def test_a_run_in_which_nobody_spoke_gives_nothing(project: Path) -> None:
    add(project, RUN)
    assert list(SESSIONS.read(find(project)[0], None)) == []


def test_a_file_that_was_cleared_says_that_the_run_is_gone(project: Path) -> None:
    add(project, RUN + "#### One.  \n\n")
    (source,) = find(project)
    (project / NAME).write_text("")
    with pytest.raises(SourceUnreadable, match="run 20250701-100000-shop is not in it any more"):
        list(SESSIONS.read(source, None))


@pytest.mark.parametrize(
    "data", [b"", b"\0" * 5000, bytes(range(256)) * 50, b"# aider chat started at yesterday\n#### x\n"]
)
def test_a_file_without_runs_has_no_sessions(data: bytes, project: Path) -> None:
    (project / NAME).write_bytes(data)
    assert find(project) == []


def test_bytes_that_are_no_text_are_replaced(project: Path) -> None:
    add(project, RUN)
    with (project / NAME).open("ab") as file:
        file.write(b"#### caf\xe9  \n\n\xff\xfe\n")
    assert [entry.text for entry in entries_of(find(project)[0])][1:] == ["caf\ufffd", "\ufffd\ufffd"]


def test_a_pipe_in_place_of_the_file_is_not_waited_for(project: Path) -> None:
    os.mkfifo(project / NAME)
    assert find(project) == []


@pytest.mark.requirement("R382")
def test_a_cost_on_a_line_of_its_own_belongs_to_the_tokens_before_it(project: Path) -> None:
    tokens = (
        "> Tokens: 5.3k sent, 1.0k cache write, 2.0k cache hit, 120 received.\nCost: $0.02 message, $0.05 session.  \n"
    )
    add(project, f"{RUN}#### One.  \n\nFirst.\n\n{tokens}\n#### Two.  \n\nCost: $9 is what I said.\n")
    entries = entries_of(find(project)[0])
    assert [entry.text for entry in entries if entry.role == "assistant" and entry.kind == "text"] == [
        "First.",
        "Cost: $9 is what I said.",
    ]
    (used,) = [entry.usage for entry in entries if entry.usage]
    assert (used["input_tokens"], used["cost_usd"]) == (2300, 0.02)
