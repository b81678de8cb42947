"""The channels of notifications: a desktop, a webhook. Each may be slow or fail: nothing waits for it."""

import html
import logging
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from typing import Protocol
from urllib.parse import urlsplit

import msgspec

from ramet.config.settings import NotifySettings
from ramet.model.record.notification import Notification
from ramet.version import __version__

log = logging.getLogger(__name__)

_SECONDS = 5
_APPLE_SCRIPT = (
    "on run argv",
    "display notification (item 2 of argv) with title (item 1 of argv)",
    "end run",
)
_PROGRAMS = {"linux": "notify-send", "darwin": "osascript"}


class Channel(Protocol):
    """A way to reach a person."""

    name: str

    def deliver(self, notification: Notification) -> None:
        """Deliver it. Takes a bounded time, and may raise any exception."""


class Desktop:
    """Shows it on the desktop that the daemon was started from."""

    name = "desktop"

    def __init__(self, program: str, environ: Mapping[str, str], platform: str) -> None:
        self._program = program
        self._environ = environ
        self._is_apple = platform == "darwin"

    def deliver(self, notification: Notification) -> None:
        title = f"{notification.workflow_id}: {notification.outcome}"
        body = "\n".join(filter(None, [notification.goal, notification.detail]))
        if self._is_apple:
            lines = [word for line in _APPLE_SCRIPT for word in ("-e", line)]
            words = [*lines, "--", title, body]
        else:
            words = ["--app-name=ramet", "--", title, html.escape(body, quote=False)]  # a body may have markup
        subprocess.run(
            [self._program, *words],
            env=dict(self._environ),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            timeout=_SECONDS,
            check=True,
        )


class Webhook:
    """Posts it as JSON."""

    name = "webhook"

    def __init__(self, address: str) -> None:
        self._address = address

    def deliver(self, notification: Notification) -> None:
        import urllib.request  # noqa: PLC0415 - tens of milliseconds that only this costs

        request = urllib.request.Request(  # noqa: S310 - it is http or https, see `is_address`
            self._address,
            data=msgspec.json.encode(notification),
            headers={"Content-Type": "application/json", "User-Agent": f"ramet/{__version__}"},
            method="POST",
        )
        with urllib.request.urlopen(request, timeout=_SECONDS):  # noqa: S310
            pass


def open_channels(settings: NotifySettings, environ: Mapping[str, str], platform: str = sys.platform) -> list[Channel]:
    """The channels that are configured and can work. One that cannot is off, and says so once."""
    return list(_open(settings, environ, platform))


def _open(settings: NotifySettings, environ: Mapping[str, str], platform: str) -> Iterator[Channel]:
    if settings.desktop:
        name = _PROGRAMS.get(platform)
        program = name and shutil.which(name, path=environ.get("PATH"))
        if program:
            yield Desktop(program, environ, platform)
        else:
            reason = f"{name} is not in PATH" if name else f"there is no notifier for {platform}"
            log.warning("notify.desktop is off: %s", reason)
    if settings.webhook:
        if is_address(settings.webhook):
            yield Webhook(settings.webhook)
        else:
            log.warning("notify.webhook is off: it is not an http or https URL")


def is_address(text: str) -> bool:
    """Whether something can be posted there."""
    try:
        parts = urlsplit(text)
        return parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False
