"""The log: one readable line per record, private, rotated, and without what the daemon was asked."""

import logging
import re
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from ramet.config.settings import DaemonSettings
from ramet.daemon.log import close_log, open_log
from ramet.model.redaction import Redactor

log = logging.getLogger("ramet.daemon.test")


@pytest.fixture
def log_file(tmp_path: Path) -> Iterator[Path]:
    path = tmp_path / "logs" / "daemon.log"
    handler = open_log(path, DaemonSettings(log_max_bytes=10_000, log_files=2), Redactor())
    yield path
    close_log(handler)
    logging.getLogger("ramet").propagate = True
    logging.getLogger("asyncio").propagate = True


def test_a_record_is_one_line_in_utc(log_file: Path) -> None:
    log.info("daemon started pid=%d store=%s", 7, "sqlite /a\nb")
    record = log_file.read_text()
    assert re.fullmatch(
        r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z INFO daemon started pid=7 store=sqlite /a \| b\n", record
    )


def test_the_file_is_private_and_made_with_the_first_record(log_file: Path) -> None:
    assert not log_file.exists()
    log.info("first")
    assert stat.S_IMODE(log_file.stat().st_mode) == 0o600


@pytest.mark.requirement("R306")
def test_the_file_is_rotated_and_the_oldest_forgotten(log_file: Path) -> None:
    for number in range(2000):
        log.info("record %d of a log that is long enough to be rotated", number)
    files = sorted(file.name for file in log_file.parent.iterdir())
    assert files == ["daemon.log", "daemon.log.1", "daemon.log.2"]
    assert {stat.S_IMODE(file.stat().st_mode) for file in log_file.parent.iterdir()} == {0o600}
    assert all(file.stat().st_size <= 10_000 for file in log_file.parent.iterdir())


def test_an_error_is_logged_with_its_place_but_not_its_message(log_file: Path) -> None:
    try:
        int("the password is 1234")
    except ValueError:
        log.exception("internal error")
    record = log_file.read_text()
    assert "error=ValueError at test_an_error_is_logged" in record
    assert "1234" not in record
    assert record.count("\n") == 1
