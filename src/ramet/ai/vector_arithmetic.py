"""Vectors as the search index keeps them: halves of floats of length 1, compared by brute force.

At 20,000 rows a comparison takes milliseconds, so there is no second index to keep in step. Rows are read in portions:
memory does not grow with their number.
"""

import heapq
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

import numpy as np
from numpy.typing import NDArray

_PORTION = 8192
_KIND = "<f2"

Vectors = NDArray[np.float32]


def matrix(rows: Sequence[Sequence[float]]) -> Vectors:
    """Rows of numbers as vectors."""
    return np.asarray(rows, dtype=np.float32)


def pack(vectors: Vectors) -> list[bytes]:
    """Each row as bytes, scaled to length 1; empty if it is zero or not a number."""
    return [_pack(row) for row in vectors]


def _pack(row: Vectors) -> bytes:
    length = float(np.linalg.norm(row))
    return (row / length).astype(_KIND).tobytes() if np.isfinite(length) and length > 0 else b""


def nearest(asked: bytes, rows: Iterable[tuple[int, bytes]], limit: int) -> list[tuple[int, float]]:
    """The rows with the greatest cosine, best first; equal ones in the order of their ids."""
    query = np.frombuffer(asked, dtype=_KIND).astype(np.float32)
    comparable = ((row_id, data) for row_id, data in rows if len(data) == len(asked))
    best: list[tuple[float, int]] = []
    for ids, matrix in _portions(comparable, len(query)):
        scores = matrix @ query
        top = np.argsort(-scores, kind="stable")[:limit]
        best = heapq.nlargest(limit, [*best, *((float(scores[place]), -ids[place]) for place in top)])
    return [(-negative, score) for score, negative in best]


def _portions(rows: Iterator[tuple[int, bytes]], width: int) -> Iterator[tuple[list[int], Vectors]]:
    while portion := list(islice(rows, _PORTION)):
        joined = np.frombuffer(b"".join(data for _, data in portion), dtype=_KIND)
        yield [row_id for row_id, _ in portion], joined.reshape(len(portion), width).astype(np.float32)
