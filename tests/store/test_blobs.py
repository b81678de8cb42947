"""Blobs: what is packed comes back, and damage is noticed."""

import os

import pytest

from ramet.model.history.commit import hash_content
from ramet.store.database.blobs import (
    RAW,
    ZSTD,
    ZSTD_V1,
    Blob,
    Codec,
)


@pytest.mark.parametrize(
    ("content", "codec"),
    [
        (b"", RAW),
        (b"x", RAW),
        (b"a" * 63, RAW),
        (b"a" * 64, ZSTD_V1),
        ("äöü\0".encode() * 500, ZSTD_V1),
        (os.urandom(4096), RAW),
    ],
)
def test_what_is_packed_comes_back_compressed_only_where_that_helps(content: bytes, codec: int) -> None:
    blob = Codec().pack(content)
    assert (blob.hash, blob.codec, blob.size) == (hash_content(content), codec, len(content))
    assert len(blob.data) <= len(content)
    assert Codec().unpack(blob.codec, blob.size, blob.data) == content


@pytest.mark.parametrize("damage", ["codec", "size", "data"])
def test_a_damaged_blob_is_refused(damage: str) -> None:
    blob = Codec().pack(b"abc" * 100)
    broken = {
        "codec": Blob(blob.hash, 7, blob.size, blob.data),
        "size": Blob(blob.hash, blob.codec, 10, blob.data),
        "data": Blob(blob.hash, blob.codec, blob.size, blob.data[:-3]),
    }[damage]
    with pytest.raises(ValueError, match="blob"):
        Codec().unpack(broken.codec, broken.size, broken.data)


def test_a_blob_of_the_first_release_still_opens() -> None:
    """The bytes of a zstd blob as the first release wrote it: `ramet` a hundred times."""
    data = bytes.fromhex(FIRST_RELEASE)
    assert Codec().unpack(ZSTD, 500, data) == b"ramet" * 100


FIRST_RELEASE = "28b52ffd00006500002872616d65740100ec508b16"
