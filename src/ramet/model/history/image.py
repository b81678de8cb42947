"""Images in prompts and in results of tools: kept by their hash, and named in the text at their places.

A history is made of texts. What stands in a text for an image names its kind, its size and its hash, so that whoever
reads the text can ask for the image itself.
"""

import binascii
import re
from base64 import b64decode
from collections.abc import Sequence

from msgspec import Struct

from ramet.model.history.commit import hash_content

LONGEST_IMAGE = 4 * 1024 * 1024
"""The size of the largest image that is kept, in bytes, and of all images of one message together."""
MOST_IMAGES = 20
"""How many images of one message are kept."""
KINDS = {"image/png": "png", "image/jpeg": "jpg", "image/gif": "gif", "image/webp": "webp"}
"""The media types that are kept, and how the names of their files end."""
_REFERENCE = re.compile(r"\[(image/[a-z]+), [0-9,]+ bytes, sha256:([0-9a-f]{64})\]")
_DATA_URL = re.compile(r"data:(image/[a-z]+);base64,")


class Image(Struct, frozen=True, kw_only=True):
    """An image."""

    media_type: str
    data: bytes

    @property
    def hash(self) -> bytes:
        """The name under which it is kept."""
        return hash_content(self.data)

    @property
    def reference(self) -> str:
        """What stands for it in a text."""
        return f"[{self.media_type}, {len(self.data):,} bytes, sha256:{self.hash.hex()}]"


class ImageReference(Struct, frozen=True):
    """What a text says of an image."""

    hash: str
    media_type: str


def bounded(images: Sequence[Image]) -> list[Image]:
    """As many images of one message as are kept, and as fit into one report of a keeper."""
    kept, size = [], 0
    for image in images[:MOST_IMAGES]:
        size += len(image.data)
        if size <= LONGEST_IMAGE:
            kept.append(image)
    return kept


def decode_image(media_type: str, encoded: str) -> Image | None:
    """An image from base64; None if it is of another kind, too large, or no base64."""
    if media_type not in KINDS or len(encoded) > LONGEST_IMAGE * 4 // 3 + 4:
        return None
    try:
        data = b64decode(encoded, validate=True)
    except (binascii.Error, ValueError):
        return None
    return Image(media_type=media_type, data=data) if 0 < len(data) <= LONGEST_IMAGE else None


def decode_url(url: str) -> Image | None:
    """An image from a `data:` URL."""
    found = _DATA_URL.match(url)
    return None if found is None else decode_image(found[1], url[found.end() :])


def find_references(text: str) -> list[ImageReference]:
    """The images that a text names, each once, in their order."""
    found = [ImageReference(hash=name, media_type=kind) for kind, name in _REFERENCE.findall(text)]
    return list(dict.fromkeys(found))
