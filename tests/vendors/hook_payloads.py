"""What the real programs sent to their hooks, recorded."""

import json
from pathlib import Path
from typing import Any

from ramet.vendors.hook_registry import VENDORS

FOLDER = Path(__file__).parent / "hooks"

_ALL = sorted(str(file.relative_to(FOLDER)) for file in FOLDER.glob("*/*.json"))
RECORDED = [name for name in _ALL if name.partition("/")[0] in VENDORS]
"""Each as `vendor/Event….json`."""
FOREIGN = [name for name in _ALL if name not in RECORDED]
"""Those of programs whose words we do not know."""


def recorded(name: str) -> dict[str, Any]:
    """One of them."""
    payload: dict[str, Any] = json.loads((FOLDER / name).read_text(encoding="utf-8"))
    return payload


def vendor_of(name: str) -> str:
    return name.partition("/")[0]
