"""Notifications: a real daemon, a real web server, and a program in the place of the desktop."""

import json
import logging
import shutil
import stat
import tempfile
import threading
from collections.abc import Iterator
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from tests.cli.command_line import CommandLine
from tests.keeper.scripted_daemon import wait_for

from ramet.config.settings import NotifySettings
from ramet.daemon.hooks.channels import is_address, open_channels
from ramet.daemon.hooks.notifications import Teller
from ramet.model.record.notification import Notification, compose

_AT = datetime(2026, 1, 5, 8, tzinfo=UTC)
_SECONDS = 20


class Receiver:
    """A web server that remembers what it was sent."""

    def __init__(self) -> None:
        self.received: list[dict[str, Any]] = []
        self.status = 204
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                assert self.headers["Content-Type"] == "application/json"
                receiver.received.append(json.loads(body))
                self.send_response(receiver.status)
                self.end_headers()

            def log_message(self, *_: Any) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.address = f"http://127.0.0.1:{self.server.server_port}/hook?key=k"
        self._thread = threading.Thread(target=self.server.serve_forever, daemon=True)
        self._thread.start()

    def close(self) -> None:
        self.server.shutdown()
        self.server.server_close()
        self._thread.join(_SECONDS)


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    receiver = Receiver()
    yield receiver
    receiver.close()


@pytest.fixture
def ramet() -> Iterator[CommandLine]:
    """Commands in a project with a task; the daemon ends with the test."""
    home = Path(tempfile.mkdtemp(prefix="ramet-"))
    (home / "site").mkdir()
    ramet = CommandLine(home, home / "site")
    yield ramet
    ramet("daemon", "stop")
    shutil.rmtree(home, ignore_errors=True)


def begin(ramet: CommandLine) -> None:
    """The session s1 of a person's own agent, at work on e1. The first command starts the daemon."""
    ramet.ok("project", "add", ".")
    ramet.ok("task", "add", "tasks/shop")
    ramet.begin_effort("tasks/shop", "plan")
    ramet.ok("session", "start", "tasks/shop", "e1", "--agent", "planner")


def log_of(ramet: CommandLine) -> str:
    return ramet.ok("daemon", "logs")


def finished(ramet: CommandLine) -> None:
    """End s1, and stop the daemon, which has told by then what there was to tell."""
    ramet.ok("session", "finish", "s1")
    ramet.ok("daemon", "stop")


@pytest.mark.requirement("R135", "R144", "R145")
def test_a_root_session_is_told_and_its_children_are_not(ramet: CommandLine, receiver: Receiver) -> None:
    ramet.environ["RAMET_NOTIFY_WEBHOOK"] = receiver.address
    begin(ramet)
    ramet.ok("spawn", "echo done", "--driver", "shell", "--parent", "s1")
    goal = "echo " + "x" * 100
    ramet.ok("add", goal, "--skill", "shell", "--driver", "shell", "--task", "tasks/shop")
    ramet.ok("work", "--once")
    finished(ramet)
    told, by_hand = receiver.received
    assert told.keys() == {"event", "workflowId", "outcome", "detail", "goal", "timestamp"}
    assert (told["event"], told["workflowId"], told["outcome"]) == ("session_completed", "shell", "success")
    assert told["goal"] == f"{goal[:57]}..."
    assert told["detail"] == "x" * 100
    assert datetime.fromisoformat(told["timestamp"]).tzinfo is not None
    assert by_hand["workflowId"] == "plan"


def test_an_attempt_that_is_followed_by_another_is_no_end(ramet: CommandLine, receiver: Receiver) -> None:
    ramet.environ |= {"RAMET_NOTIFY_WEBHOOK": receiver.address, "RAMET_WORK_BACKOFF_SECONDS": "0"}
    begin(ramet)
    mark = ramet.home / "tried"
    script = f"test -e {mark} || {{ touch {mark}; kill -9 $$; }}"
    ramet.ok("add", script, "--skill", "shell", "--driver", "shell", "--task", "tasks/shop")
    ramet.ok("work", "--once")
    assert ramet.json("show", "e2")["attempts"] == 2
    ramet.ok("daemon", "stop")
    assert [told["outcome"] for told in receiver.received] == ["success"]


@pytest.mark.requirement("R145")
@pytest.mark.parametrize(("characters", "shown"), [(60, "x" * 60), (61, "x" * 57 + "...")])
def test_a_goal_has_sixty_characters_at_most(characters: int, shown: str) -> None:
    assert compose(skill="do", outcome="success", detail="", goal="x" * characters, at=_AT).goal == shown


@pytest.mark.requirement("R144")
def test_a_desktop_shows_it_and_obeys_nothing_in_it(ramet: CommandLine) -> None:
    programs = ramet.home / "programs"
    shown = ramet.home / "shown"
    put_program(programs / "notify-send", f'printf "%s\\0" "$@" > {shown}')
    ramet.environ |= {"RAMET_NOTIFY_DESKTOP": "true", "PATH": f"{programs}:{ramet.environ['PATH']}"}
    begin(ramet)
    ramet.ok("add", "echo '<b>bold</b>'", "--skill", "shell", "--driver", "shell", "--task", "tasks/shop")
    ramet.ok("work", "--once")
    ramet.ok("daemon", "stop")
    words = shown.read_text().split("\0")
    assert words[:3] == ["--app-name=ramet", "--", "shell: success"]
    assert "&lt;b&gt;bold&lt;/b&gt;" in words[3]
    assert "<b>" not in words[3]


@pytest.mark.requirement("R146")
def test_a_channel_that_cannot_work_is_off_with_one_warning(ramet: CommandLine, receiver: Receiver) -> None:
    (ramet.home / "programs").mkdir()
    ramet.environ |= {
        "RAMET_NOTIFY_DESKTOP": "true",
        "RAMET_NOTIFY_WEBHOOK": receiver.address,
        "PATH": str(ramet.home / "programs"),
    }
    begin(ramet)
    assert log_of(ramet).count("notify.desktop is off: notify-send is not in PATH") == 1
    finished(ramet)
    assert [told["outcome"] for told in receiver.received] == ["success"]


@pytest.mark.requirement("R146")
@pytest.mark.parametrize(
    ("settings", "platform", "reason"),
    [
        (NotifySettings(webhook="ftp://example.com"), "linux", "notify.webhook is off"),
        (NotifySettings(webhook="http://"), "linux", "notify.webhook is off"),
        (NotifySettings(webhook="http://host:port/"), "linux", "notify.webhook is off"),
        (NotifySettings(desktop=True), "sunos5", "there is no notifier for sunos5"),
        (NotifySettings(desktop=True), "darwin", "osascript is not in PATH"),
    ],
)
def test_what_is_configured_wrong_is_said_once(
    settings: NotifySettings, platform: str, reason: str, caplog: pytest.LogCaptureFixture
) -> None:
    assert open_channels(settings, {"PATH": "/nowhere"}, platform) == []
    assert [reason in record.getMessage() for record in caplog.records] == [True]
    assert "key" not in caplog.text


@pytest.mark.requirement("R146")
def test_without_a_channel_nobody_follows_the_events(caplog: pytest.LogCaptureFixture) -> None:
    assert open_channels(NotifySettings(), {}) == []
    assert not caplog.records
    assert is_address("https://example.com/hook")


@pytest.mark.requirement("R147")
def test_a_webhook_that_fails_changes_nothing(ramet: CommandLine, receiver: Receiver) -> None:
    receiver.status = 500
    ramet.environ["RAMET_NOTIFY_WEBHOOK"] = receiver.address
    begin(ramet)
    ramet.ok("session", "finish", "s1")
    wait_for(lambda: "notification failed channel=webhook error=HTTPError" in log_of(ramet))
    assert "key=k" not in log_of(ramet)
    assert ramet.json("session", "show", "s1")["outcome"] == "success"


class Blocked:
    """A channel that takes as long as the test wants."""

    name = "blocked"

    def __init__(self) -> None:
        self.is_free = threading.Event()
        self.told: list[str] = []

    def deliver(self, notification: Notification) -> None:
        assert self.is_free.wait(_SECONDS)
        self.told.append(notification.goal)
        raise ValueError("whatever")


@pytest.mark.requirement("R147")
def test_a_channel_that_hangs_delays_nobody_and_its_errors_are_its_own(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.WARNING)
    blocked = Blocked()
    teller = Teller([blocked])
    for number in range(300):
        teller.put(compose(skill="do", outcome="success", detail="", goal=str(number), at=_AT))
    teller.close()
    assert blocked.told == []
    assert "a notification was dropped: 100 are waiting" in caplog.text
    blocked.is_free.set()
    wait_for(lambda: len(blocked.told) >= 100)
    assert "notification failed channel=blocked error=ValueError" in caplog.text


def put_program(path: Path, script: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
