"""Secrets are taken out before anything is stored, and are in no event, error or reply."""

from pathlib import Path
from typing import Any

import msgspec
import pytest
from tests.conformance import hook_calls, queue_worker
from tests.conformance.stored_text import everything
from tests.model.redaction.planted import Maker
from tests.world import World

from ramet.errors import InvalidParams, RametError
from ramet.model.redaction import Redactor
from ramet.protocol.wire.frames import encode_error

SECRETS = {
    "anthropic": "sk-ant-api03-" + "aB3_" * 12,
    "openai": "sk-proj-" + "Zx9" * 14,
    "github": "ghp_" + "a1B2" * 9,
    "aws": "AKIA" + "ABCD1234" * 2,
    "google": "AIza" + "b" * 35,
    "slack": "xoxb-" + "123456-abcdef",
    "stripe": "sk_live_" + "q" * 24,
    "npm": "npm_" + "n" * 36,
    "jwt": "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.dBjftJeZ4CVPmB92K27uhbUJU1p1r",
    "private_key": "-----BEGIN RSA PRIVATE KEY-----\nMIIEowIBAAKCAQEA\n-----END RSA PRIVATE KEY-----",
    "url_password": "postgres://app:hunter2hunter2@db.example/shop",
}
MARKS = {**SECRETS, "private_key": "MIIEowIBAAKCAQEA", "url_password": "hunter2hunter2"}
"""What of each must not be found."""


@pytest.mark.requirement("R296")
@pytest.mark.parametrize("kind", SECRETS)
def test_a_secret_in_a_message_is_stored_nowhere(world: World, kind: str, tmp_path: Path) -> None:
    session = world.session()
    said = f"use {SECRETS[kind]} now"
    reply = world.call(
        "db.messages.append", session_id=session.id, role="user", content=said, idempotency_key=f"key {kind}"
    )
    assert reply.content.startswith("use ")
    assert f"[REDACTED:{kind}:" in reply.content
    assert MARKS[kind] not in everything(world)
    if world.is_sqlite:
        files = [path.read_bytes() for path in tmp_path.iterdir() if path.name.startswith("ramet.db")]
        assert MARKS[kind].encode() not in b"".join(files)


@pytest.mark.requirement("R296")
def test_a_secret_in_any_free_text_is_stored_nowhere(world: World) -> None:
    secret = SECRETS["github"]
    session = world.session("do", agent_id="ada")
    nested: dict[str, Any] = {"a": [secret, {"b": f"x {secret}"}], secret: 1}
    world.call("db.project.upsert", path="/shop", name=secret)
    for field in ("workspace", "title", "description", "keywords"):
        world.call("db.task.upsert", dir_path="/shop/tasks/cart", **{field: secret})
    world.call("db.agents.register", id="ada", label=secret)
    world.call("db.skills.upsert", name="paint", project_id=1, modes=nested, directives=[secret])
    world.call("db.effort.start", task_id="/shop/tasks/cart", skill="plan", metadata=nested)
    world.call("db.effort.phase", effort_id=session.effort_id, label="go", proof=nested, reason=secret)
    world.call("db.session.finish", session_id=session.id, dehydration_payload=nested, idempotency_key="k")
    world.call("db.effort.finish", effort_id=session.effort_id, keywords=f"a, {secret}")
    assert secret not in everything(world)
    assert "[REDACTED:github:" in everything(world)


@pytest.mark.requirement("R296")
def test_equal_secrets_stay_recognisably_equal_and_others_different(world: World) -> None:
    session = world.session()
    contents = [
        world.call("db.messages.append", session_id=session.id, role="user", content=SECRETS[kind]).content
        for kind in ("github", "github", "npm")
    ]
    assert contents[0] == contents[1] != contents[2]


@pytest.mark.requirement("R296")
@pytest.mark.parametrize("kind", SECRETS)
def test_a_refusal_shows_no_secret(world: World, kind: str) -> None:
    refusals: list[RametError] = []
    requests: list[dict[str, Any]] = [
        {"session_id": 1, "role": SECRETS[kind], "content": "x"},
        {"session_id": 1, "role": "user", "content": [SECRETS[kind]]},
        {"session_id": 1, "role": "user", "content": "x", SECRETS[kind]: 7},
    ]
    for params in requests:
        with pytest.raises(InvalidParams) as refusal:
            world.call("db.messages.append", **params)
        refusals.append(refusal.value)
    for error in refusals:
        assert MARKS[kind] not in encode_error(1, error, Redactor()).decode()


@pytest.mark.requirement("R296")
def test_what_only_looks_like_a_path_or_a_hash_stays(world: World) -> None:
    session = world.session()
    said = "see /home/u/ask-me/" + "0f" * 32 + " and https://example.org/a:b@c and task-force-" + "x" * 40
    assert world.call("db.messages.append", session_id=session.id, role="user", content=said).content == said


CALL_TEXTS = {
    "at the start of a line": "cat > .env <<EOF\n{}\nEOF",
    "behind a quote": 'x = "{}"',
    "in JSON": '{{"a": "b\\n{}"}}',
    "in colour": "\x1b[31m{}\x1b[0m",
    "percent-encoded": "https://x.test/?a=%22{}%22",
}


@pytest.mark.requirement("R338")
@pytest.mark.requirement("R340")
@pytest.mark.parametrize("framing", CALL_TEXTS)
@pytest.mark.parametrize("road", ["stream", "transcript", "commit", "message"])
def test_a_secret_in_a_tool_calls_input_is_redacted_on_every_road(world: World, road: str, framing: str) -> None:
    secret = Maker(338).expand("ghp_{a36}")
    given = {"command": CALL_TEXTS[framing].format(secret), "env": [{"password": "tr0ub4dor&3"}], "n": 1}
    encoded = msgspec.json.encode(given).decode()
    match road:
        case "stream":
            call = {"kind": "tool_call", "call_id": "c1", "name": "Write", "input": given}
            queue_worker.report(world, queue_worker.start(world), call)
        case "transcript":
            call = hook_calls.entry("u1", encoded, kind="tool_call", tool="Write", call_id="c1")
            hook_calls.ingest(world, hook_calls.start(world), call)
        case "commit":
            content = {"content_type": "tool_io", "text": encoded, "tool_name": "Write", "direction": "call"}
            world.call("history.commit", branch="b", content=content)
        case "message":
            world.call("db.messages.append", session_id=world.session().id, role="tool", content=encoded)
    stored = everything(world)
    assert secret not in stored
    assert "tr0ub4dor" not in stored
    assert stored.count("[REDACTED:github:") >= 1


@pytest.mark.requirement("R341")
def test_a_secret_in_a_name_an_id_a_path_or_a_key_is_stored_nowhere_and_still_finds_what_it_names(world: World) -> None:
    secret = Maker(341).expand("glpat-{b20}")
    world.call("history.commit", branch=f"fix-{secret}", text="a", author=secret, tags=[secret], idempotency_key=secret)
    assert world.call("history.log", branch=f"fix-{secret}").items[0].author.startswith("[REDACTED:gitlab:")
    again = world.call(
        "history.commit", branch=f"fix-{secret}", text="a", author=secret, tags=[secret], idempotency_key=secret
    )
    assert len(world.call("history.log", branch=f"fix-{secret}").items) == 1
    assert again.hash == world.call("history.log", branch=f"fix-{secret}").items[0].hash
    world.call("db.agents.register", id=f"agent {secret}", label="x")
    assert world.call("db.agents.get", id=f"agent {secret}").label == "x"
    attempt = queue_worker.start(world, native_id=secret, model=secret, worktree=f"/t/{secret}", git_branch=secret)
    tool = {"kind": "tool_call", "call_id": secret, "name": f"mcp__{secret}", "input": {secret: 1}}
    usage = {"kind": "usage", "key": secret, "model": secret}
    end = queue_worker.end(reason=secret, answer=secret)
    queue_worker.report(world, attempt, tool, usage, {"kind": "native_id", "native_id": secret}, end)
    changes = {"files": [f"src/{secret}.py"], "insertions": 1, "deletions": 0}
    queue_worker.complete(world, attempt, output_content=secret, report_file=f".ramet/{secret}.md", changes=changes)
    said = hook_calls.entry(secret, "hi", tool=secret, call_id=secret, model=secret, prompt_id=secret)
    above = hook_calls.start(world, native_id=secret, transcript_path=f"/home/{secret}.jsonl")
    hook_calls.use(world, "Read", tool_input={"file_path": f"/shop/{secret}"}, native_id=secret)
    hook_calls.ingest(world, above, said, path=f"/home/{secret}.jsonl")
    stored = everything(world)
    assert secret not in stored
    assert stored.count("[REDACTED:gitlab:") > 15
