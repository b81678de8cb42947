"""What is frozen: bytes that were hashed or sent by a release stay what they were.

The files beside this one are written once per release and never again. A test that fails here means that everybody's
histories would be orphaned, or everybody's clients broken: change the code, not the file.
"""

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest

from ramet.build import PROTOCOL_VERSION
from ramet.errors import ParseError, UnknownSkill
from ramet.model.history.commit import CommitFacts, canonical_bytes, hash_commit
from ramet.model.record.message import Message
from ramet.model.redaction import Redactor
from ramet.protocol.replies import Page
from ramet.protocol.wire import frames

HERE = Path(__file__).parent
COMMITS: dict[str, Any] = json.loads((HERE / "commits.json").read_text(encoding="utf-8"))
FRAMES: dict[str, Any] = json.loads((HERE / "frames.json").read_text(encoding="utf-8"))
BYTES = ("content_hash", "parent", "second_parent", "target")


def read_facts(stored: dict[str, Any]) -> CommitFacts:
    decoded = {name: bytes.fromhex(value) if name in BYTES else value for name, value in stored.items()}
    return msgspec.convert(decoded, CommitFacts)


@pytest.mark.parametrize("commit", COMMITS["commits"], ids=lambda commit: commit["name"])
def test_a_commits_canonical_bytes_and_hash_stay_what_they_were(commit: dict[str, Any]) -> None:
    facts = read_facts(commit["facts"])
    assert canonical_bytes(facts).hex() == commit["canonical"]
    assert hash_commit(facts).hex() == commit["hash"]


def test_the_golden_commits_differ_in_every_fact() -> None:
    names = {name for commit in COMMITS["commits"] for name in commit["facts"]}
    assert names == set(CommitFacts.__struct_fields__)
    assert len({commit["hash"] for commit in COMMITS["commits"]}) == len(COMMITS["commits"]) == 8


def test_the_canonical_bytes_name_their_format() -> None:
    for commit in COMMITS["commits"]:
        assert bytes.fromhex(commit["canonical"]).startswith(COMMITS["format"].encode() + b"\n")


@pytest.mark.parametrize("request_", FRAMES["requests"], ids=lambda request: request["method"])
def test_a_request_line_means_what_it_meant(request_: dict[str, Any]) -> None:
    frame = frames.decode_frame(request_["line"].encode())
    operation = frames.find_operation(frame.method)
    params = frames.decode_params(operation, frame.params)
    assert frame.method == request_["method"]
    assert ("(notification)" if frame.id is msgspec.UNSET else frame.id) == request_["id"]
    assert {name: getattr(params, name) for name in request_["params"]} == request_["params"]


def test_reply_error_and_notification_lines_stay_what_they_were() -> None:
    reply = json.loads(FRAMES["reply"])
    message = msgspec.convert(reply["result"], Message)
    unknown = UnknownSkill("there is no skill 'sing'", field="skill", value="sing", fix="use one of: do")
    assert frames.encode_reply(7, message).decode() == FRAMES["reply"]
    assert frames.encode_reply("a-1", Page(items=[message], next=1)).decode() == FRAMES["page"]
    assert frames.encode_error(7, unknown, Redactor()).decode() == FRAMES["error"]
    assert frames.encode_error(None, ParseError("the line is not JSON"), Redactor()).decode() == FRAMES["unread"]
    assert (
        frames.encode_notification("events.event", {"id": 1, "kind": "task.added"}).decode() == FRAMES["notification"]
    )
    assert FRAMES["protocol"] == PROTOCOL_VERSION
