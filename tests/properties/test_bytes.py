"""What must hold for any bytes: contents come back as they were, damage is noticed, nonsense is refused by name."""

from contextlib import suppress
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.properties.hypothesis_settings import bounded
from tests.properties.json_values import json_values

from ramet.errors import RametError
from ramet.protocol.operations import OPERATIONS
from ramet.protocol.wire.frames import decode_frame, decode_params, salvage_id, split_line
from ramet.store.database.blobs import Codec

CODEC = Codec()

contents = st.binary(max_size=2000) | st.builds(
    lambda part, times: part * times, st.binary(max_size=40), st.integers(0, 99)
)
operations = st.sampled_from(list(OPERATIONS.values()))


@bounded(200)
@given(contents)
def test_any_content_comes_back(content: bytes) -> None:
    blob = CODEC.pack(content)
    assert CODEC.unpack(blob.codec, blob.size, blob.data) == content
    assert len(blob.data) <= len(content)
    assert blob.size == len(content)


@bounded(200)
@given(st.integers(0, 3), st.integers(0, 5000), st.binary(max_size=300))
def test_a_damaged_blob_is_a_value_error_or_a_content(codec: int, size: int, data: bytes) -> None:
    with suppress(ValueError):
        assert isinstance(CODEC.unpack(codec, size, data), bytes)


@bounded(200)
@given(contents, st.integers(0, 10_000), st.integers(1, 255))
def test_a_flipped_byte_is_refused_or_gives_just_its_size(content: bytes, place: int, flip: int) -> None:
    """A frame has bits that change nothing; what does change something, `db.check` sees by the hash."""
    blob = CODEC.pack(content)
    if not blob.data:
        return
    damaged = bytearray(blob.data)
    damaged[place % len(damaged)] ^= flip
    with suppress(ValueError):
        assert len(CODEC.unpack(blob.codec, blob.size, bytes(damaged))) == blob.size


def test_a_damaged_header_that_asks_for_any_amount_is_refused() -> None:
    blob = CODEC.pack(b"def foo():\n    return 1\n" * 20)
    for place in range(12):
        for flip in range(1, 256):
            damaged = bytearray(blob.data)
            damaged[place] ^= flip
            with suppress(ValueError):
                CODEC.unpack(blob.codec, blob.size, bytes(damaged))


@pytest.mark.requirement("R253", "R317")
@bounded(200)
@given(operations, st.binary(max_size=200) | json_values.map(msgspec.json.encode))
def test_any_bytes_as_parameters_are_a_request_or_a_typed_error(operation: Any, params: bytes) -> None:
    with suppress(RametError):
        assert isinstance(decode_params(operation, params), operation.request)


@pytest.mark.requirement("R253")
@bounded(200)
@given(st.data())
def test_any_values_under_the_right_names_are_a_request_or_a_typed_error(data: st.DataObject) -> None:
    operation = data.draw(operations)
    names = st.sampled_from(operation.request.__struct_fields__) if operation.request.__struct_fields__ else st.text()
    params = data.draw(st.dictionaries(names, json_values, max_size=5))
    with suppress(RametError):
        assert isinstance(decode_params(operation, msgspec.json.encode(params)), operation.request)


@pytest.mark.requirement("R257")
@bounded(200)
@given(st.binary(max_size=200) | json_values.map(msgspec.json.encode))
def test_any_line_is_a_request_or_a_typed_error(line: bytes) -> None:
    with suppress(RametError):
        for document in split_line(line) or [msgspec.Raw(line)]:
            salvage_id(document)
            decode_frame(document)
