"""What went wrong with the keeper itself, on its standard error: a file in its folder that stays small."""

import os
import time

_LOG_BYTES = 64 * 1024


class Log:
    """A few lines for whoever looks for the cause. No content, no secrets."""

    def __init__(self, descriptor: int = 2) -> None:
        self._descriptor = descriptor
        self._room = _LOG_BYTES

    def write(self, text: str) -> None:
        """Add a line, while there is room."""
        line = f"{time.strftime('%Y-%m-%dT%H:%M:%SZ', time.gmtime())} {text}\n".encode(errors="replace")
        self._room -= len(line)
        if self._room < 0:
            return
        try:
            os.write(self._descriptor, line)
        except OSError:
            self._room = 0
