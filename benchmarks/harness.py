"""The rows of a benchmark: what was measured, against what, and what should be reached; as a table and as JSON."""

import json
import os
import platform
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path


@dataclass(frozen=True)
class Row:
    """One measured ratio; where nothing was promised, `reach` is empty."""

    what: str
    against: str
    reach: str
    ratio: float
    is_reached: bool
    details: dict[str, float] = field(default_factory=dict)


Measure = Callable[[bool], Iterator[Row]]
"""Measures some rows; given True it takes its time, else it is quick."""


@contextmanager
def scratch() -> Iterator[Path]:
    """A folder with a short path, for a database and its socket."""
    with tempfile.TemporaryDirectory(prefix="rb") as folder:
        yield Path(folder)


def percentile(values: list[float], share: float) -> float:
    """The value below which this share of the values lies."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def interleaved(*jobs: Callable[[], float], rounds: int) -> list[float]:
    """The median of each job, all of them taking turns, so that a busy moment hits them alike."""
    samples: list[list[float]] = [[] for _ in jobs]
    for _ in range(rounds):
        for job, taken in zip(jobs, samples, strict=True):
            taken.append(job())
    return [statistics.median(taken) for taken in samples]


def timed(job: Callable[[], object]) -> float:
    """How many seconds a job takes."""
    start = time.perf_counter()
    job()
    return time.perf_counter() - start


def flush_cost_ms() -> float:
    """What one flush of 4 KiB costs on this disk; durable writes mean nothing without it."""
    samples = []
    with tempfile.NamedTemporaryFile() as file:
        for _ in range(200):
            start = time.perf_counter()
            os.pwrite(file.fileno(), b"x" * 4096, 0)
            os.fdatasync(file.fileno())
            samples.append((time.perf_counter() - start) * 1000)
    return statistics.median(samples)


def save(rows: list[Row], file: Path) -> None:
    """Write what was measured so far."""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(_document(rows) + "\n", encoding="utf-8")


def report(rows: list[Row], file: Path | None) -> None:
    """Print the table for people and the JSON for programs."""
    width = max(len(row.what) for row in rows)
    print(f"\n{'what':<{width}}  {'ratio':>7}  {'target':<8}        compared with")
    for row in rows:
        mark = ("reached" if row.is_reached else "MISSED ") if row.reach else "       "
        print(f"{row.what:<{width}}  {row.ratio:>7.2f}  {row.reach:<8} {mark} {row.against}")
        print(f"{'':<{width}}  " + ", ".join(f"{name} {value:g}" for name, value in row.details.items()))
    print(f"\nflush of 4 KiB: {flush_cost_ms():.3f} ms, Python {platform.python_version()}")
    if file is not None:
        save(rows, file)
        print(f"JSON: {file}", file=sys.stderr)
    else:
        print(_document(rows))


def _document(rows: list[Row]) -> str:
    machine = {
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.machine()}",
        "flush_4k_ms": round(flush_cost_ms(), 3),
        "load": os.getloadavg(),
    }
    return json.dumps({"machine": machine, "rows": [asdict(row) for row in rows]}, indent=2)
