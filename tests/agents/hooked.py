"""A real agent CLI with Ramet's hooks installed, and a real daemon behind them."""

import json
import sys
from typing import Any

from tests.agents.stage import Run, Stage, wait_for
from tests.cli.command_line import CommandLine

WINDOW = "11111111-2222-4333-8444-555555555555"
"""What Claude Code is told to call its session; Codex finds a name by itself."""
TRANSCRIPTS = (".claude/projects", ".codex/sessions")
COMPACTING = ("-c", "model_auto_compact_token_limit=900")
"""Codex then takes what the model says that it has read for too much, and compacts before the next turn."""

_IN_BETWEEN = """\
#!{python}
import os, random, signal, subprocess, sys
payload = sys.stdin.buffer.read()
counter = os.open({counter!r}, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
os.write(counter, b".")
number = os.fstat(counter).st_size
{body}
"""


class Hooked(CommandLine):
    """One user's Ramet: the command line, the daemon, and the agent whose hooks it has installed."""

    def __init__(self, stage: Stage, name: str = "ramet", **settings: Any) -> None:
        super().__init__(stage.folder, stage.directory)
        self.stage = stage
        self.user = stage.folder / "home"
        self.data = self.user / ".local/share" / name
        self.environ |= {"HOME": str(self.user), "RAMET_HOME": str(self.data), "GIT_CONFIG_GLOBAL": "/dev/null"}
        stage.environment("gpt-5.5")
        config = self.user / ".config/ramet/config.yaml"
        config.parent.mkdir(parents=True, exist_ok=True)
        patience = {"deadline_ms": 2500, "start_deadline_ms": 25_000}
        config.write_text(json.dumps({"hooks": {"record": "all", **patience, **settings}}), encoding="utf-8")
        self.ok("hooks", "install", "--agent", stage.driver.name, "--scope", "user", "--yes")
        self.ok("daemon", "start")

    def run(self, prompt: str, **more: Any) -> Run:
        """The agent, as a person has it: it goes on with its session where there is one."""
        done = self.stage.run(prompt, arguments=(*self.trust(), *more.pop("arguments", ())), **more)
        assert done.end.outcome == "success", done
        return done

    def trust(self) -> tuple[str, ...]:
        return ("--dangerously-bypass-hook-trust",) if self.stage.driver.name == "codex" else ()

    def ask(self, method: str, **params: Any) -> Any:
        return self.json("rpc", "call", method, json.dumps(params))

    def query(self, sql: str) -> list[Any]:
        return list(self.ask("db.query", sql=sql)["rows"])

    def settle(self) -> None:
        """Until every transcript that there is was read to its end."""
        wait_for(lambda: self._read() == self._written(), "the transcripts")

    def wait_for_ends(self) -> None:
        """Until no session is open: a program said that it ends, or was seen to have ended."""
        wait_for(lambda: not self.query("SELECT 1 FROM sessions WHERE ended_at IS NULL"), "the ends of the sessions")

    def _read(self) -> dict[str, int]:
        return {row["path"]: row["offset"] for row in self.ask("ingest.list")["items"]}

    def _written(self) -> dict[str, int]:
        files = [file for folder in TRANSCRIPTS for file in (self.user / folder).rglob("*.jsonl")]
        return {str(file): file.stat().st_size for file in files}

    def said(self, session: int = 1) -> list[tuple[str, str]]:
        """Who said what, in order."""
        rows = self.ask("db.messages.list", session_id=session)["items"]
        return [(row["role"], row["content"]) for row in rows]

    def asked(self, number: int = -1) -> str:
        """What the model was given, as one text."""
        return json.dumps(self.stage.model.requests()[number]["body"], ensure_ascii=False)

    def come_between(self, body: str, **names: str) -> None:
        """Let a program of the test's own be called at the hooks; `PROGRAM` in it is the real one, `number` says which
        call this is.
        """
        program, real = self.data / "hook", self.data / "hook.real"
        program.rename(real)
        text = body.replace("PROGRAM", repr(str(real)))
        for name, value in names.items():
            text = text.replace(name, repr(value))
        program.write_text(_IN_BETWEEN.format(python=sys.executable, counter=str(self.data / "calls"), body=text))
        program.chmod(0o700)

    @property
    def calls(self) -> int:
        """How many hooks were called."""
        return (self.data / "calls").stat().st_size

    def close(self) -> None:
        self("daemon", "stop")
