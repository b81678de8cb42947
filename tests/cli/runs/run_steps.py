"""Runs of task files and chains on the command line: in the foreground, in the background, with a scripted reviewer."""

import signal
import subprocess

from tests.cli.command_line import CommandLine
from tests.cli.waits import PATIENCE_SECONDS


class Run:
    """A `ramet run` or `ramet chain` in the background."""

    def __init__(self, ramet: CommandLine, *arguments: str) -> None:
        self.process = subprocess.Popen(
            [ramet.program, *arguments],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            env=ramet.environ,
            cwd=ramet.cwd,
        )

    def read_until(self, text: str) -> str:
        """The line that has the text."""
        assert self.process.stdout is not None
        said = []
        for line in self.process.stdout:
            said.append(line)
            if text in line:
                return line
        raise AssertionError(f"it ended without {text!r}: {said}")

    def interrupt(self) -> None:
        self.process.send_signal(signal.SIGINT)

    def end(self) -> tuple[int, str]:
        """The exit status, and what else it said."""
        said, _ = self.process.communicate(timeout=PATIENCE_SECONDS)
        return self.process.returncode, said


def write(ramet: CommandLine, text: str) -> str:
    (ramet.cwd / "tasks.md").write_text(text)
    return "tasks.md"


def run(ramet: CommandLine, text: str, *arguments: str) -> "subprocess.CompletedProcess[str]":
    return ramet("run", write(ramet, text), "--driver", "shell", *arguments)


def states(ramet: CommandLine, name: str = "r1") -> list[str]:
    return [line["state"] for line in ramet.json("runs", "show", name)["lines"]]


def reviewer(ramet: CommandLine, *verdicts: str) -> None:
    """An agent that writes the reviews in turn, and something else for everything else."""
    folder = ramet.home / "reviews"
    folder.mkdir()
    for number, verdict in enumerate(verdicts, 1):
        (folder / str(number)).write_text(verdict)
    script = ramet.home / "agent.sh"
    script.write_text(
        f"""prompt=$(cat); report=$(printf '%s' "$prompt" | grep -o '\\.ramet/e[0-9]*/[A-Za-z0-9_]*\\.md' | tail -1)
case "$report" in
  *REVIEW*) next=$(ls {folder} | head -1); mkdir -p "$(dirname "$report")"; mv {folder}/"$next" "$report";;
  ?*) mkdir -p "$(dirname "$report")"; echo 'The plan' > "$report";;
  *) date +%N >> cart.txt;;
esac
echo done
"""
    )
    profile = {"driver": "command", "program": ["/bin/sh", str(script)], "output": "text"}
    ramet.configure({"drivers": {"profiles": {"scripted": profile}}})
