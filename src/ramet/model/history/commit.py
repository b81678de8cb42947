"""A commit: one immutable, content-addressed piece of context.

A commit's hash covers what it says and where it stands: parents, content type, role, operation and target,
the hash of its content, metadata, author, and the source's own time where there is one. The bytes that are
hashed are frozen: `tests/golden/commits.json` keeps them as they were in the first release, because a hash that
changes would orphan everybody's history.
"""

import hashlib
import json
from typing import Any, Literal

from msgspec import Struct

ContentType = Literal[
    "instruction",
    "dialogue",
    "tool_io",
    "reasoning",
    "artifact",
    "output",
    "freeform",
    "session",
    "config",
    "metadata",
]
CommitOperation = Literal["append", "edit"]

_HEADER = b"ramet commit 1\n"


class CommitFacts(Struct, frozen=True, kw_only=True):
    """What a commit's hash covers."""

    content_hash: bytes
    content_type: str
    role: str
    author: str
    parent: bytes | None = None
    second_parent: bytes | None = None
    operation: CommitOperation = "append"
    target: bytes | None = None
    metadata: dict[str, Any] | None = None
    at_ms: int | None = None


def hash_content(content: bytes) -> bytes:
    """The name under which a content is stored."""
    return hashlib.sha256(content).digest()


def hash_commit(facts: CommitFacts) -> bytes:
    """The commit's name: SHA-256 over its canonical bytes."""
    return hashlib.sha256(canonical_bytes(facts)).digest()


def canonical_bytes(facts: CommitFacts) -> bytes:
    """The frozen form: a header, then a line `name length` and the value for each fact present, in this order."""
    return _HEADER + b"".join(
        b"%s %d\n%s\n" % (name, len(value), value)
        for name, value in (
            (b"parent", facts.parent),
            (b"second-parent", facts.second_parent),
            (b"type", facts.content_type.encode()),
            (b"role", facts.role.encode()),
            (b"operation", facts.operation.encode()),
            (b"target", facts.target),
            (b"content", facts.content_hash),
            (b"metadata", canonical_json(facts.metadata) if facts.metadata else None),
            (b"author", facts.author.encode()),
            (b"at-ms", b"%d" % facts.at_ms if facts.at_ms is not None else None),
        )
        if value is not None
    )


def canonical_json(value: dict[str, Any]) -> bytes:
    """JSON with sorted keys and no spaces: one text for one value."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False).encode()


def estimate_tokens(text: str) -> int:
    """A rough count of the tokens of a text (seed 001: four characters each)."""
    return len(text) // 4
