"""What is remembered of images: each once, by its hash. Commits name them in their metadata."""

from collections.abc import Iterable

import msgspec

from ramet.model.history.content import IMAGES
from ramet.model.history.image import Image
from ramet.store.database.connection import Connection
from ramet.store.database.queries import QueryFile

_sql = QueryFile("history/images")


def put(db: Connection, images: Iterable[Image]) -> None:
    """Keep images; those that are known stay as they are."""
    for image in images:
        db.run(_sql.put, hash=image.hash, media_type=image.media_type, data=image.data)


def find(db: Connection, image_hash: bytes) -> Image | None:
    """An image by its hash."""
    row = db.one(_sql.find, hash=image_hash)
    return None if row is None else Image(media_type=row[0], data=bytes(row[1]))


def collect(db: Connection) -> int:
    """Delete the images that no commit names; how many these were."""
    kept = {name for (metadata,) in db.all(_sql.naming) for name in _names(metadata)}
    gone = [row[0] for row in db.all(_sql.hashes) if bytes(row[0]).hex() not in kept]
    for image_hash in gone:
        db.run(_sql.delete, hash=image_hash)
    return len(gone)


def _names(metadata: str) -> list[str]:
    named = msgspec.json.decode(metadata).get(IMAGES)
    return named if isinstance(named, list) else []
