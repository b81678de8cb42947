"""The spool has no secrets: not in any field of an event, and not in a text that came in pieces."""

from pathlib import Path

import pytest
from tests.keeper.conftest import Keep
from tests.keeper.scripted_daemon import ScriptedDaemon, wait_for
from tests.model.redaction.planted import Maker

from ramet.keeper.spool import Spool
from ramet.model.work.stream import (
    End,
    EndedProcess,
    NativeId,
    Reasoning,
    Remark,
    StreamEvent,
    Text,
    ToolCall,
    ToolResult,
    Usage,
)
from ramet.protocol.work.keepers import KeeperRedaction

TOKEN = Maker(340).expand("ghp_{a36}")
VALUE = "plain words that only the environment knows"


@pytest.mark.requirement("R341")
@pytest.mark.parametrize(
    "event",
    [
        Text(text=f"a {TOKEN} b"),
        Reasoning(text=TOKEN),
        Remark(text=TOKEN),
        ToolCall(call_id=TOKEN, name=TOKEN, input={TOKEN: [f"\n{TOKEN}", {"password": TOKEN}]}),
        ToolResult(call_id=TOKEN, name=TOKEN, output=f"\x1b[31m{TOKEN}\x1b[0m"),
        Usage(key=TOKEN, model=TOKEN),
        NativeId(native_id=TOKEN),
        End(outcome="error", reason=TOKEN, answer=VALUE, ended=[EndedProcess(pid=1, name=TOKEN, signal="SIGKILL")]),
    ],
    ids=lambda event: type(event).__name__,
)
def test_no_field_of_an_event_is_written_with_a_secret(tmp_path: Path, event: StreamEvent) -> None:
    spool = Spool(tmp_path / "spool", KeeperRedaction(values=[VALUE]))
    spool.add(event, now=1.0)
    spool.add(End(outcome="success"), now=1.0)
    sent = b"".join(spool.batch()[1])
    for written in ((tmp_path / "spool").read_bytes(), sent):
        assert b"REDACTED" in written
        assert TOKEN.encode() not in written
        assert VALUE.encode() not in written


@pytest.mark.requirement("R340")
def test_a_secret_in_pieces_is_written_nowhere_whatever_comes_between_them(tmp_path: Path) -> None:
    spool = Spool(tmp_path / "spool")
    spool.add(Text(text="the token is\n" + TOKEN[:9], is_partial=True), now=1.0)
    first = spool.batch()[1]
    assert b"the token is" in first[0]
    spool.add(Remark(text="a warning"), now=2.0)
    spool.add(Usage(key="k"), now=2.5)
    spool.batch()
    spool.add(Text(text=TOKEN[9:20], is_partial=True), now=3.0)
    spool.batch()
    spool.add(Text(text=TOKEN[20:] + " and more", is_partial=True), now=4.0)
    spool.add(End(outcome="success"), now=5.0)
    written = (tmp_path / "spool").read_text()
    assert "[REDACTED:github:" in written
    assert not any(TOKEN[at : at + 9] in written for at in (0, 9, 20, 30))


def test_a_text_that_waits_asks_for_no_report(tmp_path: Path) -> None:
    spool = Spool(tmp_path / "spool")
    spool.add(Text(text="wait", is_partial=True), now=1.0)
    assert spool.due_at < 2
    assert spool.batch()[1] == []
    assert spool.due_at == float("inf")
    assert not spool.is_delivered


@pytest.mark.requirement("R340")
def test_an_agents_token_in_three_slow_pieces_reaches_neither_the_daemon_nor_the_disk(
    daemon: ScriptedDaemon, keep: Keep, place: Path
) -> None:
    said = ("echo key:", *(f"printf %s {part}; sleep 0.3" for part in (TOKEN[:9], TOKEN[9:20], TOKEN[20:])), "echo")
    held = keep("; ".join(said) + "; echo done; sleep 600")
    wait_for(lambda: any("done" in event.text for event in daemon.find(Text)))
    told = "".join(event.text for event in daemon.find(Text))
    spooled = b"".join(path.read_bytes() for path in place.rglob("*") if path.is_file())
    assert "[REDACTED:" in told
    assert TOKEN[9:20] not in told
    assert TOKEN[9:20].encode() not in spooled
    assert held.pid
