"""Images that the texts of a history name."""

from ramet.engine.answers import answers
from ramet.engine.transaction import Transaction
from ramet.errors import ImageNotFound
from ramet.protocol.history.images import GetImage, ImageReply
from ramet.store.history import images


@answers(GetImage)
def get(tx: Transaction, request: GetImage) -> ImageReply:
    """An image by its hash."""
    found = images.find(tx.db, bytes.fromhex(request.hash))
    if found is None:
        raise ImageNotFound(f"no image has the hash {request.hash}", field="hash", value=request.hash)
    return ImageReply(hash=request.hash, media_type=found.media_type, size=len(found.data), data=found.data)
