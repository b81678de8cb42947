"""`ramet import` against decoding the same lines with msgspec: once, and again when nothing has changed.

The homes of Claude Code and Codex are made from recorded sessions (`transcript_files`), half of the bytes each, in
sessions of 2 MB. The command and its daemon are processes of their own, as people run them, with durable writes.

    python -m benchmarks.imports --mb 1000
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import apsw
import msgspec
import psutil

from benchmarks.harness import Row, report, scratch, timed
from benchmarks.transcript_files import Growing

_MB = 1_000_000
_SESSION_MB = 2
_ROUNDS_OF_A_SESSION = 1000
"""More than a session has, so that no two have an id in common."""


def measure(thorough: bool) -> Iterator[Row]:
    """A home of some size."""
    return measure_size(200 if thorough else 20)


def measure_size(size_mb: int) -> Iterator[Row]:
    """Import a home of this size, twice."""
    with scratch() as folder:
        files = make_home(folder, size_mb)
        size = sum(file.stat().st_size for file in files) / _MB
        before = time.process_time()
        decoded = min(timed(lambda: decode(files)) for _ in range(3))
        processor = (time.process_time() - before) / 3
        first, took, used = import_home(folder)
        rows = count_rows(folder)
        again, took_again, _ = import_home(folder)
        is_same = count_rows(folder) == rows
        run(folder, "daemon", "stop")
    details: dict[str, float] = {
        "mb": round(size),
        "decode_mb_s": round(size / decoded),
        "mb_s": round(size / took, 1),
        "sessions": first["new"],
        "processor_ratio_command": round(used[0] / processor, 1),
        "processor_ratio_daemon": round(used[1] / processor, 1),
        "load": round(os.getloadavg()[0], 1),
    }
    ratio = took / decoded
    yield Row(f"import of {size:.0f} MB of sessions", "decoding the lines", "<= 10", ratio, ratio <= 10, details)
    ratio = took_again / decoded
    is_reached = ratio <= 0.75 and is_same and again["unchanged"] == first["new"]
    details = {"seconds": round(took_again, 2), "rows_written": 0 if is_same else 1, "unchanged": again["unchanged"]}
    yield Row("the same again", "decoding the lines", "<= 0.75", ratio, is_reached, details)


def make_home(folder: Path, size_mb: int) -> list[Path]:
    """The folders of both programs, as they leave them."""
    files = []
    for number in range(max(2, size_mb // _SESSION_MB)):
        vendor = ("claude", "codex")[number % 2]
        first = number * _ROUNDS_OF_A_SESSION
        thread = f"{first:08}-0000-4000-8000-000000000001"
        places = {
            "claude": folder / ".claude" / "projects" / "-home-dev-project" / f"{thread}.jsonl",
            "codex": folder
            / ".codex"
            / "sessions"
            / "2026"
            / "01"
            / "01"
            / f"rollout-2026-01-01T00-00-00-{thread}.jsonl",
        }
        places[vendor].parent.mkdir(parents=True, exist_ok=True)
        Growing(places[vendor], vendor, first).grow(_SESSION_MB * _MB)
        files.append(places[vendor])
    return files


def decode(files: list[Path]) -> None:
    """The floor: every line, decoded."""
    for file in files:
        with file.open("rb") as lines:
            for line in lines:
                msgspec.json.decode(line)


def import_home(folder: Path) -> tuple[dict[str, Any], float, tuple[float, float]]:
    """Run the command; what it says, how long it took, and the processor time of the command and of the daemon."""
    run(folder, "daemon", "start")
    daemon = psutil.Process(json.loads(run(folder, "daemon", "status", "--json"))["pid"])
    before, children = sum(daemon.cpu_times()[:2]), _children_seconds()
    start = time.perf_counter()
    told = json.loads(run(folder, "import", "--yes", "--json"))
    took = time.perf_counter() - start
    used = (_children_seconds() - children, sum(daemon.cpu_times()[:2]) - before)
    return told["imported"], took, used


def _children_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def run(folder: Path, *arguments: str) -> str:
    """The command line, in a home of its own."""
    command = [str(Path(sys.executable).parent / "ramet"), *arguments]
    done = subprocess.run(command, env=environ_in(folder), cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(done.stderr)
    return done.stdout


def environ_in(folder: Path) -> dict[str, str]:
    """What a command needs to have its home in a folder."""
    return {"PATH": os.environ["PATH"], "HOME": str(folder), "RAMET_HOME": str(folder / "r"), "LC_ALL": "C.UTF-8"}


def count_rows(folder: Path) -> dict[str, int]:
    """How many rows each table has, and the newest event."""
    database = apsw.Connection(str(folder / "r" / "ramet.db"), flags=apsw.SQLITE_OPEN_READONLY)
    names = database.execute("SELECT name FROM sqlite_schema WHERE type = 'table'").fetchall()
    counted = {str(name): int(str(database.execute(f"SELECT count(*) FROM {name}").get)) for (name,) in names}
    newest = int(str(database.execute("SELECT max(id) FROM events").get))
    database.close()
    return {**counted, "newest event": newest}


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.imports", description=__doc__)
    parser.add_argument("--mb", type=int, default=20, help="the size of the home, in megabytes")
    parser.add_argument("--json", type=Path, help="write the results to this file")
    arguments = parser.parse_args()
    report(list(measure_size(arguments.mb)), arguments.json)


if __name__ == "__main__":
    main()
