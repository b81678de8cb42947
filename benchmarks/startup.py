"""What it costs to ask for help: the whole process, against an interpreter that only imports click."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from benchmarks.harness import Row, interleaved, timed

_RAMET = str(Path(sys.executable).parent / "ramet")


def measure(thorough: bool) -> Iterator[Row]:
    """`ramet --help`, the two taking turns."""
    ramet, click = interleaved(
        lambda: timed(lambda: _run([_RAMET, "--help"])),
        lambda: timed(lambda: _run([sys.executable, "-c", "import click"])),
        rounds=60 if thorough else 20,
    )
    ratio = ramet / click
    details = {"ramet_ms": round(ramet * 1000, 1), "click_ms": round(click * 1000, 1)}
    yield Row("ramet --help", 'python -c "import click"', "<= 1.5", ratio, ratio <= 1.5, details)


def _run(command: list[str]) -> None:
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
