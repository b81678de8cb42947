"""Texts that stay larger than a page of the database, however they are compressed."""


def incompressible(seed: int) -> str:
    return "".join(chr(0x4E00 + (seed * 7919 + number * 104729) % 20000) for number in range(4000))
