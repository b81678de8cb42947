"""The recorded streams: what a program printed, how it ended, and what a driver is expected to make of it."""

import json
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from ramet.config.settings import ProfileSettings
from ramet.model.work.stream import End, StreamEvent
from ramet.vendors import registry
from ramet.vendors.contract.driver_protocol import ProcessExit

STREAMS = Path(__file__).with_name("streams")


class Recorded(NamedTuple):
    """A stream, read."""

    events: list[StreamEvent]
    end: End


def cases(driver: str) -> list[str]:
    """The names of a driver's recorded streams."""
    return sorted(path.stem for path in (STREAMS / driver).glob("*.jsonl"))


def lines(driver: str, case: str) -> list[str]:
    """What it printed."""
    return (STREAMS / driver / f"{case}.jsonl").read_text(encoding="utf-8").split("\n")[:-1]


def play(driver: str, case: str) -> Recorded:
    """What the driver makes of it."""
    ended = _load(driver, f"{case}.exit.json")
    profile = msgspec.convert(ended.pop("profile", {}), ProfileSettings)
    reader = registry.find_driver(driver).reader(profile)
    events = [event for line in lines(driver, case) for event in reader.read(line)]
    return Recorded(events=events, end=reader.conclude(msgspec.convert(ended, ProcessExit)))


def read(driver: str, case: str) -> dict[str, Any]:
    """The same as JSON."""
    return dict(msgspec.to_builtins(play(driver, case)._asdict()))


def expected(driver: str, case: str) -> dict[str, Any]:
    """What it should make of it."""
    return _load(driver, f"{case}.expected.json")


def _load(driver: str, name: str) -> dict[str, Any]:
    return dict(json.loads((STREAMS / driver / name).read_text(encoding="utf-8")))
