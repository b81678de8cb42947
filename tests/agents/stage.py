"""Where a real agent CLI performs: a home of its own, a git worktree, and a scripted model as all that it can reach.

The model and the CLI are in a network namespace that has nothing but loopback, where the kernel lets us make one.
"""

import importlib.util
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import psutil
from tests.agents import scripted_model

from ramet.config.settings import DriverSettings, ProfileSettings
from ramet.model.work.stream import (
    End,
    NativeId,
    StreamEvent,
    Usage,
)
from ramet.protocol.work.keepers import Launch
from ramet.vendors import registry, selection
from ramet.vendors.contract.driver_protocol import ProcessExit, Start

PATIENCE_SECONDS = 60
PACKAGES = {"claude": "claude_agent_sdk", "codex": "codex_cli_bin"}
"""The real CLIs, and what `make test-agents` installs to have them."""

_TICK_SECONDS = 0.02

_CODEX_CONFIG = """\
model = "{model}"
model_provider = "scripted"
check_for_update_on_startup = false
[model_providers.scripted]
name = "Scripted"
base_url = "{address}/v1"
env_key = "SCRIPTED_KEY"
wire_api = "responses"
request_max_retries = 0
stream_max_retries = 0
[features]
plugins = false
apps = false
[analytics]
enabled = false
"""


def missing() -> list[str]:
    """The packages that are not installed."""
    return [package for package in PACKAGES.values() if importlib.util.find_spec(package) is None]


@cache
def isolation() -> list[str] | None:
    """The command that makes a network namespace; None where none can be made."""
    for command in (["unshare", "-n"], ["unshare", "-rn"]):
        if shutil.which("unshare") and shutil.which("nsenter"):
            made = subprocess.run([*command, "true"], capture_output=True, check=False, timeout=PATIENCE_SECONDS)
            if made.returncode == 0:
                return command
    return None


def wait_for(fact: Callable[[], bool], what: str) -> None:
    """Until it is so; a bounded wait."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not fact():
        assert time.monotonic() < deadline, f"waited in vain for {what}"
        time.sleep(_TICK_SECONDS)


class Run(NamedTuple):
    """One run of a CLI, as a keeper would have heard it."""

    lines: list[str]
    exit: ProcessExit
    events: list[StreamEvent]
    end: End

    def all_of(self, kind: type[Any]) -> list[Any]:
        return [event for event in self.events if isinstance(event, kind)]

    @property
    def native_id(self) -> str:
        """The one that it said last."""
        return str(self.all_of(NativeId)[-1].native_id)

    @property
    def usage(self) -> dict[str, Usage]:
        """What counts: the last word of each key."""
        return {usage.key: usage for usage in self.all_of(Usage)}


class Model:
    """The scripted model, in a process of its own. `TREE` in a script is the worktree."""

    def __init__(self, folder: Path, scripts: dict[str, Any], *, is_isolated: bool = True) -> None:
        """`is_isolated`: in a network namespace, if one can be made; else on this machine's loopback."""
        self._isolation = isolation() if is_isolated else None
        self._log = folder / "requests.jsonl"
        self._log.touch()
        script_file = folder / "scripts.json"
        script_file.write_text(json.dumps(scripts).replace("TREE", str(folder / "tree")), encoding="utf-8")
        inside = self._isolation
        program = [sys.executable, "-S", "-E", scripted_model.__file__, str(script_file), str(self._log)]
        command = [*(inside or []), *program, *(["--raise-loopback"] if inside else [])]
        self._process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert self._process.stdout is not None
        self.address = f"http://127.0.0.1:{int(self._process.stdout.readline())}"

    @property
    def wrapper(self) -> list[str]:
        """The command that runs another one where the model can be reached, and nothing else."""
        match self._isolation:
            case None:
                return []
            case [*_, "-n"]:
                return ["nsenter", f"--net=/proc/{self._process.pid}/ns/net"]
            case _:
                return ["nsenter", f"--target={self._process.pid}", "--user", "--net", "--preserve-credentials"]

    def requests(self) -> list[dict[str, Any]]:
        """Everything that was asked, in order; a line that is only half written is not there yet."""
        *lines, _rest = self._log.read_text(encoding="utf-8").split("\n")
        return [json.loads(line) for line in lines]

    def close(self) -> None:
        self._process.kill()
        self._process.wait()
        assert self._process.stdout is not None
        self._process.stdout.close()


class Stage:
    """One CLI's surroundings."""

    def __init__(self, folder: Path, model: Model, driver: str, *, key_name: str = "ANTHROPIC_API_KEY") -> None:
        self.folder = folder
        self.model = model
        self.driver = registry.find_driver(driver)
        self.directory = _make_worktree(folder)
        self._key_name = key_name

    def environment(self, codex_model: str) -> dict[str, str]:
        """A user who has this CLI, no account, and nothing else."""
        home = self.folder / "home"
        (home / ".codex").mkdir(parents=True, exist_ok=True)
        config = _CODEX_CONFIG.format(address=self.model.address, model=codex_model)
        (home / ".codex" / "config.toml").write_text(config, encoding="utf-8")
        scratch = self.folder / "scratch"
        scratch.mkdir(exist_ok=True)
        return {
            "PATH": os.environ["PATH"],
            "HOME": str(home),
            "TMPDIR": str(scratch),
            "CLAUDE_CODE_TMPDIR": str(scratch),
            "ANTHROPIC_BASE_URL": self.model.address,
            self._key_name: "dummy",
            "SCRIPTED_KEY": "dummy",
            "CLAUDE_CODE_MAX_RETRIES": "1",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "DISABLE_TELEMETRY": "1",
            "DISABLE_AUTOUPDATER": "1",
        }

    def has_kept(self, text: str, times: int) -> bool:
        """Whether the program's own transcripts hold a text so often: it writes them behind its requests."""
        home = self.folder / "home"
        kept = [*home.glob(".claude/projects/**/*.jsonl"), *home.glob(".codex/sessions/**/*.jsonl")]
        return sum(path.read_text(encoding="utf-8").count(text) for path in kept) >= times

    def run(
        self,
        prompt: str,
        *,
        native_id: str | None = None,
        resumes: bool = False,
        forks: bool = False,
        kill_when: Callable[[], bool] | None = None,
        codex_model: str = "gpt-5.5",
        arguments: tuple[str, ...] = (),
        more: dict[str, str] | None = None,
    ) -> Run:
        """An attempt in this worktree; `more` is in its environment besides."""
        return run_driver(
            self.driver.name,
            prompt,
            ProfileSettings(wrapper=self.model.wrapper, arguments=list(arguments)),
            directory=str(self.directory),
            environment={**self.environment(codex_model), **(more or {})},
            kill_when=kill_when,
            native_id=native_id,
            resumes=resumes,
            forks=forks,
        )


def run_driver(
    name: str,
    prompt: str,
    profile: ProfileSettings,
    *,
    context: str = "",
    directory: str = "/",
    environment: dict[str, str] | None = None,
    kill_when: Callable[[], bool] | None = None,
    **more: Any,
) -> Run:
    """What the runner and a keeper do: find, launch, hand over the prompt, read to the end, conclude."""
    path = {"PATH": os.environ["PATH"]}
    found = selection.resolve(name, DriverSettings(profiles={name: profile}), path)
    start = Start(
        instruction=prompt,
        context=context,
        prompt=f"{context}{prompt}",
        program=found.program,
        directory=directory,
        environment=environment or path,
        profile=profile,
        **more,
    )
    launch = selection.launch(found.driver, start)
    lines, process = _perform(launch, kill_when)
    reader = found.driver.reader(profile)
    events = [event for line in lines for event in reader.read(line)]
    return Run(lines=lines, exit=process, events=events, end=reader.conclude(process))


def _perform(launch: Launch, kill_when: Callable[[], bool] | None) -> tuple[list[str], ProcessExit]:
    with tempfile.TemporaryFile("w+") as output, tempfile.TemporaryFile("w+") as errors:
        process = subprocess.Popen(
            launch.arguments,
            env=launch.environment,
            cwd=launch.directory,
            stdin=subprocess.PIPE,
            stdout=output,
            stderr=errors,
            text=True,
            start_new_session=True,
        )
        family: list[psutil.Process] = []
        try:
            assert process.stdin is not None
            process.stdin.write(launch.stdin)
            process.stdin.close()
            if kill_when is not None:
                wait_for(kill_when, "the moment to kill")
                family = psutil.Process(process.pid).children(recursive=True)
                process.send_signal(signal.SIGKILL)
            status = process.wait(PATIENCE_SECONDS)
        finally:
            process.kill()
            process.wait()
            for child in family:
                if child.is_running():
                    child.kill()
        output.seek(0)
        errors.seek(0)
        ended = ProcessExit(
            status=status if status >= 0 else None, signal=-status if status < 0 else None, errors=errors.read()
        )
        return output.read().splitlines(), ended


def _make_worktree(folder: Path) -> Path:
    """A worktree of a repository with one commit."""
    repository, worktree = folder / "repository", folder / "tree"
    identity = ["-c", "user.name=Test", "-c", "user.email=test@example.com"]
    for arguments in (
        ["init", "--quiet", "--initial-branch=main", str(repository)],
        ["-C", str(repository), *identity, "commit", "--quiet", "--allow-empty", "--message=Begin"],
        ["-C", str(repository), "worktree", "add", "--quiet", "-b", "work", str(worktree)],
    ):
        subprocess.run(["git", *arguments], check=True, capture_output=True, timeout=PATIENCE_SECONDS)
    return worktree


@contextmanager
def a_stage(driver: str, scripts: dict[str, Any], *, is_isolated: bool = True, **more: str) -> Iterator[Stage]:
    """A stage, gone afterwards."""
    with ExitStack() as stack:
        folder = Path(
            stack.enter_context(tempfile.TemporaryDirectory(prefix="ramet-agents-", ignore_cleanup_errors=True))
        )
        model = Model(folder, scripts, is_isolated=is_isolated)
        stack.callback(model.close)
        yield Stage(folder, model, driver, **more)
