"""What a hook takes while an import runs, against a daemon that has nothing else to do.

    python -m benchmarks.imports_beside --mb 100

Two daemons run side by side. One imports a home as `benchmarks.imports` makes it, the other is idle. Each hook goes to
one and then to the other, on a connection of its own, so that both have the same machine in the same moment.
"""

import argparse
import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from benchmarks.daemons import places_in, running
from benchmarks.harness import percentile, scratch
from benchmarks.hooks_load import payloads
from benchmarks.imports import environ_in, make_home
from ramet.client.connection import Connection

_PAUSE_SECONDS = 0.004


def measure(size_mb: int) -> dict[str, Any]:
    """The 95th percentiles and the longest hooks of both daemons."""
    with scratch() as folder:
        make_home(folder, size_mb)
        importing, idle = folder / "r", folder / "idle"
        with running(places_in(importing)), running(places_in(idle)):
            hooks = {"importing": _Hooks(importing), "idle": _Hooks(idle)}
            command = [str(Path(sys.executable).parent / "ramet"), "import", "--yes", "--json"]
            process = subprocess.Popen(command, env=environ_in(folder), cwd=folder, stdout=subprocess.PIPE)
            begun = time.perf_counter()
            while process.poll() is None:
                for each in hooks.values():
                    each.call()
                time.sleep(_PAUSE_SECONDS)
            took = time.perf_counter() - begun
            told = json.loads(process.communicate()[0])["imported"]
    figures = {
        f"{name}_{what}_ms": round(percentile(each.taken, share) * 1000, 2)
        for name, each in hooks.items()
        for what, share in (("p50", 0.5), ("p95", 0.95), ("p99", 0.99), ("longest", 1.0))
    }
    ratio = figures["importing_p95_ms"] / figures["idle_p95_ms"]
    seconds = round(took, 1)
    return {**figures, "ratio_p95": round(ratio, 2), "hooks": len(hooks["idle"].taken), "seconds": seconds, **told}


class _Hooks:
    """The hooks of one session, to one daemon."""

    def __init__(self, folder: Path) -> None:
        self._socket = str(places_in(folder).socket)
        project = folder / "project"
        project.mkdir()
        beginning, prompt, *self._tools = payloads(project, "beside")
        self.taken: list[float] = []
        for text in (beginning, prompt):
            self._send(json.loads(text))

    def call(self) -> None:
        number = len(self.taken)
        said = json.loads(self._tools[number % len(self._tools)]) | {"tool_use_id": f"call{number}"}
        begun = time.perf_counter()
        self._send(said)
        self.taken.append(time.perf_counter() - begun)

    def _send(self, said: dict[str, Any]) -> None:
        with Connection(self._socket, 30) as connection:
            connection.call("hooks.event", {"vendor": "claude", "pid": 1, "payload": json.dumps(said)})


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.imports_beside", description=__doc__)
    parser.add_argument("--mb", type=int, default=100, help="the size of the home, in megabytes")
    print(json.dumps(measure(parser.parse_args().mb), indent=2))


if __name__ == "__main__":
    main()
