"""Search by meaning: what gives texts their vectors, as the search index sees it.

A vector is opaque to the index: bytes of one length, from a source with a fingerprint. Vectors of two fingerprints are
never compared; if the source changes, the index computes them again.
"""

from collections.abc import Iterable, Sequence
from typing import Protocol


class VectorSource(Protocol):
    """A model that turns texts into vectors. It may be slow, and it may fail with a `RametError`."""

    @property
    def fingerprint(self) -> str:
        """The model, and everything else on which its vectors depend."""

    @property
    def batch(self) -> int:
        """How many texts to give it at once: as many as take it a moment."""

    def embed(self, texts: Sequence[str]) -> list[bytes]:
        """A vector for each text; empty if the model knows nothing in it."""

    def nearest(self, asked: bytes, rows: Iterable[tuple[int, bytes]], limit: int) -> list[tuple[int, float]]:
        """The ids of the rows that mean most nearly what was asked, best first, each with its likeness up to 1."""
