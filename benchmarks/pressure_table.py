"""The table of the pressure benchmark for the documentation, from the JSON of one run or of several.

    python -m benchmarks.pressure_table before.json after.json

The columns of each run: the 95th percentile of a hook, and in brackets the quiet one of the same daemon; the same for
the hook as a process, and for a durable append; the most memory of the daemon and its processes, and what they took
afterwards.
"""

import json
import sys
from pathlib import Path
from typing import Any

from benchmarks.pressure import TRIALS

_HOOKS, _MEMORY = "p95 of a hook beside: ", "memory beside: "
_EMPTY = ["", "", "", ""]


def rows(files: list[Path]) -> list[str]:
    """The lines of the table."""
    runs = [_by_title(file) for file in files]
    names = ["hook", "process", "append", "memory"]
    header = ["beside", *(f"{file.stem}: {name}" for file in files for name in names)]
    lines = [_line(header), _line(["---"] * len(header))]
    for trial in TRIALS:
        cells = [_cells(run, trial.title) for run in runs]
        if any(cells_of_run != _EMPTY for cells_of_run in cells):
            lines.append(_line([trial.title, *(cell for cells_of_run in cells for cell in cells_of_run)]))
    return lines


def _by_title(file: Path) -> dict[str, Any]:
    return {row["what"]: row["details"] for row in json.loads(file.read_text(encoding="utf-8"))["rows"]}


def _cells(run: dict[str, Any], title: str) -> list[str]:
    hooks, memory = run.get(_HOOKS + title), run.get(_MEMORY + title)
    if hooks is None or memory is None:
        return _EMPTY
    times = [
        f"{_short(hooks[f'{name}_p95_ms'])} ({_short(hooks[f'{name}_quiet_p95_ms'])})"
        for name in ("hook", "process", "append")
    ]
    return [*times, f"{max(memory['peak_mb'], memory['daemon_peak_mb']):,} → {memory['after_mb']:,}"]


def _short(value: float) -> str:
    return f"{value:,.0f}" if value >= 10 else f"{value:.1f}"


def _line(cells: list[str]) -> str:
    return f"| {' | '.join(cells)} |"


if __name__ == "__main__":
    print("\n".join(rows([Path(name) for name in sys.argv[1:]])))
