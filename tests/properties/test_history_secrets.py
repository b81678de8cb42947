"""Secrets: whatever is written into a history, no byte of them is in the database."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import strategies as st
from tests.conformance.history.life import prove
from tests.conformance.history.story import fork, merge, say
from tests.world import OTHER_TABLES, SEED_TABLES, World, places_in

from ramet.store.database.blobs import Codec
from ramet.store.database.sqlite.store import SqliteStore

ALPHABET = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"


@pytest.fixture(scope="session", params=["sqlite", "postgres"])
def url(request: pytest.FixtureRequest) -> str | None:
    return None if request.param == "sqlite" else str(request.getfixturevalue("worlds_schema"))


def token(prefix: str, length: int) -> st.SearchStrategy[str]:
    return st.text(ALPHABET, min_size=length, max_size=length).map(lambda rest: prefix + rest)


SECRETS = st.one_of(
    token("sk-ant-", 40),
    token("ghp_", 36),
    token("glpat-", 20),
    token("AIza", 35),
    token("npm_", 36),
    token("pypi-", 60),
    token("", 64).map(lambda body: f"-----BEGIN RSA PRIVATE KEY-----\n{body}\n-----END RSA PRIVATE KEY-----"),
)
AROUND = st.sampled_from(["{}", "key={} ", 'say "{}"', "\\{}\\", "ü{}\n", "{} {}"])


def write_everywhere(world: World, text: str) -> None:
    """A text in every place of a history that takes one."""
    (first,) = say(world, text, metadata={"note": text, "deep": {"list": [text]}})
    content: list[dict[str, Any]] = [
        {"content_type": "instruction", "text": text, "name": text},
        {"content_type": "tool_io", "text": text, "tool_name": text, "call_id": text},
        {"content_type": "artifact", "text": text, "artifact_type": text, "language": text},
        {"content_type": "freeform", "payload": {"text": text}},
        {"content_type": "session", "session_type": "end", "summary": text, "decisions": [text], "next_steps": [text]},
        {"content_type": "config", "settings": {"key": text}},
        {"content_type": "metadata", "kind": "note", "data": {"key": text}},
    ]
    for each in content:
        world.call("history.commit", branch="main", content=each, idempotency_key=str(each["content_type"]))
    fork(world, "side", first)
    world.call("history.edit", branch="side", target=first, text=f"S {text}", idempotency_key="edit")
    world.call("history.edit", branch="main", target=first, text=f"M {text}")
    merge(world, "side", resolutions={first: f"both {text}"}, idempotency_key="merge")
    (last,) = say(world, text)
    world.call("history.compress", branch="main", **{"from": last}, to=last, text=text)
    names = {"parent": "main", "child": "kid", "display_name": text if len(text) < 255 else text[: len(text) // 2]}
    world.call("history.spawn", purpose=text, inherit="head_snapshot", idempotency_key="spawn", **names)
    report = {"summary": text, "decisions": [text], "artifacts": [text]}
    world.call("history.collapse", child="kid", report=report, idempotency_key="collapse")
    world.call("history.collapse", child="kid", text=text)


def stored(world: World) -> list[bytes]:
    """All that is kept: every column of every row, every content as it was, and the bytes of the files."""
    kept = [repr(row).encode() for table in SEED_TABLES + OTHER_TABLES for row in world.sql(f"SELECT * FROM {table}")]
    codec = Codec()
    kept += [codec.unpack(*row) for row in world.sql("SELECT codec, size, data FROM blobs")]
    if isinstance(world.store, SqliteStore):
        folder = Path(world.store.path).parent
        assert places_in(folder, world.store.path).database == world.store.path
        kept += [file.read_bytes() for file in folder.glob("ramet.db*")]
    return kept


def test_no_secret_that_was_written_into_a_history_is_stored(url: str | None) -> None:
    def law(world: World, drawn: tuple[str, str]) -> None:
        secret, around = drawn
        core = secret.splitlines()[len(secret.splitlines()) // 2]
        write_everywhere(world, around.replace("{}", secret))
        for kept in stored(world):
            assert core.encode() not in kept
        shown = str(world.call("history.compile", branch="main").messages)
        assert "[REDACTED:" in shown
        assert core not in shown

    prove(url, st.tuples(SECRETS, AROUND), law, 20)


def test_equal_secrets_stay_equal_and_are_counted(url: str | None) -> None:
    def law(world: World, drawn: tuple[str, str]) -> None:
        secret, other = drawn
        replies = [
            world.call("history.commit", branch="main", text=f"{each} and {each}", metadata={"n": each})
            for each in (secret, secret, other)
        ]
        first, second, third = (world.call("history.show", hash=reply.hash).text for reply in replies)
        assert first == second
        assert (first == third) == (secret == other)
        assert [reply.redactions for reply in replies] == [3, 3, 3]

    prove(url, st.tuples(token("ghp_", 36), token("ghp_", 36)), law, 10)
