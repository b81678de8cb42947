"""Lines of transcripts that no recorded file has."""

import pytest
from tests.vendors.transcript_fixtures import texts

from ramet.model.hooks.transcript import Reading
from ramet.vendors.claude import transcript as claude
from ramet.vendors.codex import transcript as codex
from ramet.vendors.contract import transcript_lines


def test_an_unknown_kind_of_line_is_no_damage() -> None:
    line = b'{"type":"new-in-2030","uuid":"u","message":{"content":"hm"}}\n'
    assert claude.read(line, 0) == codex.read(line, 0) == Reading(entries=[], offset=len(line), skipped=0)


def test_half_of_a_character_costs_only_that() -> None:
    line = b'{"type":"user","uuid":"u","message":{"content":"cut \\ud83d"}}\n'
    assert texts(claude.read(line, 0).entries, "text") == ["cut ?"]


def test_a_line_beyond_all_bounds_is_passed_over(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transcript_lines, "LONGEST_LINE", 1000)
    huge = b'{"type":"user","uuid":"u","message":{"content":"%s"}}\n' % (b"x" * 3000)
    after = b'{"type":"user","uuid":"v","message":{"content":"after"}}\n'
    found = claude.read(huge + after, 0)
    assert (texts(found.entries, "text"), found.skipped) == (["after"], 1)


def test_a_line_is_read_once_it_has_its_end() -> None:
    line = b'{"type":"user","uuid":"u","message":{"content":"hm"}}'
    assert claude.read(line, 5) == Reading(entries=[], offset=5)
    assert texts(claude.read(line + b"\n", 5).entries, "text") == ["hm"]
