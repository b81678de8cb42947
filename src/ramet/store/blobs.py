"""How a content is kept: by its hash, compressed where that helps.

The codec of each blob is recorded with it and never changes its meaning, so that a file written today opens for good.
"""

import threading

import zstandard
from msgspec import Struct

from ramet.model.commit import hash_content

RAW = 0
ZSTD = 1

_LEVEL = 3
_SMALLEST = 64
"""Shorter contents do not shrink."""


class Blob(Struct, frozen=True):
    """A content ready to be stored."""

    hash: bytes
    codec: int
    size: int
    data: bytes


class Codec:
    """Compresses and decompresses; each thread has its own machinery, because zstd's is not shared safely."""

    def __init__(self) -> None:
        self._local = threading.local()

    def pack(self, content: bytes) -> Blob:
        """The blob of a content."""
        packed = self._compressor.compress(content) if len(content) >= _SMALLEST else content
        if len(packed) >= len(content):
            return Blob(hash_content(content), RAW, len(content), content)
        return Blob(hash_content(content), ZSTD, len(content), packed)

    def unpack(self, codec: int, size: int, data: bytes) -> bytes:
        """The content of a blob; `ValueError` where it is damaged."""
        if codec == RAW:
            return data
        if codec != ZSTD:
            raise ValueError(f"unknown blob codec {codec}")
        try:
            return self._decompressor.decompress(data, max_output_size=size)
        except zstandard.ZstdError as error:
            raise ValueError(f"damaged blob: {error}") from error

    @property
    def _compressor(self) -> zstandard.ZstdCompressor:
        if not hasattr(self._local, "compressor"):
            # The row has the size; the frame need not repeat it, nor a checksum that the hash makes useless.
            self._local.compressor = zstandard.ZstdCompressor(level=_LEVEL, write_content_size=False)
        return self._local.compressor  # type: ignore[no-any-return]

    @property
    def _decompressor(self) -> zstandard.ZstdDecompressor:
        if not hasattr(self._local, "decompressor"):
            self._local.decompressor = zstandard.ZstdDecompressor()
        return self._local.decompressor  # type: ignore[no-any-return]
