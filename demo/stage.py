"""What the demo does it on: a temporary home, and a way to show commands as a person would see them."""

import os
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

RAMET = Path(sys.executable).parent / "ramet"


@contextmanager
def temporary_home() -> Iterator[Path]:
    """A home of its own, which ends with the demo, and so does its daemon."""
    with tempfile.TemporaryDirectory(prefix="ramet-demo-") as folder:
        os.environ.update(RAMET_HOME=f"{folder}/home", HOME=folder)
        for name in ("XDG_DATA_HOME", "XDG_CONFIG_HOME"):
            os.environ.pop(name, None)
        try:
            yield Path(folder)
        finally:
            subprocess.run([RAMET, "daemon", "stop"], check=True, capture_output=True)


def say(text: str) -> None:
    """Tell what comes next."""
    print(f"\n# {text}", flush=True)


def run(command: str, *, fails: bool = False) -> None:
    """Show a command and what it prints, as a person would see it."""
    print(f"$ {command}", flush=True)
    done = subprocess.run(_words(command), check=False, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    print("".join(f"  {line}\n" for line in done.stdout.splitlines()), end="", flush=True)
    if (done.returncode != 0) is not fails:
        sys.exit(f"`{command}` ended with status {done.returncode}")


def capture(command: str) -> str:
    """What a command prints."""
    return subprocess.run(_words(command), check=True, text=True, capture_output=True).stdout


def start(command: str) -> "subprocess.Popen[str]":
    """A command that goes on by itself."""
    print(f"$ {command} &", flush=True)
    return subprocess.Popen(_words(command), text=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def _words(command: str) -> list[str]:
    words = shlex.split(command)
    return [str(RAMET), *words[1:]] if words[0] == "ramet" else words
