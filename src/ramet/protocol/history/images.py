"""Requests and replies about images."""

from msgspec import Struct

from ramet.errors import ImageNotFound
from ramet.protocol.history.commits import Hash
from ramet.protocol.operation import Operation, Request


class ImageReply(Struct, frozen=True, kw_only=True):
    """An image."""

    hash: str
    media_type: str
    size: int
    """In bytes."""
    data: bytes
    """In JSON as base64."""


class GetImage(Request[ImageReply], frozen=True, kw_only=True):
    """Get an image that a message names, by its SHA-256 hash."""

    op = Operation("history.image", errors=(ImageNotFound,), is_long=True)

    hash: Hash
    """The whole SHA-256 hash of the image, in hexadecimal."""
