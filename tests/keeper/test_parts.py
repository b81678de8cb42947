"""The keeper's parts that need no process: lines, events as JSON, the spool, the watch."""

from pathlib import Path

import msgspec
import pytest
from tests.keeper.held import make_spec

from ramet.keeper.event_json import LONGEST_TEXT, encode_event
from ramet.keeper.spool import BATCH_BYTES, IDLE_SECONDS, LONGEST_WAIT_SECONDS, Spool
from ramet.keeper.text_lines import Lines
from ramet.keeper.time_limits import Verdict, Watch
from ramet.model.work.stream import (
    End,
    Remark,
    StreamEvent,
    Stuck,
    Text,
    ToolCall,
    ToolResult,
)
from ramet.runner.processes import keepers


def decode(encoded: bytes) -> StreamEvent:
    event: StreamEvent = msgspec.json.decode(encoded, type=StreamEvent)
    return event


def events_of(spool: Spool) -> list[StreamEvent]:
    return [decode(event) for event in spool.batch()[1]]


# Lines.


def test_lines_are_the_same_however_their_bytes_are_cut() -> None:
    data = "eins\r\nzwei ä\n\ndrei".encode()
    for size in range(1, len(data)):
        lines = Lines()
        found = [line for at in range(0, len(data), size) for line in lines.feed(data[at : at + size])]
        assert found + lines.finish() == ["eins", "zwei ä", "", "drei"]
        assert lines.finish() == []


def test_a_line_that_is_too_long_is_cut_and_the_next_one_is_whole() -> None:
    lines = Lines(longest_bytes=10)
    assert lines.feed(b"0123456") == []
    assert lines.feed(b"789abcdef\nnext\n") == ["0123456789… (cut: 6 more bytes in this line)", "next"]


# Events as JSON.


@pytest.mark.parametrize("text", ["plain", "ümlaut 🌱", ""])
def test_a_harmless_event_is_written_as_it_is(text: str) -> None:
    assert decode(encode_event(Text(text=text))) == Text(text=text)


def test_nul_and_half_a_surrogate_pair_never_leave_the_keeper() -> None:
    assert decode(encode_event(Text(text="a\0b\ud83dc"))) == Text(text="ab?c")
    call = ToolCall(call_id="1", name="Write", input={"te\0xt": ["x\0", {"deep": "\udc00"}], "n": 1})
    mended = decode(encode_event(call))
    assert isinstance(mended, ToolCall)
    assert mended.input == {"text": ["x", {"deep": "?"}], "n": 1}


def test_what_a_tool_is_given_is_cut_like_any_text() -> None:
    call = decode(encode_event(ToolCall(call_id="1", name="Write", input={"text": "x" * 3 * LONGEST_TEXT})))
    assert isinstance(call, ToolCall)
    assert "cut: " in str(call.input)
    assert len(str(call.input)) < LONGEST_TEXT + 200


# The spool.


def test_a_batch_waits_until_nothing_more_comes_but_not_for_long(tmp_path: Path) -> None:
    spool = Spool(tmp_path / "spool")
    assert spool.due_at == float("inf")
    spool.add(Text(text="a", is_partial=True), now=10.0)
    assert spool.due_at == pytest.approx(10.0 + IDLE_SECONDS)
    for step in range(1, 100):
        spool.add(Text(text="a", is_partial=True), now=10.0 + step / 100)
    assert spool.due_at == pytest.approx(10.0 + LONGEST_WAIT_SECONDS)


def test_a_large_batch_does_not_wait(tmp_path: Path) -> None:
    spool = Spool(tmp_path / "spool")
    spool.add(Text(text="x" * BATCH_BYTES, is_partial=True), now=10.0)
    assert spool.due_at == 0


def test_what_was_offered_is_offered_again_until_it_is_acknowledged(tmp_path: Path) -> None:
    spool = Spool(tmp_path / "spool")
    spool.add(Text(text="a"), now=1.0)
    assert spool.batch() == spool.batch()
    spool.add(Text(text="b"), now=2.0)
    assert (spool.batch()[0], events_of(spool)) == (1, [Text(text="a"), Text(text="b")])
    spool.acknowledge(1)
    assert (spool.batch()[0], events_of(spool)) == (2, [Text(text="b")])
    spool.acknowledge(2)
    assert spool.is_delivered
    assert spool.batch() == (3, [])


def test_pieces_are_joined_up_to_whatever_else_is_said(tmp_path: Path) -> None:
    spool = Spool(tmp_path / "spool")
    for event in (
        Text(text="a\n", is_partial=True),
        Text(text="b\n", is_partial=True),
        Remark(text="one"),
        Remark(text="two"),
        Text(text="whole"),
        Text(text="c\n", is_partial=True),
    ):
        spool.add(event, now=1.0)
    assert events_of(spool) == [
        Text(text="a\nb\n", is_partial=True),
        Remark(text="one\ntwo"),
        Text(text="whole"),
        Text(text="c\n", is_partial=True),
    ]


def test_what_memory_does_not_hold_is_read_back_in_order(tmp_path: Path) -> None:
    (tmp_path / "keeper").mkdir()
    spool = Spool(tmp_path / "keeper" / "spool.jsonl")
    for number in range(300):
        spool.add(Text(text=f"{number} {'x' * 20_000}"), now=1.0)
    spool.add(Text(text="y" * 900_000), now=1.0)
    received: list[str] = []
    while not spool.is_delivered:
        seq, events = spool.batch()
        assert seq == len(received) + 1
        received += [event.text.split()[0] for event in map(decode, events) if isinstance(event, Text)]
        spool.acknowledge(seq + len(events) - 1)
    assert received == [*map(str, range(300)), "y" * 900_000]
    assert [line.seq for line in keepers.read_spool(tmp_path, "keeper")] == list(range(1, 302))


# The watch.


class Machine:
    """How long the agent has computed, as the test wants it."""

    cpu_seconds = 0.0

    def __init__(self) -> None:
        self.told: list[Stuck] = []


def watch(machine: Machine, tmp_path: Path, **changes: int | None) -> Watch:
    spec = make_spec(tmp_path, tmp_path, "true", **{"silent_seconds": 10, "stuck_seconds": 30, **changes})
    return Watch(spec, 100.0, lambda: machine.cpu_seconds, machine.told.append, is_talkative=True)


def test_silence_is_first_looked_at_and_then_ends_the_agent(tmp_path: Path) -> None:
    watched = watch(Machine(), tmp_path)
    assert [watched.check(now) for now in (109.9, 110.0, 129.9)] == [None, None, None]
    verdict = watched.check(130.0)
    assert isinstance(verdict, Verdict)
    assert (verdict.outcome, verdict.reason.startswith("it said nothing for 30 seconds")) == ("stuck", True)


def test_a_word_ends_the_silence(tmp_path: Path) -> None:
    watched = watch(Machine(), tmp_path)
    watched.check(110.0)
    watched.hear(129.0)
    assert watched.due_at == 139.0
    assert watched.check(130.0) is None


def test_computing_is_a_sign_of_life_and_idling_is_not(tmp_path: Path) -> None:
    machine = Machine()
    watched = watch(machine, tmp_path)
    watched.check(110.0)
    machine.cpu_seconds = 5.0
    assert watched.check(130.0) is None
    assert watched.due_at == 150.0
    machine.cpu_seconds = 1.0  # a child has ended, and its share is gone with it
    assert watched.check(150.0) is None
    machine.cpu_seconds = 1.1
    assert isinstance(watched.check(170.0), Verdict)


def test_no_silence_counts_while_a_tool_is_at_work(tmp_path: Path) -> None:
    watched = watch(Machine(), tmp_path)
    watched.note(ToolCall(call_id="1", name="Bash", input={}))
    assert watched.due_at == float("inf")
    assert watched.check(1000.0) is None
    watched.note(ToolResult(call_id="1", output="done"))
    watched.hear(1000.0)
    assert watched.due_at == 1010.0


def test_zero_means_never(tmp_path: Path) -> None:
    assert watch(Machine(), tmp_path, stuck_seconds=0).due_at == float("inf")
    watched = watch(Machine(), tmp_path, repeat_limit=0)
    assert not any(watched.note(ToolResult(call_id="1", name="Bash", output="same")) for _ in range(1000))


@pytest.mark.parametrize("changing", ["name", "input", "output", None])
def test_only_the_same_tool_arguments_and_result_are_a_repetition(tmp_path: Path, changing: str | None) -> None:
    watched = watch(Machine(), tmp_path, repeat_limit=3)
    verdicts = []
    for number in range(6):
        changed = {changing: str(number)} if changing else {}
        step = {"name": "Bash", "input": "ls", "output": "nothing", **changed}
        watched.note(ToolCall(call_id=str(number), name=step["name"], input=step["input"]))
        verdicts.append(watched.note(ToolResult(call_id=str(number), output=step["output"])))
    assert [verdict is not None for verdict in verdicts] == [changing is None and n >= 2 for n in range(6)]


@pytest.mark.requirement("R148", "R149")
def test_a_step_that_is_repeated_is_told_long_before_the_agent_is_ended_for_it(tmp_path: Path) -> None:
    machine = Machine()
    watched = watch(machine, tmp_path, repeat_limit=5)
    for number in range(5):
        watched.note(Text(text="Once more."))
        watched.note(ToolCall(call_id=str(number), name="Bash", input={"command": "ls" + 3000 * " "}))
        watched.note(ToolResult(call_id=str(number), output="nothing"))
    assert [(stuck.reason, stuck.tool, stuck.turns) for stuck in machine.told] == [
        ("repetition", "Bash", 6),
        ("repetition", "Bash", 10),
    ]
    assert "3 times in a row" in machine.told[0].text
    assert str(machine.told[0].arguments).startswith("{'command': 'ls ")


@pytest.mark.requirement("R148")
@pytest.mark.parametrize(("has_used_tools", "reason"), [(False, "no_progress"), (True, "time")])
def test_when_most_of_the_time_is_over_it_is_told_once(tmp_path: Path, has_used_tools: bool, reason: str) -> None:
    machine = Machine()
    watched = watch(machine, tmp_path, stuck_seconds=0, timeout_seconds=100)
    if has_used_tools:
        watched.note(ToolResult(call_id="1", name="Bash", output="done"))
    assert watched.due_at == 180.0
    assert [watched.check(now) for now in (179.9, 180.0, 190.0)] == [None, None, None]
    assert [stuck.reason for stuck in machine.told] == [reason]
    assert watched.due_at == 200.0


@pytest.mark.requirement("R149")
def test_silence_is_told_before_the_agent_is_ended_for_it(tmp_path: Path) -> None:
    machine = Machine()
    watched = watch(machine, tmp_path)
    watched.note(Text(text="Let me think."))
    watched.check(110.0)
    verdict = watched.check(130.0)
    assert isinstance(verdict, Verdict)
    assert machine.told == [Stuck(reason="silence", text=verdict.reason, turns=1)]


@pytest.mark.requirement("R150")
def test_events_of_an_earlier_version_still_load() -> None:
    assert decode(b'{"kind":"end","outcome":"stuck","reason":"silent"}') == End(outcome="stuck", reason="silent")
    assert decode(b'{"kind":"stuck","reason":"issue","text":"no disk"}') == Stuck(reason="issue", text="no disk")
