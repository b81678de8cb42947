"""What tests of hooks have in common: a vendor's events in our words, and what a transcript says."""

from typing import Any

from tests.world import World

from ramet.config.settings import HookSettings
from ramet.engine import Engine
from ramet.engine.transaction import Rules
from ramet.model.redaction import Redactor
from ramet.store.database.blobs import Codec

WINDOW = "47442aa6-e4ab-41e7-bb50-4f9c173aba97"
OTHER_WINDOW = "01a1ddd8-58c6-7093-84d9-fd1051399c90"
PROJECT = "/shop"
CWD = "/shop/src"
TRANSCRIPT = f"/home/dev/{WINDOW}.jsonl"


def bound(world: World, **hooks: Any) -> None:
    """Let the configuration say otherwise from here on."""
    world.engine = Engine(Rules(hooks=HookSettings(**hooks)), codec=Codec(), redactor=Redactor())


def event(moment: str, **said: Any) -> dict[str, Any]:
    """An event as an adapter gives it."""
    usual = {"vendor": "claude", "native_id": WINDOW, "cwd": CWD, "transcript_path": TRANSCRIPT}
    return {**usual, "moment": moment, "name": moment, **said}


def hook(
    world: World,
    moment: str,
    *,
    facts: dict[str, Any] | None = None,
    session: int | str | None = None,
    agent: str | None = None,
    pid: int | None = None,
    **said: Any,
) -> Any:
    """One call of a hook."""
    return world.call(
        "hooks.record",
        event=event(moment, **said),
        facts={"project": PROJECT, **(facts or {})},
        session=session,
        agent=agent,
        pid=pid,
    )


def start(world: World, **said: Any) -> int:
    """A session that somebody started by hand, to which something was said; its id."""
    session_id = int(hook(world, "session_start", source="startup", **said).session_id)
    named = {name: said[name] for name in ("native_id", "agent", "vendor") if name in said}
    hook(world, "user_prompt", prompt="mend the cart", prompt_id="p1", **named)
    return session_id


def use(world: World, tool: str = "Bash", times: int = 1, **said: Any) -> Any:
    """A tool, before and after; what was answered after it."""
    after = None
    for number in range(times):
        given = {"tool": tool, "tool_use_id": f"t{number}", **said}
        hook(world, "pre_tool_use", **given)
        after = hook(world, "post_tool_use", **given)
    return after


def session(world: World, ref: int | str) -> Any:
    return world.call("db.session.get", session_id=ref)


def directive(path: str = "/shop/src/AGENTS.md", text: str = "Two spaces.", version: str = "1") -> dict[str, str]:
    return {"path": path, "text": text, "hash": version}


def entry(key: str, text: str = "", kind: str = "text", role: str = "assistant", **said: Any) -> dict[str, Any]:
    """An entry of a transcript."""
    return {"key": key, "kind": kind, "role": role, "text": text, "at": "2026-01-05T08:00:01Z", **said}


def ingest(world: World, of: int | str, *entries: dict[str, Any], offset: int = 100, **said: Any) -> Any:
    """What was read of a transcript."""
    path = said.pop("path", TRANSCRIPT)
    return world.call("ingest.add", session_id=of, path=path, offset=offset, entries=list(entries), **said)


def messages(world: World, of: int | str) -> list[tuple[str, str]]:
    """A session's transcript: roles and texts."""
    return [(each.role, each.content) for each in world.call("db.messages.list", session_id=of).items]


def history(world: World, of: int | str) -> list[tuple[str, str]]:
    """What stands on a session's branch, the oldest first."""
    rows = world.call("history.log", branch=session(world, of).branch, limit=100).items
    return [(row.content_type, row.preview) for row in reversed(rows)]
