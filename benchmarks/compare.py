"""Two checkouts side by side: whether one of them is slower, or needs more memory, than the other.

    python -m benchmarks compare /path/to/other/checkout --rounds 15 --only hook,rpc

Both sides run this checkout's benchmarks (`compare_worker`), each with the Ramet of its own `.venv`, and take turns
after every short round. So both meet the same machine, and the median of the ratios means something on a busy one. The
first row is the same program on both sides: its spread says what a difference has to exceed.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from benchmarks.compare_worker import FIGURES, Figures
from benchmarks.harness import Row, report, save

_LIMIT = 1.05


class Side:
    """The worker of one checkout."""

    def __init__(self, process: "subprocess.Popen[str]") -> None:
        self._process = process

    def ask(self, name: str) -> Figures:
        """One round."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(f"{name}\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError(f"the worker of {name} has ended")
        figures: Figures = json.loads(line)
        return figures


@contextmanager
def _side(python: Path) -> Iterator[Side]:
    root = str(Path(__file__).parent.parent)
    environ = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    pipe = subprocess.PIPE
    command = [str(python), "-m", "benchmarks.compare_worker"]
    process = subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True, env={**environ, "PYTHONPATH": root})
    try:
        yield Side(process)
    finally:
        assert process.stdin is not None
        process.stdin.close()
        process.wait()


def compare(other: Path, rounds: int, names: list[str]) -> Iterator[Row]:
    """A row for each figure: this checkout compared with the other one."""
    for name in names:
        print(f"comparing {name}…", flush=True)
        with _side(Path(sys.executable)) as ours, _side(other / ".venv" / "bin" / "python") as theirs:
            pairs = [_pair(ours, theirs, name, number) for number in range(rounds)]
        yield from _rows(FIGURES[name][0], pairs)


def _pair(ours: Side, theirs: Side, name: str, number: int) -> tuple[Figures, Figures]:
    """A round of each; who is first alternates."""
    if number % 2:
        second = theirs.ask(name)
        return ours.ask(name), second
    return ours.ask(name), theirs.ask(name)


def _rows(title: str, pairs: list[tuple[Figures, Figures]]) -> Iterator[Row]:
    for figure in pairs[0][0]:
        ratios = sorted(mine[figure] / max(other[figure], 1e-9) for mine, other in pairs)
        ratio = statistics.median(ratios)
        quarter = len(ratios) // 4
        best = [min(side[figure] for side in sides) for sides in zip(*pairs, strict=True)]
        details: dict[str, float] = {
            "best_ratio": round(best[0] / max(best[1], 1e-9), 3),
            "this": round(statistics.median(mine[figure] for mine, _ in pairs), 2),
            "other": round(statistics.median(other[figure] for _, other in pairs), 2),
            "lowest": round(ratios[0], 2),
            "quarter": round(ratios[quarter], 2),
            "three_quarters": round(ratios[-1 - quarter], 2),
            "highest": round(ratios[-1], 2),
            "load": round(os.getloadavg()[0], 1),
        }
        yield Row(f"{title}: {figure}", "the other checkout", f"<= {_LIMIT}", ratio, ratio <= _LIMIT, details)


def main(arguments: list[str]) -> None:
    """Compare this checkout with another one."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks compare", description=__doc__)
    parser.add_argument("other", type=Path, help="another checkout, with its own .venv")
    parser.add_argument("--rounds", type=int, default=15, help="how often each side measures (default: 15)")
    parser.add_argument("--only", default=",".join(FIGURES), help=f"of {', '.join(FIGURES)} (default: all)")
    parser.add_argument("--json", type=Path, help="write the results to this file as JSON instead of printing them")
    chosen = parser.parse_args(arguments)
    names = [name.strip() for name in chosen.only.split(",")]
    rows = []
    for row in compare(chosen.other.resolve(), chosen.rounds, names):
        rows.append(row)
        if chosen.json is not None:  # a run that is ended early keeps what it has
            save(rows, chosen.json)
    report(rows, chosen.json)


if __name__ == "__main__":
    main(sys.argv[1:])
