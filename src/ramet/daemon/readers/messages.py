"""What the daemon and a reader process say to each other over their socket.

The daemon sends an order: its length and a request. A reader answers with a header and a body: a reply that is encoded
already, an error, or where it failed. The header has the size, so a large reply can be passed on in pieces.
"""

import pickle
import socket
import struct
from typing import Any, Literal, NamedTuple

from ramet.protocol.operation import Request

Kind = Literal["ready", "reply", "error", "failed"]

_KINDS: tuple[Kind, ...] = ("ready", "reply", "error", "failed")
_LENGTH = struct.Struct("!Q")
_HEADER = struct.Struct("!BBQQ")
_INDEX_IS_DAMAGED = 1
_IS_LAST = 2
_DATABASE_IS_DAMAGED = 4

HEADER_BYTES = _HEADER.size


class Order(NamedTuple):
    """A read: the request, and in whose name it is asked."""

    request: Request[Any]
    principal: str


class Header(NamedTuple):
    """What comes before the body of an answer."""

    kind: Kind
    size: int
    grown_bytes: int = 0
    """How much larger the reader is than it was when it started."""
    is_last: bool = False
    """Whether the reader ends after this answer."""
    is_index_damaged: bool = False
    """Whether the reader found that the search index has to be built again."""
    is_database_damaged: bool = False
    """Whether the reader has seen a sign of damage to the database."""


def encode_order(order: Order) -> bytes:
    """The bytes of an order. Both ends are the same program of the same user, so its objects travel as they are."""
    body = pickle.dumps(tuple(order), pickle.HIGHEST_PROTOCOL)
    return _LENGTH.pack(len(body)) + body


def receive_order(link: socket.socket) -> Order | None:
    """Wait for the next order; None if the daemon is gone or needs no more."""
    length = _receive(link, _LENGTH.size)
    body = None if length is None else _receive(link, *_LENGTH.unpack(length))
    return None if body is None else Order(*pickle.loads(body))  # noqa: S301 - from the daemon, over a private socket


def _receive(link: socket.socket, size: int) -> bytearray | None:
    received = bytearray()
    while len(received) < size:
        piece = link.recv(min(size - len(received), 1 << 20))
        if not piece:
            return None
        received += piece
    return received


def encode_header(header: Header) -> bytes:
    """The bytes of a header."""
    flags = header.is_last * _IS_LAST | header.is_index_damaged * _INDEX_IS_DAMAGED
    flags |= header.is_database_damaged * _DATABASE_IS_DAMAGED
    return _HEADER.pack(_KINDS.index(header.kind), flags, header.size, header.grown_bytes)


def decode_header(data: bytes | bytearray) -> Header:
    """The header in the first bytes of an answer."""
    kind, flags, size, grown_bytes = _HEADER.unpack_from(data)
    return Header(
        _KINDS[kind],
        size,
        grown_bytes,
        is_last=bool(flags & _IS_LAST),
        is_index_damaged=bool(flags & _INDEX_IS_DAMAGED),
        is_database_damaged=bool(flags & _DATABASE_IS_DAMAGED),
    )
