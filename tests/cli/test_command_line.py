"""A command of the tests is the program as a person runs it, although its interpreter was started before."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from tests import ready_interpreter
from tests.cli.command_line import CommandLine

SURROUNDINGS = """
import gc, json, os, signal, sys
streams = (sys.stdin, sys.stdout, sys.stderr)
print(json.dumps({
    "arguments": sys.argv, "environ": dict(os.environ), "folder": os.getcwd(), "umask": os.umask(0), "path": sys.path,
    "descriptors": sorted(os.listdir("/proc/self/fd")), "name": __name__, "file": __file__, "group": os.getpgrp(),
    "streams": [(file.encoding, file.errors, file.isatty(), file.line_buffering) for file in streams],
    "signals": {number: str(signal.getsignal(number)) for number in signal.valid_signals()},
    "blocked": sorted(signal.pthread_sigmask(signal.SIG_BLOCK, ())), "told": sys.stdin.read(),
    "collects": gc.isenabled(),
    "ours": [name for name in sys.modules if name.split(".")[0] in ("ramet", "tests")],
}))
print("complaint", file=sys.stderr)
sys.exit(7)
"""


def scripted(folder: Path, text: str) -> list[str]:
    """A command that runs a script."""
    script = folder / "script.py"
    script.write_text(f"#!{sys.executable}\n{text}", encoding="utf-8")
    script.chmod(0o755)
    return [str(script), "a", "b c"]


def in_its_own(command: list[str], cwd: Path, env: dict[str, str], stdin: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        command, cwd=cwd, env=env, input=stdin, capture_output=True, text=True, timeout=60, check=False
    )


@pytest.mark.parametrize("more", [{}, {"LC_ALL": "C.UTF-8"}, {"TZ": "Asia/Tokyo"}, {"PYTHONIOENCODING": "ascii"}])
def test_a_command_has_the_surroundings_that_it_would_have_in_an_interpreter_of_its_own(
    tmp_path: Path, more: dict[str, str]
) -> None:
    command = scripted(tmp_path, SURROUNDINGS)
    env = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), **more}
    done = ready_interpreter.run(command, cwd=tmp_path, env=env, stdin="told\n", timeout_seconds=60)
    alone = in_its_own(command, tmp_path, env, "told\n")
    found: list[dict[str, Any]] = [json.loads(answer.stdout) for answer in (done, alone)]
    assert found[0] == found[1]
    assert (done.returncode, done.stderr) == (alone.returncode, alone.stderr) == (7, "complaint\n")


def test_a_command_reads_the_time_zone_that_it_is_given(tmp_path: Path) -> None:
    command = scripted(tmp_path, "import time; print(time.tzname)")
    env = {"PATH": os.environ["PATH"], "TZ": "Asia/Tokyo"}
    done = ready_interpreter.run(command, cwd=tmp_path, env=env, stdin="", timeout_seconds=60)
    assert done.stdout == in_its_own(command, tmp_path, env, "").stdout == "('JST', 'JST')\n"


@pytest.mark.parametrize(
    "text", ["raise ValueError('no')", "import os; os.kill(os.getpid(), 9)", "import sys; sys.exit('why')", "1 +"]
)
def test_a_command_that_fails_fails_with_the_same_status(tmp_path: Path, text: str) -> None:
    command = scripted(tmp_path, text)
    env = {"PATH": os.environ["PATH"]}
    done = ready_interpreter.run(command, cwd=tmp_path, env=env, stdin="", timeout_seconds=60)
    alone = in_its_own(command, tmp_path, env, "")
    assert (done.returncode, done.stdout) == (alone.returncode, alone.stdout)
    assert done.stderr.splitlines()[-1:] == alone.stderr.splitlines()[-1:]


def test_a_command_that_takes_too_long_is_ended(tmp_path: Path) -> None:
    command = scripted(tmp_path, "import os, time; open('pid', 'w').write(str(os.getpid())); time.sleep(600)")
    with pytest.raises(subprocess.TimeoutExpired):
        ready_interpreter.run(command, cwd=tmp_path, env={"PATH": os.environ["PATH"]}, stdin="", timeout_seconds=8)
    pid = int((tmp_path / "pid").read_text(encoding="utf-8"))
    deadline = time.monotonic() + 60
    while Path(f"/proc/{pid}").exists():
        assert time.monotonic() < deadline
        time.sleep(0.01)


@pytest.mark.parametrize("arguments", [["--version"], ["--help"], ["sing"], ["config", "--json"], ["show", "e1"]])
def test_the_program_says_the_same_in_an_interpreter_of_its_own(ramet: CommandLine, arguments: list[str]) -> None:
    done = ramet(*arguments)
    alone = in_its_own([ramet.program, *arguments], ramet.cwd, ramet.environ, "")
    assert (done.returncode, done.stdout, done.stderr) == (alone.returncode, alone.stdout, alone.stderr)
