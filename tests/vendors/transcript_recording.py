"""Records transcripts of the real CLIs against the scripted model.

    python -m tests.vendors.transcript_recording

Everything that is of one machine or one moment is replaced, and what the programs say about themselves is cut short.
"""

import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.agents.scripts import CODEX_SCRIPTS, SCRIPTS
from tests.agents.stage import Stage, a_stage, run_driver

from ramet.config.settings import ProfileSettings

FIXTURES = Path(__file__).resolve().parent / "transcripts"
SESSION = "11111111-1111-4111-8111-111111111111"

_LONGEST_TEXT = 100
_LONGEST_SAID = 1200
_SAID = ("user", "assistant", "response_item", "compacted")
_LONGEST_LIST = 8
_UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
_INSTANT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z")
_REPLACED = (
    (re.compile(r"rollout-\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d"), "rollout-2026-01-01T00-00-00"),
    (re.compile(r"\ba[0-9a-f]{16}\b"), "a0000000000000001"),
    (re.compile(r"\b(?:[0-9a-f]{40,64}|[0-9a-f]{16})\b"), "0" * 40),
    (re.compile(r"\b17[89]\d{7,10}(\.\d+)?\b"), "1767225600"),
    (re.compile(r"Linux \d[-.\w]*"), "Linux"),
    (re.compile(r"claude-\d+/[-\w]+/"), "claude/project/"),
    (re.compile(r"projects/-[-\w]+/"), "projects/-home-dev-project/"),
    (re.compile(r'"(?:commit_hash|process_id|slug|runId)":\s*"[^"]*"'), '"removed":"1"'),
    (re.compile(r"Chunk ID: \w+"), "Chunk ID: 000001"),
    (re.compile(r'"(\w*(?:duration|Duration|_ms|Ms)\w*)":\s*\d+'), r'"\g<1>":1'),
)


def record() -> None:
    """Everything, one after the other."""
    shutil.rmtree(FIXTURES, ignore_errors=True)
    with a_stage("claude", SCRIPTS) as stage:
        _perform_claude(stage)
        (session,) = (stage.folder / "home" / ".claude" / "projects").glob(f"*/{SESSION}.jsonl")
        _keep(stage, session.parent, "claude", lambda path: SESSION in str(path))
    with a_stage("codex", CODEX_SCRIPTS) as stage:
        _perform_codex(stage)
        _keep(stage, stage.folder / "home" / ".codex" / "sessions", "codex", lambda path: path.suffix == ".jsonl")


def _perform_claude(stage: Stage) -> None:
    stage.run("Look first. [[tools]]", native_id=SESSION)
    for prompt in ("Which colour? [[answer]]", "[[refused]]", "[[agents]]", "/compact", "And now? [[again]]"):
        stage.run(prompt, native_id=SESSION, resumes=True)


def _perform_codex(stage: Stage) -> None:
    thread = stage.run("Look first. [[command]]").native_id
    stage.run("[[patch]]", native_id=thread, resumes=True)
    stage.run("[[spawn]]", native_id=thread, resumes=True)
    profile = ProfileSettings(wrapper=stage.model.wrapper, arguments=["-c", "model_auto_compact_token_limit=1000"])
    run_driver(
        "codex",
        "Which colour? [[answer]]",
        profile,
        directory=str(stage.directory),
        environment=stage.environment("gpt-5.5"),
        native_id=thread,
        resumes=True,
    )


def _keep(stage: Stage, source: Path, name: str, is_wanted: Callable[[Path], bool]) -> None:
    seen: dict[str, str] = {SESSION: SESSION}
    instants: dict[str, str] = {}

    def scrub(text: str) -> str:
        text = text.replace(str(stage.directory), "/home/dev/project").replace(str(stage.folder), "/home/dev")
        text = text.replace(str(stage.folder).replace("/", "-"), "-home-dev")
        text = _INSTANT.sub(
            lambda at: instants.setdefault(
                at[0], f"2026-01-01T00:{len(instants) // 60:02}:{len(instants) % 60:02}.000Z"
            ),
            text,
        )
        for pattern, replacement in _REPLACED:
            text = pattern.sub(replacement, text)
        return _UUID.sub(lambda found: seen.setdefault(found[0], f"00000000-0000-4000-8000-{len(seen):012}"), text)

    for path in sorted(path for path in source.rglob("*") if path.is_file() and is_wanted(path)):
        place = re.sub(r"^\d{4}/\d\d/\d\d/", "2026/01/01/", str(path.relative_to(source)))
        target = FIXTURES / name / scrub(place)
        target.parent.mkdir(parents=True, exist_ok=True)
        kept = [scrub(_cut(line)) for line in path.read_text(encoding="utf-8").splitlines()]
        target.write_text("".join(f"{line}\n" for line in kept), encoding="utf-8")


def _cut(line: str) -> str:
    parsed = json.loads(line)
    return json.dumps(_shorten(parsed, _LONGEST_SAID if parsed.get("type") in _SAID else _LONGEST_TEXT))


def _shorten(value: Any, longest: int) -> Any:
    match value:
        case str() if len(value) > longest:
            return f"{value[:40]} [cut]"
        case list():
            return [_shorten(item, longest) for item in (value if len(value) <= _LONGEST_LIST else value[:1])]
        case {"input_schema": _} | {"schema": _}:
            return {"name": value.get("name")}
        case dict():
            return {name: _shorten(item, longest) for name, item in value.items()}
    return value


if __name__ == "__main__":
    record()
