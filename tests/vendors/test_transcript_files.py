"""Transcripts on a real disk: files that grow, shrink, are replaced, or are none."""

import os
from pathlib import Path

import pytest
from tests.vendors.transcript_fixtures import CLAUDE, texts

from ramet.model.hooks.transcript import Entry
from ramet.vendors.claude import transcript
from ramet.vendors.contract import transcript_files, transcript_lines
from ramet.vendors.contract.transcript_files import Position, read_piece


def line(text: str) -> bytes:
    return b'{"type":"user","uuid":"u%s","message":{"content":"%s"}}\n' % (text.encode()[:8], text.encode())


START = Position()


def read_to_end(path: Path, position: Position = START) -> tuple[list[Entry], Position]:
    entries: list[Entry] = []
    for _ in range(1000):
        piece = read_piece(path, position, transcript.TRANSCRIPT)
        assert piece is not None
        entries += piece.reading.entries
        position = piece.position
        if piece.is_last:
            return entries, position
    raise AssertionError("it comes to no end")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "session.jsonl"
    path.write_bytes(line("first") + line("second"))
    return path


@pytest.mark.parametrize("size", [100, 1000, 10_000, 100_000])
def test_pieces_of_any_size_make_the_whole(size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transcript_files, "PIECE_BYTES", size)
    whole = transcript.read(CLAUDE.read_bytes(), 0)
    entries, position = read_to_end(CLAUDE)
    assert (entries, position.offset) == (whole.entries, CLAUDE.stat().st_size)


def test_what_was_read_is_not_read_again(file: Path) -> None:
    entries, position = read_to_end(file)
    assert texts(entries, "text") == ["first", "second"]
    with file.open("ab") as more:
        more.write(line("third"))
    assert texts(read_to_end(file, position)[0], "text") == ["third"]


def test_a_file_that_was_cut_off_is_read_from_its_beginning(file: Path) -> None:
    _, position = read_to_end(file)
    os.truncate(file, len(line("first")))
    assert texts(read_to_end(file, position)[0], "text") == ["first"]


def test_a_file_that_was_replaced_is_read_from_its_beginning(file: Path) -> None:
    _, position = read_to_end(file)
    other = file.with_name("other")
    other.write_bytes(line("other") * 10)
    other.rename(file)
    assert texts(read_to_end(file, position)[0], "text") == ["other"] * 10


def test_a_file_that_was_written_anew_is_read_from_its_beginning(file: Path) -> None:
    _, position = read_to_end(file)
    file.write_bytes(line("a much longer one than the others") * 4)
    assert len(read_to_end(file, position)[0]) == 4


def test_a_line_longer_than_a_piece_is_read_whole(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transcript_files, "PIECE_BYTES", 64)
    file.write_bytes(line("first") + line("x" * 5000) + line("last"))
    assert texts(read_to_end(file)[0], "text") == ["first", "x" * 5000, "last"]


def test_a_line_beyond_all_bounds_is_passed_over_when_it_has_ended(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transcript_files, "PIECE_BYTES", 64)
    monkeypatch.setattr(transcript_files, "LONGEST_LINE", 1000)
    monkeypatch.setattr(transcript_lines, "LONGEST_LINE", 1000)
    file.write_bytes(line("first") + line("x" * 5000)[:-1])
    entries, position = read_to_end(file)
    assert (texts(entries, "text"), position.offset) == (["first"], len(line("first")))
    with file.open("ab") as more:
        more.write(b"\n" + line("last"))
    assert texts(read_to_end(file, position)[0], "text") == ["last"]


@pytest.mark.parametrize("make", [os.mkfifo, os.mkdir])
def test_what_is_no_file_is_left_alone(tmp_path: Path, make: object) -> None:
    path = tmp_path / "session.jsonl"
    assert callable(make)
    make(path)
    assert read_piece(path, Position(), transcript.TRANSCRIPT) is None
    assert read_piece(tmp_path / "nowhere", Position(), transcript.TRANSCRIPT) is None
