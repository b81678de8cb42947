"""Images in prompts and in results of tools: kept by their hashes, named in the texts, and given back."""

import base64
import struct
import zlib
from typing import Any

import pytest
from tests.conformance import queue_worker
from tests.conformance.hook_calls import entry, ingest, messages, session, start
from tests.world import World

from ramet.errors import ImageNotFound, InvalidParams
from ramet.model.history.image import LONGEST_IMAGE, MOST_IMAGES, Image, decode_image, find_references


def png(shade: int = 0) -> Image:
    """A picture of one pixel."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    head = struct.pack(">IIBBBBB", 1, 1, 8, 0, 0, 0, 0)
    pixels = zlib.compress(bytes([0, shade % 256]))
    data = b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", pixels) + chunk(b"IEND", b"")
    return Image(media_type="image/png", data=data + shade.to_bytes(4))


def shown(*images: Image, key: str = "u1", **said: Any) -> dict[str, Any]:
    """An entry of a transcript with images."""
    encoded = [{"media_type": each.media_type, "data": base64.b64encode(each.data).decode()} for each in images]
    return entry(key, "\n".join(each.reference for each in images), **{"role": "user", **said}, images=encoded)


@pytest.mark.requirement("R373")
def test_an_image_of_a_prompt_is_kept_and_named_where_it_stood(world: World) -> None:
    above, image = start(world), png()
    ingest(world, above, shown(image), entry("u2", "It is grey."))
    name = image.hash.hex()
    assert (f"[image/png, {len(image.data)} bytes, sha256:{name}]") in dict(messages(world, above))["user"]
    found = world.call("history.image", hash=name)
    assert (found.media_type, found.data, found.size) == ("image/png", image.data, len(image.data))
    compiled = world.call("history.compile", branch=session(world, above).branch, format="text")
    (reference,) = find_references(str(compiled.messages))
    assert reference.hash == name


@pytest.mark.requirement("R373")
def test_an_image_of_a_tool_that_a_keeper_reports_is_kept(world: World) -> None:
    attempt, image = queue_worker.start(world, driver="claude"), png(1)
    encoded = {"media_type": "image/png", "data": base64.b64encode(image.data).decode()}
    call = {"kind": "tool_call", "call_id": "c1", "name": "Look"}
    result = {"kind": "tool_result", "call_id": "c1", "output": image.reference, "images": [encoded]}
    queue_worker.report(world, attempt, call, result)
    assert world.call("history.image", hash=image.hash.hex()).data == image.data


@pytest.mark.requirement("R373")
def test_redaction_leaves_the_bytes_of_an_image_and_its_name_alone(world: World) -> None:
    secret = Image(media_type="image/png", data=b"\x89PNG AKIAIOSFODNN7EXAMPLE sk-ant-api03-" + b"a" * 95)
    above = start(world)
    ingest(world, above, shown(secret))
    assert world.call("history.image", hash=secret.hash.hex()).data == secret.data
    assert secret.reference in dict(messages(world, above))["user"]


@pytest.mark.requirement("R373")
def test_an_image_is_kept_once_and_as_long_as_a_commit_names_it(world: World) -> None:
    above, image, lost = start(world), png(2), png(3)
    ingest(world, above, shown(image), shown(image, key="u2"))
    assert world.sql("SELECT count(*) FROM images") == [(1,)]
    world.sql(
        "INSERT INTO images (hash, media_type, data) VALUES (:hash, 'image/png', :data)", hash=lost.hash, data=lost.data
    )
    world.call("history.gc")
    assert world.call("history.image", hash=image.hash.hex()).data == image.data
    with pytest.raises(ImageNotFound):
        world.call("history.image", hash=lost.hash.hex())


def test_more_and_larger_images_than_a_message_may_have_are_only_named(world: World) -> None:
    above = start(world)
    many = [png(number) for number in range(MOST_IMAGES + 5)]
    large = Image(media_type="image/png", data=b"x" * (LONGEST_IMAGE - 10))
    ingest(world, above, shown(*many), shown(large, png(100), key="u2"))
    assert world.sql("SELECT count(*) FROM images") == [(MOST_IMAGES + 1,)]


@pytest.mark.parametrize("name", ["", "abcd", "z" * 64, "A" * 64, "../" * 20, "0" * 63])
def test_what_is_no_hash_is_refused(world: World, name: str) -> None:
    with pytest.raises((InvalidParams, ImageNotFound)):
        world.call("history.image", hash=name)


@pytest.mark.parametrize(
    ("kind", "encoded"),
    [("image/svg+xml", "AAAA"), ("text/html", "AAAA"), ("image/png", "no base64!"), ("image/png", ""), ("", "AAAA")],
)
def test_what_is_no_image_is_not_kept(kind: str, encoded: str) -> None:
    assert decode_image(kind, encoded) is None
