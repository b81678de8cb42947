"""Everything that a database holds, as one text to search."""

from tests.world import World


def everything(world: World) -> str:
    """All that is stored, contents of blobs included."""
    text = repr(world.dump())
    for codec, size, data in world.sql("SELECT codec, size, data FROM blobs"):
        text += world.engine._codec.unpack(codec, size, bytes(data)).decode()
    return text
