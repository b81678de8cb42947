"""Run the benchmarks: `python -m benchmarks [rpc startup memory history queue …] [--thorough] [--json FILE]`.

`python -m benchmarks compare /path/to/other/checkout` compares two checkouts instead.
"""

import argparse
import sys
from pathlib import Path

from benchmarks import (
    agents,
    compare,
    history,
    hooks,
    imports,
    memory,
    pressure,
    queue,
    rpc,
    runs,
    starting,
    startup,
    transcripts,
    tree,
    why,
)
from benchmarks.harness import Measure, Row, report

MEASURES: dict[str, Measure] = {
    "rpc": rpc.measure,
    "startup": startup.measure,
    "memory": memory.measure,
    "history": history.measure,
    "queue": queue.measure,
    "agents": agents.measure,
    "starting": starting.measure,
    "runs": runs.measure,
    "tree": tree.measure,
    "hooks": hooks.measure,
    "transcripts": transcripts.measure,
    "imports": imports.measure,
    "why": why.measure,
    "pressure": pressure.measure,
}
_ONLY_IF_NAMED = {"pressure"}
"""Those that take longer than all others together."""


def main() -> None:
    if sys.argv[1:2] == ["compare"]:
        compare.main(sys.argv[2:])
        return
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument(
        "names", nargs="*", choices=[*MEASURES, []], help="the benchmarks to run (default: all but pressure)"
    )
    parser.add_argument("--thorough", action="store_true", help="run for minutes instead of seconds")
    parser.add_argument("--json", type=Path, help="write the results to this file as JSON instead of printing them")
    arguments = parser.parse_args()
    rows: list[Row] = []
    for name in arguments.names or [name for name in MEASURES if name not in _ONLY_IF_NAMED]:
        print(f"measuring {name}…", flush=True)
        rows.extend(MEASURES[name](arguments.thorough))
    report(rows, arguments.json)


if __name__ == "__main__":
    main()
