"""What the build before says is still understood: nothing that it does not know is needed."""

import json
from pathlib import Path

import msgspec
import pytest
from tests.golden.required_fields import find

from ramet.model.work.stream import End, Text
from ramet.protocol.system.daemon import DaemonStatus
from ramet.protocol.wire.exchange import decode_line
from ramet.protocol.work.keepers import KeeperRecord, Spooled

RECORDED: dict[str, list[str]] = json.loads(Path(__file__).with_name("required_fields.json").read_text())


@pytest.mark.requirement("R465")
def test_a_field_that_the_release_before_does_not_know_has_a_default() -> None:
    new = {name: sorted(set(fields) - set(RECORDED[name])) for name, fields in find().items() if name in RECORDED}
    missing = {name: fields for name, fields in new.items() if fields}
    assert missing == {}, "give these fields a default: builds from before them do not send them"


def test_the_record_covers_what_commands_keepers_and_agents_read() -> None:
    assert {
        "Page[FleetMember]",
        "FleetMember",
        "Session",
        "Event",
        "DaemonStatusReply",
        "KeeperSpec",
        "KeeperRecord",
    } <= set(RECORDED)
    assert {"instance", "pid"} <= set(RECORDED["KeeperRecord"])


@pytest.mark.requirement("R465")
def test_a_keeper_of_the_release_before_is_understood() -> None:
    """These lines are as its keepers wrote them."""
    record = (
        b'{"instance":"abcdefgh","session_id":7,"effort_id":5,"generation":1,"driver":"command","pid":42,'
        b'"started_at":1.5,"agent_pid":43,"agent_started_at":2.5}'
    )
    text = b'{"seq":1,"event":{"kind":"text","text":"one","is_partial":false}}'
    end = (
        b'{"seq":2,"event":{"kind":"end","outcome":"success","failure":null,"reason":"done","answer":null,'
        b'"exit_status":null,"exit_signal":null,"ended":[],"is_cut":false}}'
    )
    read = msgspec.json.decode(record, type=KeeperRecord)
    assert (read.pid, read.agent_pid, read.protocol) == (42, 43, 1)
    events = [msgspec.json.decode(line, type=Spooled).event for line in (text, end)]
    assert events == [Text(text="one"), End(outcome="success", reason="done")]


@pytest.mark.requirement("R465")
def test_a_reply_may_lack_new_fields_and_have_unknown_ones() -> None:
    told = dict.fromkeys(RECORDED["DaemonStatusReply"], 1) | {"socket": "/s", "version": "0.1.0", "store": "sqlite"}
    line = json.dumps({"jsonrpc": "2.0", "id": 1, "result": {**told, "of_tomorrow": {"a": [1]}}}).encode()
    assert decode_line(DaemonStatus, line).build == ""
