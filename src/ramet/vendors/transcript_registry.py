"""The agent programs whose transcripts can be read, by the name of their driver."""

from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from ramet.model.hooks.transcript import Reading
from ramet.vendors.claude import transcript as claude
from ramet.vendors.codex import transcript as codex
from ramet.vendors.contract.transcript_lines import Subagent


class Reader(Protocol):
    """What a module of a program offers."""

    COUNTS_SUBAGENTS: bool
    """Whether the program counts what its sub-agents use as its own."""

    def read(self, data: bytes, offset: int) -> Reading:
        """What the file says from `offset` on; `data` are its bytes from there."""

    def find_subagents(self, paths: Sequence[Path]) -> list[Subagent]:
        """The files of these sessions' sub-agents."""


READERS: dict[str, Reader] = {"claude": claude, "codex": codex}
