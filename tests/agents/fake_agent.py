"""A fake agent: a small program that does what a script says, so that every path runs offline and in milliseconds.

    python fake_agent.py [SCRIPT] < PROMPT

SCRIPT is a JSON list of steps, or a file that holds one; without it, the prompt's last line that begins with `script:`
is it, and a prompt without such a line is answered with its first line. The steps:

    {"say": TEXT}                   a line of the answer
    {"event": {...}}                a stream event, for `output: jsonl`
    {"complain": TEXT}              a line on standard error
    {"print": TEXT, "times": N}     N lines at once
    {"echo": "prompt"|"environment"}
    {"write": PATH, "text": TEXT}   a file, whose folder is made
    {"append": PATH, "text": TEXT}
    {"run": [ARGUMENT, …]}          a command, to its end; what it prints is said
    {"sleep": SECONDS}
    {"wait_for": PATH}              until that file is there, at most a minute
    {"ignore": [SIGNAL, …]}
    {"spawn": SECONDS, "detached": BOOL, "pid_file": PATH}   a child that sleeps; detached: in a session of its own
    {"kill": SIGNAL}                itself
    {"exit": STATUS}

It uses the standard library alone, reads its prompt to the end before anything else, and nothing it starts lives longer
than it was told to.
"""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

PATH = Path(__file__).resolve()

_PATIENCE_SECONDS = 60
_TICK_SECONDS = 0.01

Step = dict[str, Any]


def program(script: list[Step] | None = None) -> list[str]:
    """The command that runs it: what a profile's `program` is set to."""
    return [sys.executable, "-S", "-E", str(PATH), *([json.dumps(script)] if script is not None else [])]


def prompt(script: list[Step], text: str = "Do as the script says.") -> str:
    """A prompt that carries its script."""
    return f"{text}\nscript: {json.dumps(script)}"


def main() -> None:
    told = sys.stdin.read()
    for step in _script(told):
        _perform(step, told)
        sys.stdout.flush()


def _script(told: str) -> list[Step]:
    if len(sys.argv) > 1:
        given = sys.argv[1]
        text = given if given.lstrip().startswith("[") else Path(given).read_text(encoding="utf-8")
    else:
        marked = [line.removeprefix("script:") for line in told.splitlines() if line.startswith("script:")]
        text = marked[-1] if marked else json.dumps([{"say": told.split("\n", 1)[0]}])
    script: list[Step] = json.loads(text)
    return script


def _perform(step: Step, told: str) -> None:
    match step:
        case {"say": text}:
            print(text)
        case {"event": event}:
            print(json.dumps(event))
        case {"complain": text}:
            print(text, file=sys.stderr, flush=True)
        case {"print": text, "times": times}:
            sys.stdout.write(f"{text}\n" * times)
        case {"echo": what}:
            print({"prompt": told, "environment": json.dumps(dict(os.environ))}[what])
        case {"write": path, "text": text}:
            _open_folder(path).write_text(text, encoding="utf-8")
        case {"append": path, "text": text}:
            with _open_folder(path).open("a", encoding="utf-8") as file:
                file.write(text)
        case {"run": arguments}:
            print(subprocess.run(arguments, check=False, capture_output=True, text=True).stdout, end="")
        case _:
            _live(step)


def _live(step: Step) -> None:
    match step:
        case {"sleep": seconds}:
            time.sleep(seconds)
        case {"wait_for": path}:
            _wait_for(Path(path))
        case {"ignore": names}:
            for name in names:
                signal.signal(signal.Signals[name], signal.SIG_IGN)
        case {"spawn": seconds}:
            _spawn(seconds, is_detached=step.get("detached", False), pid_file=step.get("pid_file"))
        case {"kill": name}:
            os.kill(os.getpid(), signal.Signals[name])
        case {"exit": status}:
            sys.stdout.flush()
            sys.exit(status)
        case _:
            sys.exit(f"no such step: {step}")


def _open_folder(path: str) -> Path:
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    return Path(path)


def _wait_for(path: Path) -> None:
    deadline = time.monotonic() + _PATIENCE_SECONDS
    while not path.exists() and time.monotonic() < deadline:
        time.sleep(_TICK_SECONDS)


def _spawn(seconds: float, *, is_detached: bool, pid_file: str | None) -> None:
    child = subprocess.Popen(["sleep", str(seconds)], start_new_session=is_detached)
    if pid_file is not None:
        _open_folder(pid_file).write_text(str(child.pid), encoding="utf-8")


if __name__ == "__main__":
    main()
