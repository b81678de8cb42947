"""Damage as disks, other programs and power cuts leave it: pages of a database that say something else."""

import random
from pathlib import Path

PAGE_BYTES = 4096


def overwrite_pages(path: Path, pages: list[int], seed: int = 7) -> None:
    """Put random bytes in the place of these pages, counted from 1."""
    noise = random.Random(seed)
    with path.open("r+b") as file:
        for page in pages:
            file.seek((page - 1) * PAGE_BYTES)
            file.write(noise.randbytes(PAGE_BYTES))


def count_pages(path: Path) -> int:
    return path.stat().st_size // PAGE_BYTES
