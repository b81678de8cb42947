"""Why a stored session cannot be read at all."""

from pathlib import Path


class SourceUnreadable(OSError):
    """Nothing of it can be read. The message names the file and the reason, for a person."""

    def __init__(self, path: Path | str, reason: str) -> None:
        super().__init__(f"{path}: {reason}")
        self.path = str(path)
        self.reason = reason
