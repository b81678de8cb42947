"""The scripted fake agent: what tests of everything around an agent are made with."""

import subprocess
import time
from pathlib import Path

import msgspec
import psutil
import pytest
from tests.agents import fake_agent

from ramet.model.work.stream import StreamEvent, Text

pytestmark = pytest.mark.requirement("R311")


def _run(
    script: list[fake_agent.Step] | None, told: str = "", directory: Path | None = None
) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        fake_agent.program(script), input=told, capture_output=True, text=True, check=False, cwd=directory, timeout=30
    )


def test_it_says_writes_and_ends_as_its_script_says(tmp_path: Path) -> None:
    script: list[fake_agent.Step] = [
        {"say": "hello"},
        {"complain": "oh"},
        {"write": "made/note.txt", "text": "blue"},
        {"append": "made/note.txt", "text": "!"},
        {"run": ["cat", "made/note.txt"]},
        {"exit": 7},
        {"say": "never"},
    ]
    done = _run(script, directory=tmp_path)
    assert (done.stdout, done.stderr, done.returncode) == ("hello\nblue!", "oh\n", 7)


def test_a_prompt_may_carry_the_script() -> None:
    assert _run(None, fake_agent.prompt([{"echo": "prompt"}], "Look.")).stdout.startswith("Look.\nscript: ")
    assert _run(None, "Just a prompt.\nMore.").stdout == "Just a prompt.\n"


def test_it_speaks_stream_events() -> None:
    done = _run([{"event": {"kind": "text", "text": "hi"}}])
    assert msgspec.json.decode(done.stdout, type=StreamEvent) == Text(text="hi")


def test_it_leaves_children_that_live_no_longer_than_they_were_told_to(tmp_path: Path) -> None:
    pid_file = tmp_path / "child.pid"
    script: list[fake_agent.Step] = [{"spawn": 1, "detached": True, "pid_file": str(pid_file)}]
    with subprocess.Popen(fake_agent.program(script), stdin=subprocess.DEVNULL) as agent:
        assert agent.wait(30) == 0
    child = psutil.Process(int(pid_file.read_text()))
    assert child.is_running()
    psutil.wait_procs([child], timeout=30)
    assert not child.is_running()


def test_it_can_refuse_to_go() -> None:
    script: list[fake_agent.Step] = [{"ignore": ["SIGTERM"]}, {"say": "ready"}, {"sleep": 60}]
    with subprocess.Popen(
        fake_agent.program(script), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True
    ) as agent:
        assert agent.stdout is not None
        assert agent.stdout.readline() == "ready\n"
        agent.terminate()
        with pytest.raises(subprocess.TimeoutExpired):
            agent.wait(0.3)
        agent.kill()


def test_it_waits_for_a_file(tmp_path: Path) -> None:
    signal_file = tmp_path / "go"
    script: list[fake_agent.Step] = [{"say": "ready"}, {"wait_for": str(signal_file)}, {"say": "went"}]
    with subprocess.Popen(
        fake_agent.program(script), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True
    ) as agent:
        assert agent.stdout is not None
        assert agent.stdout.readline() == "ready\n"
        began = time.monotonic()
        signal_file.touch()
        assert agent.stdout.readline() == "went\n"
        assert time.monotonic() - began < 30
