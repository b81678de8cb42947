"""Train the dictionary that short contents are compressed with.

    python tools/train_dictionary.py OUTPUT         train, and write the file
    python tools/train_dictionary.py --check        fail unless training gives the dictionary that is shipped

It learns from texts of our own alone: this repository's files as they were at one commit, and transcripts made up from
our templates (`made_transcripts`). What is measured in `benchmarks/` is cut from the standard library, which it never
saw. The same commit, the same templates and the same zstd give the same bytes.

A dictionary that has been released is never changed, because what was compressed with it needs it for good: a better
one gets a new version and a codec number of its own in `ramet.store.database.blobs`.
"""

import argparse
import random
import subprocess
import sys
from pathlib import Path

import zstandard

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from tools.made_transcripts import pieces

ROOT = Path(__file__).resolve().parent.parent
SHIPPED = ROOT / "src" / "ramet" / "store" / "dictionaries" / "v1.zstd-dict"

# Chosen on the benchmarks' corpus, which it does not learn from: 0.30 of the raw text with 8 KiB as with 110 KiB, 0.35
# without a dictionary. On pieces drawn anew from the templates that it does learn from: 8 KiB 0.18, 16 KiB 0.15,
# 32 KiB 0.13, 64 KiB 0.12.
_SIZE = 32 * 1024
_LEVEL = 5
_DICTIONARY_ID = 0x52414D01
"""Only a mark in the file; the row of a blob says which dictionary it needs."""

_LEARNT_FROM = "819991b50a498215d2bd268cc15525eee3476333"
_ENDINGS = (".py", ".md", ".sql", ".toml")
_SHORTEST = 200
_PIECES = 12_000
_SEED = 1


def main() -> int:
    parser = argparse.ArgumentParser(prog="train_dictionary", description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("output", nargs="?", type=Path, help="the file to write")
    parser.add_argument("--check", action="store_true", help="compare with what is shipped")
    arguments = parser.parse_args()
    trained = train()
    if arguments.output is not None:
        arguments.output.write_bytes(trained)
    if arguments.check and trained != SHIPPED.read_bytes():
        print(f"{SHIPPED.relative_to(ROOT)} is not what training gives", file=sys.stderr)
        return 1
    return 0


def train() -> bytes:
    """The dictionary."""
    chance = random.Random(_SEED)  # noqa: S311 - the same each time, on purpose
    samples: list[bytes | bytearray | memoryview] = [piece.encode() for piece in pieces(chance, _PIECES, _own_texts())]
    # k and d fix how long a part is: without them they are searched for, on as many threads as there are.
    return zstandard.train_dictionary(_SIZE, samples, k=200, d=8, dict_id=_DICTIONARY_ID, level=_LEVEL).as_bytes()


def _own_texts() -> list[str]:
    names = _git("ls-tree", "-r", "--name-only", _LEARNT_FROM).splitlines()
    texts = (_git("show", f"{_LEARNT_FROM}:{name}") for name in names if name.endswith(_ENDINGS))
    return [text for text in texts if len(text) >= _SHORTEST]


def _git(*arguments: str) -> str:
    return subprocess.run(["git", *arguments], cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True).stdout  # noqa: S607


if __name__ == "__main__":
    sys.exit(main())
