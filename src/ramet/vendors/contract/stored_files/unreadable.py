"""Why a stored session cannot be read at all."""

from pathlib import Path


class SourceUnreadable(OSError):
    """Nothing of it can be read. The message names the file and the reason, for a person."""

    def __init__(self, path: Path | str, reason: str) -> None:
        super().__init__(f"{path}: {reason}")
        self.strerror = reason  # whoever has named the file takes this alone
