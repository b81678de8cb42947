"""Images that the texts of a history name."""

from ramet.engine.answers import answers
from ramet.engine.transaction import Transaction
from ramet.errors import ImageNotFound
from ramet.protocol.history.images import GetImage, ImageReply
from ramet.store.history import images

_HASH_DIGITS = 64


@answers(GetImage)
def get(tx: Transaction, request: GetImage) -> ImageReply:
    """An image by its hash."""
    # No image has a hash of another length.
    found = images.find(tx.db, bytes.fromhex(request.hash)) if len(request.hash) == _HASH_DIGITS else None
    if found is None:
        raise ImageNotFound(f"no image has the hash {request.hash}", field="hash", value=request.hash)
    return ImageReply(hash=request.hash, media_type=found.media_type, size=len(found.data), data=found.data)
