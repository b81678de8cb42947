"""What a keystroke costs: the process of `ramet --help` and of a completion, against one that only imports click."""

import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

from benchmarks.daemons import STARTED, places_in, running
from benchmarks.harness import Row, interleaved, scratch, timed
from ramet.client.connection import Connection

_RAMET = str(Path(sys.executable).parent / "ramet")
_MANY = 5_000
"""Efforts in the database while a shell completes their names."""


def measure(thorough: bool) -> Iterator[Row]:
    """`ramet --help`, `ramet s<TAB>` and `ramet show <TAB>`, taking turns with the import of click."""
    rounds = 60 if thorough else 20
    with scratch() as folder:
        places = places_in(folder)
        with running(places):
            _make_efforts(places.socket)
            environ = {**os.environ, "RAMET_HOME": str(folder)}
            click, help_page, commands, names = interleaved(
                lambda: timed(lambda: _run([sys.executable, "-c", "import click"])),
                lambda: timed(lambda: _run([_RAMET, "--help"], environ)),
                lambda: timed(lambda: _run([_RAMET], environ | _typed("ramet s"))),
                lambda: timed(lambda: _run([_RAMET], environ | _typed("ramet show "))),
                rounds=rounds,
            )
    for what, seconds, limit in (
        ("ramet --help", help_page, 1.5),
        ("ramet s<TAB>", commands, 2.0),
        (f"ramet show <TAB>, {_MANY:,} efforts", names, 4.0),
    ):
        details = {"ramet_ms": round(seconds * 1000, 1), "click_ms": round(click * 1000, 1)}
        ratio = seconds / click
        yield Row(what, 'python -c "import click"', f"<= {limit}", ratio, ratio <= limit, details)


def _typed(line: str) -> dict[str, str]:
    """The environment in which bash asks for candidates."""
    words = line.split(" ")
    return {"_RAMET_COMPLETE": "bash_complete", "COMP_WORDS": line, "COMP_CWORD": str(len(words) - 1)}


def _make_efforts(socket: Path) -> None:
    with Connection(str(socket), STARTED) as connection:
        connection.call("db.project.upsert", {"path": "/bench"})
        prompt = "Let guests keep their cart when they close the browser. " * 20
        for _ in range(_MANY // 100):
            connection.call_many([("work.add", {"prompt": prompt, "task": "/bench/task"})] * 100)


def _run(command: list[str], environ: Mapping[str, str] | None = None) -> None:
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, env=environ)
