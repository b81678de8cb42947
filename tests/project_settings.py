"""A project's `ramet.yaml` that its owner trusts."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ramet.config import trust


def write_trusted(project: Path, home: Path, configured: Mapping[str, Any] | str) -> None:
    """Write the file, and trust it under this home of Ramet's."""
    file = project / "ramet.yaml"
    file.write_text(configured if isinstance(configured, str) else json.dumps(configured), encoding="utf-8")
    trust.trust({"RAMET_HOME": str(home)}, file, file.read_bytes())
