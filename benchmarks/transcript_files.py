"""Transcripts of any length: what real programs wrote, over and over, with texts of an ordinary length.

Each round is a recorded session once more, later and under ids of its own. What was said in it is replaced by messages
of about 2,000 bytes, for those that were recorded are a few words long.
"""

import json
import re
from collections.abc import Iterator
from datetime import datetime, timedelta
from itertools import count
from pathlib import Path
from typing import Any

from benchmarks.corpus import messages

_FIXTURES = Path(__file__).parent.parent / "tests" / "vendors" / "transcripts"
_RECORDED = {"claude": "1111.jsonl", "codex": "0001.jsonl"}
_ID = re.compile(r"\b00000000(-0000-4000-8000-\d{12})|\b(msg|toolu|call|fc|rs)_(?=\d{4}\b)")
_INSTANT = re.compile(r"2026-01-01T\d\d:\d\d:\d\d")
_TEXTS = frozenset({"text", "thinking", "content", "stdout", "output", "aggregated_output"})
_PROGRAM = ("<", "This session is being continued")
_COMPACTION = ("isCompactSummary", '"compacted"', "compaction_output")
_ROUNDS_OF_A_CONTEXT = 10
"""After how many rounds, some megabytes in all, the context is compacted."""


class Growing:
    """A transcript that grows, the same for the same vendor and the same first round."""

    def __init__(self, file: Path, vendor: str, first: int = 0) -> None:
        """`first`: the number of its first round, so that several files have no id in common."""
        self.file = file
        self.vendor = vendor
        self._lines = _lines(vendor, first)

    def grow(self, size_bytes: int = 1) -> None:
        """By so many bytes, and to the end of the line."""
        with self.file.open("ab") as file:
            end = file.tell() + size_bytes
            while file.tell() < end:
                file.write(next(self._lines))


def _lines(vendor: str, first: int) -> Iterator[bytes]:
    (recorded,) = (_FIXTURES / vendor).rglob(f"*{_RECORDED[vendor]}")
    lines, texts = recorded.read_text(encoding="utf-8").splitlines(), messages(4000)
    for number in count(first):
        is_compacted = number % _ROUNDS_OF_A_CONTEXT == _ROUNDS_OF_A_CONTEXT - 1
        for place, line in enumerate(lines):
            if is_compacted or not any(mark in line for mark in _COMPACTION):
                text = f"{number}/{place} {texts[(number * len(lines) + place) % len(texts)]}"
                yield json.dumps(_say(json.loads(_move_on(line, number)), text)).encode() + b"\n"


def _move_on(line: str, number: int) -> str:
    """The same line in a later round."""
    later = timedelta(minutes=2 * number)
    line = _INSTANT.sub(lambda found: (datetime.fromisoformat(found[0]) + later).isoformat(), line)
    return _ID.sub(lambda found: f"{number:08}{found[1]}" if found[1] else f"{found[2]}_{number}x", line)


def _say(told: Any, text: str) -> Any:
    """The same with another text wherever there is one; a program writes what a tool printed in several places."""
    if isinstance(told, list):
        return [_say(each, text) for each in told]
    if not isinstance(told, dict):
        return told
    return {name: text if _is_said(name, value) else _say(value, text) for name, value in told.items()}


def _is_said(name: str, value: Any) -> bool:
    return name in _TEXTS and isinstance(value, str) and not value.startswith(_PROGRAM)
