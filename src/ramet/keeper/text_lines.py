"""Lines of text out of a program's bytes, whatever they are: no more than one line of the largest size is held."""

LONGEST_LINE_BYTES = 8 * 1024 * 1024


class Lines:
    """What has been read of one pipe and is no whole line yet."""

    def __init__(self, longest_bytes: int = LONGEST_LINE_BYTES) -> None:
        self._longest_bytes = longest_bytes
        self._rest = bytearray()
        self._lost_bytes = 0

    def feed(self, data: bytes) -> list[str]:
        """The lines that are now whole, without their ends."""
        *whole, last = data.split(b"\n")
        lines = []
        for piece in whole:
            self._keep(piece)
            lines.append(self._take())
        self._keep(last)
        return lines

    def finish(self) -> list[str]:
        """The last line, where it had no end."""
        return [self._take()] if self._rest else []

    def _keep(self, piece: bytes) -> None:
        room = self._longest_bytes - len(self._rest)
        self._rest += piece[:room]
        self._lost_bytes += max(len(piece) - room, 0)

    def _take(self) -> str:
        text = self._rest.decode("utf-8", "replace").replace("\0", "").removesuffix("\r")
        if self._lost_bytes:
            text = f"{text}… (cut: {self._lost_bytes:,} more bytes in this line)"
        self._rest.clear()
        self._lost_bytes = 0
        return text
