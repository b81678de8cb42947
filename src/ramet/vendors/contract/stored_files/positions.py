"""Positions in stored sessions: a reader's own words, kept as text. One that does not fit is as good as none."""

from typing import TypeVar

import msgspec

Fields = TypeVar("Fields", bound=msgspec.Struct)


def encode(position: msgspec.Struct) -> str:
    """A position as text."""
    return msgspec.json.encode(position).decode()


def is_position(text: str | None) -> bool:
    """Whether it may be a position of one of these readers."""
    try:
        return bool(text) and isinstance(msgspec.json.decode(text or ""), dict)
    except (msgspec.MsgspecError, ValueError):
        return False


def decode(text: str | None, kind: type[Fields]) -> Fields | None:
    """A position from its text; None if it is another reader's, or an older one's."""
    if not text:
        return None
    try:
        return msgspec.json.decode(text, type=kind)
    except (msgspec.MsgspecError, ValueError):
        return None
