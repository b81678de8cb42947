"""Encoding a reply whose size has a limit: a long list is encoded item by item, up to the limit and no further."""

from typing import Any

from msgspec import Struct

from ramet.errors import ReplyTooLarge
from ramet.protocol.wire.frames import encode

_LONG_LIST = 256
"""Shorter lists are encoded at once."""


def encode_within(reply: Any, most_bytes: int) -> bytes | bytearray:
    """The reply as JSON, as `encode` writes it."""
    field = _longest_list(reply)
    if field is None:
        encoded = encode(reply)
        _refuse_more(len(encoded), most_bytes)
        return encoded
    written = bytearray(b"{")
    for name, key in zip(reply.__struct_fields__, reply.__struct_encode_fields__, strict=True):
        if len(written) > 1:
            written += b","
        written += encode(key) + b":"
        if name == field:
            _write_items(written, getattr(reply, name), most_bytes)
        else:
            written += encode(getattr(reply, name))
            _refuse_more(len(written), most_bytes)
    written += b"}"
    _refuse_more(len(written), most_bytes)
    return written


def _longest_list(reply: Any) -> str | None:
    """The field of a plain struct that has a long list."""
    if not isinstance(reply, Struct):
        return None
    config = reply.__struct_config__
    if config.omit_defaults or config.tag is not None or config.array_like:
        return None
    lists = ((len(value), name) for name in reply.__struct_fields__ if isinstance(value := getattr(reply, name), list))
    length, longest = max(lists, default=(0, ""))
    return longest if length > _LONG_LIST else None


def _write_items(written: bytearray, items: list[Any], most_bytes: int) -> None:
    written += b"["
    for number, item in enumerate(items):
        if number:
            written += b","
        written += encode(item)
        _refuse_more(len(written), most_bytes)
    written += b"]"


def _refuse_more(size: int, most_bytes: int) -> None:
    if size > most_bytes:
        raise ReplyTooLarge(
            f"the reply has more than {most_bytes} bytes, which is daemon.max_reply_bytes",
            field="limit",
            value=most_bytes,
        )
