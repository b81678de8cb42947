"""What is remembered of images: each once, by its hash. Commits name them in their metadata."""

from collections.abc import Iterable

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


def delete(db: Connection, image_hash: bytes) -> None:
    """Delete an image."""
    db.run(_sql.delete, hash=image_hash)
