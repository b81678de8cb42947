"""What the real programs sent to their hooks, recorded."""

import json
from pathlib import Path
from typing import Any

from ramet.model.hooks.hook import HookEvent
from ramet.vendors import registry

FOLDER = Path(__file__).parent / "hooks"

_ALL = sorted(str(file.relative_to(FOLDER)) for file in FOLDER.glob("*/*.json"))
RECORDED = [name for name in _ALL if name.partition("/")[0] in registry.hooks()]
"""Each as `vendor/Event….json`."""
FOREIGN = [name for name in _ALL if name not in RECORDED]
"""Those of programs whose words we do not know."""


def recorded(name: str) -> dict[str, Any]:
    """One of them."""
    payload: dict[str, Any] = json.loads((FOLDER / name).read_text(encoding="utf-8"))
    return payload


def vendor_of(name: str) -> str:
    return name.partition("/")[0]


def read(name: str) -> HookEvent:
    """One of them in our words."""
    return registry.hooks()[vendor_of(name)].read(recorded(name))
