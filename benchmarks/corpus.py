"""Messages as agents write them: prose, code, tool calls as JSON and tool output, about 2,000 bytes each.

They are cut from the Python standard library's own files, so that every machine has them; no two are the same.
"""

import json
import random
import sysconfig
from pathlib import Path

_SIZE = 2000


def messages(count: int, seed: int = 1) -> list[str]:
    """That many distinct messages, the same for the same seed."""
    chance = random.Random(seed)
    texts = _texts()
    return [_message(chance, texts, number) for number in range(count)]


def _texts() -> list[str]:
    library = Path(sysconfig.get_paths()["stdlib"])
    files = sorted(library.glob("*.py")) + sorted((library / "asyncio").glob("*.py"))
    return [text for file in files if len(text := file.read_text(encoding="utf-8", errors="replace")) > 2 * _SIZE]


def _message(chance: random.Random, texts: list[str], number: int) -> str:
    text = chance.choice(texts)
    start = chance.randrange(len(text) - _SIZE)
    piece = text[start : start + _SIZE]
    match number % 4:
        case 0:
            return f"Turn {number}: I looked at the module and this is what matters here.\n\n{piece[:1900]}"
        case 1:
            return f"Here is the change for step {number}:\n\n```python\n{piece[:1900]}\n```"
        case 2:
            edit = {"file_path": f"/repo/src/module_{number % 97}.py", "old_string": piece[:900], "new_string": piece}
            return json.dumps({"type": "tool_use", "id": f"toolu_{number:08d}", "name": "Edit", "input": edit})[:2200]
        case _:
            return "\n".join(f"{line:>6}\t{row}" for line, row in enumerate(piece.splitlines(), start))[:2200]
