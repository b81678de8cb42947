"""Giving memory back: large buffers go back to the system as soon as they are not used.

The C library keeps freed memory for later, and learns from each large buffer that is freed to keep the next one too. A
daemon that once held a few large requests would stay large. With a fixed threshold, it gives them back at once.
"""

import ctypes
import sys

_MMAP_THRESHOLD = -3
"""`M_MMAP_THRESHOLD` in malloc.h."""
_APART_BYTES = 512 * 1024
"""Larger buffers get pages of their own; smaller ones come too often for that."""


def keep_large_buffers_apart() -> None:
    """Allocate large buffers on pages of their own, which go back when they are freed."""
    library = _library()
    if library is not None:
        library.mallopt(_MMAP_THRESHOLD, _APART_BYTES)


def give_back_memory() -> None:
    """Give back whatever is free now."""
    library = _library()
    if library is not None:
        library.malloc_trim(0)


def _library() -> ctypes.CDLL | None:
    """The GNU C library, if it is the one in use."""
    if sys.platform != "linux":
        return None
    library = ctypes.CDLL(None)
    return library if hasattr(library, "malloc_trim") and hasattr(library, "mallopt") else None
