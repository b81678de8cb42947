"""What people see of the stall meter: a table in `ramet daemon status`, findings in `ramet doctor`."""

import pytest
from tests.cli.command_line import CommandLine

from ramet.cli.commands.look.pauses import find_pauses, show_pauses, summarize_pauses
from ramet.protocol.system.daemon import DaemonStatusReply, PauseReport, PauseRow


def status(*rows: PauseRow, writer: PauseReport | None = None) -> DaemonStatusReply:
    longest = max((row.longest_ms for row in rows), default=0.0)
    count = sum(row.count for row in rows)
    report = PauseReport(longest_ms=longest, recent_ms=longest, count=count, worst=list(rows))
    return DaemonStatusReply(
        socket="/s",
        pid=1,
        version="1",
        store="sqlite",
        schema_version=1,
        uptime_seconds=1,
        connections=1,
        requests=1,
        transactions=1,
        resident_bytes=1,
        loop_pauses=report,
        writer_pauses=writer or PauseReport(),
    )


def pause(name: str, longest_ms: float, processor_ms: float) -> PauseRow:
    return PauseRow(name=name, count=1, longest_ms=longest_ms, processor_ms=processor_ms)


def test_the_table_has_the_operations_and_fits_eighty_columns(capsys: pytest.CaptureFixture[str]) -> None:
    found = status(pause("db.session.updateContextUsage", 12_345.6, 12_345.6), pause("history.diff", 60, 1))
    show_pauses(found)
    lines = capsys.readouterr().out.splitlines()
    assert lines[1].split() == ["held", "by", "over", "20", "ms", "longest", "ms", "processor", "ms"]
    assert lines[3].split() == ["loop", "history.diff", "1", "60.0", "1.0"]
    assert max(map(len, lines)) <= 80
    assert summarize_pauses(found) == {
        "loop pauses": "longest 12,346 ms, 12,346 ms in the last hour, 2 pauses over 20 ms",
        "writer pauses": "none over 5 ms",
    }


def test_without_pauses_there_is_no_table(capsys: pytest.CaptureFixture[str]) -> None:
    show_pauses(status())
    assert capsys.readouterr().out == ""


def test_doctor_names_the_operation_that_computed_too_long_and_what_to_do() -> None:
    loop, writer = find_pauses(status(pause("work.add", 900, 3), pause("history.diff", 400, 380)))
    assert "work.add took 900 ms, 3 ms of it computing" in loop.text
    assert (loop.fix, writer.fix) == ("the machine was busy: run less beside the daemon", None)
    loop, _ = find_pauses(status(pause("work.add", 90, 3), pause("history.diff", 80, 70)))
    assert "history.diff took 80 ms, 70 ms of it computing" in loop.text
    assert "hooks waited for history.diff" in (loop.fix or "")


def test_a_slow_disk_is_told_from_long_work() -> None:
    slow = PauseReport(longest_ms=800, recent_ms=800, count=1, worst=[pause("commit", 800, 1)])
    _, writer = find_pauses(status(writer=slow))
    assert "faster disk" in (writer.fix or "")


def test_short_pauses_are_no_warning() -> None:
    assert [found.fix for found in find_pauses(status(pause("work.add", 200, 30)))] == [None, None]


def test_status_and_doctor_have_both_lines(ramet: CommandLine) -> None:
    ramet.ok("daemon", "start")
    shown = ramet.ok("daemon", "status")
    assert "loop pauses " in shown
    assert "writer pauses " in shown
    found = ramet.json("daemon", "status")
    assert {"longest_ms", "recent_ms", "count", "worst"} == set(found["loop_pauses"]) == set(found["writer_pauses"])
    findings = [row["detail"] for row in ramet.json("doctor")["items"] if row["name"] == "pauses"]
    assert [detail.partition(":")[0] for detail in findings] == ["loop", "writer"]
