"""What is frozen of contents: how each kind becomes text and payload, which its commit's hash covers, and the hash of a
list of messages, which callers keep to compare. The file beside this one is never written again.
"""

import json
from pathlib import Path
from typing import Any

import pytest

from ramet.model.history.commit import CommitFacts, hash_commit, hash_content
from ramet.model.history.compilation import Piece
from ramet.model.history.content import (
    BUILTIN_CONTENT_TYPES,
    PAYLOAD,
    pack,
    unpack,
    validate_content,
)
from ramet.model.history.provider_messages import RENDERERS

GOLDEN: dict[str, Any] = json.loads((Path(__file__).parent / "contents.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("kept", GOLDEN["contents"], ids=lambda kept: kept["content"]["content_type"])
def test_a_content_becomes_the_text_payload_and_hash_that_it_was(kept: dict[str, Any]) -> None:
    content = validate_content(kept["content"])
    packed = pack(content)
    assert (packed.role, packed.text, packed.payload) == (kept["role"], kept["text"], kept["payload"])
    facts = CommitFacts(
        content_hash=hash_content(packed.text.encode()),
        content_type=packed.content_type,
        role=packed.role,
        author="user",
        metadata={PAYLOAD: packed.payload} if packed.payload else None,
    )
    assert hash_commit(facts).hex() == kept["hash"]
    assert unpack(packed.content_type, packed.role, kept["text"], kept["payload"]) == content


def test_every_kind_of_content_is_frozen() -> None:
    assert {kept["content"]["content_type"] for kept in GOLDEN["contents"]} == BUILTIN_CONTENT_TYPES


@pytest.mark.parametrize("form", RENDERERS)
def test_a_list_of_messages_has_the_hash_that_it_had(form: str) -> None:
    renderer = RENDERERS[form]()
    for number, (kind, name) in enumerate(GOLDEN["steps"]):
        payload = {"direction": kind, "call_id": name, "tool_name": "t"} if kind in ("call", "result") else None
        role = {"call": "assistant", "result": "tool"}.get(kind, kind)
        content_type = "tool_io" if payload else "dialogue"
        renderer.feed([Piece(f"{kind} {number}", number, b"", number, content_type, role, 1, "normal", payload)])
    assert renderer.finish()[1] == GOLDEN["prefix_hashes"][form]
