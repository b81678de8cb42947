"""A codec's number means the same for good: what was written with it opens, whatever comes later."""

import hashlib
import resource
import threading
from importlib.resources import files

import pytest
import zstandard

from ramet.errors import RequestTooLarge
from ramet.store.database.blobs import (
    LARGEST_BYTES,
    RAW,
    ZSTD,
    ZSTD_V1,
    Codec,
)

TEXT = "The parser reads a line, and the parser keeps the line.\n" * 3 + (
    "    return self._lines[-1] if self._lines else None\n"
)

# Never change these: they stand for everybody's files.
WRITTEN = {
    RAW: TEXT.encode().hex(),
    ZSTD: (
        "28b52ffd0000b50200a2840f1690a7e9e45adb7a7ede82fd3f08be0baf48c4d7dbb904a38710dc4cfda00901c0200be4a4e6"
        "878955fc2f83a46a0f6b7376d143693b8d15c7269aba8612070036cc2b9eb562ab047cc208c5004da1059b7202"
    ),
    ZSTD_V1: (
        "28b52ffd0000cd010073410452177dc9ec3fecf377110c576a46e55b3d0ffc84ab5412fd77e700d3de6b2704156251257050"
        "3da9b0a9d273fc200f58b88fc080551d"
    ),
}
DICTIONARY_V1 = "d96b49d896bdf5487b4d419f84542448f0d23304ec25c07b1e45299cf5637bbe"


@pytest.mark.parametrize("codec", WRITTEN)
def test_a_blob_of_every_codec_opens(codec: int) -> None:
    assert Codec().unpack(codec, len(TEXT), bytes.fromhex(WRITTEN[codec])).decode() == TEXT


def test_the_numbers_stay() -> None:
    assert (RAW, ZSTD, ZSTD_V1) == (0, 1, 2)


def test_the_dictionary_is_never_changed() -> None:
    dictionary = (files("ramet.store") / "dictionaries" / "v1.zstd-dict").read_bytes()
    assert hashlib.sha256(dictionary).hexdigest() == DICTIONARY_V1


@pytest.mark.parametrize("text", ["", "short", "x" * 63, TEXT, "ünï → ✓ " * 40, "\0" * 5000])
def test_what_is_packed_comes_back(text: str) -> None:
    codec = Codec()
    blob = codec.pack(text.encode())
    assert blob.size == len(text.encode())
    assert len(blob.data) <= blob.size
    assert codec.unpack(blob.codec, blob.size, blob.data).decode() == text


def test_what_agents_write_is_packed_with_the_dictionary() -> None:
    blob = Codec().pack(b'{"type": "tool_use", "name": "Bash", "input": {"command": "git status --short"}}')
    assert blob.codec == ZSTD_V1
    assert len(blob.data) < blob.size / 2


def test_every_thread_can_unpack() -> None:
    codec, found = Codec(), []
    blob = codec.pack(TEXT.encode())
    threads = [
        threading.Thread(target=lambda: found.append(codec.unpack(blob.codec, blob.size, blob.data))) for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(10)
    assert found == [TEXT.encode()] * 4


@pytest.mark.parametrize("codec", [ZSTD, ZSTD_V1])
def test_a_damaged_blob_is_refused(codec: int) -> None:
    data = bytearray.fromhex(WRITTEN[codec])
    data[:4] = b"oops"
    with pytest.raises(ValueError, match="damaged blob"):
        Codec().unpack(codec, len(TEXT), bytes(data))


def test_a_codec_from_the_future_is_refused() -> None:
    with pytest.raises(ValueError, match="unknown blob codec 99"):
        Codec().unpack(99, 1, b"x")


@pytest.mark.requirement("R343")
def test_a_blob_that_says_it_is_larger_than_any_content_is_refused_before_it_is_unpacked() -> None:
    bomb = zstandard.ZstdCompressor(write_content_size=False).compress(b"\0" * (64 * 1024 * 1024))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(ValueError, match=f"no content has more than {LARGEST_BYTES}"):
        Codec().unpack(ZSTD, 8 * 2**30, bomb)
    with pytest.raises(ValueError, match="damaged blob"):
        Codec().unpack(ZSTD, 1000, bomb)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 32 * 1024


def test_a_content_that_could_not_be_read_again_is_not_written() -> None:
    with pytest.raises(RequestTooLarge, match=str(LARGEST_BYTES)):
        Codec().pack(bytes(LARGEST_BYTES + 1))
