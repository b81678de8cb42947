"""A block at the end of another program's TOML file, between two marks: what is around it keeps every byte.

It includes the line end in front of it, so that it can follow a last line that has none, and be removed exactly.
"""

import re
import tomllib
from typing import Any

from ramet.errors import ConfigError

_BEGIN = "# >>> ramet mcp install; `ramet mcp remove` takes this block away"
_WITH_FILE = f"{_BEGIN}, and the file with it"
_END = "# <<< ramet mcp install"
_BLOCK = re.compile(
    rf"(?P<file>{re.escape(_WITH_FILE)}\n|\n{re.escape(_BEGIN)}\n)(?P<body>.*?){re.escape(_END)}\n", re.DOTALL
)

_HEADER = re.compile(r"^\[.*", re.MULTILINE)

_MEND = "fix the file first"
_MOST_BLOCKS = 10
_DEEPEST = 100
_TOKEN = re.compile(
    r'''(?P<text>"""(?:[^\\]|\\.)*?(?:"""|\Z)|\'{3}.*?(?:\'{3}|\Z)|"(?:[^"\\\n]|\\.)*"?|'[^'\n]*'?|[\w+-]+)'''
    r"|(?P<comment>\#[^\n]*)|(?P<dot>[ \t]*\.[ \t]*)|(?P<open>[\[{])|(?P<close>[\]}])|(?P<other>[^\s\w]|\n)",
    re.DOTALL,
)


def find(text: str) -> str | None:
    """What is in our block."""
    _refuse_repeated(text)
    found = _BLOCK.search(text)
    return _split(found["body"])[0] if found else None


def read(text: str) -> dict[str, Any]:
    """What the file says without our block."""
    return parse(_without_block(text))


def parse(text: str) -> dict[str, Any]:
    """What a file says."""
    _refuse_depth(text)
    try:
        return tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise ConfigError(f"it is not TOML: {error}", fix=_MEND) from error


def install(text: str | None, body: str) -> str:
    """The file with our block, which must not be in it yet."""
    if text is None:
        return f"{_WITH_FILE}\n{body}{_END}\n"
    installed = f"{text}\n{_BEGIN}\n{body}{_END}\n"
    try:
        parse(installed)
    except ConfigError as error:
        raise ConfigError(
            f"Ramet's table cannot be added: {error.message}", fix="write mcp_servers as [mcp_servers.NAME] tables"
        ) from error
    return installed


def remove(text: str) -> str | None:
    """The file as it was without our block; None if it would not exist at all."""
    rest = _without_block(text)
    found = _BLOCK.search(text)
    return None if found and not found["file"].startswith("\n") and not rest else rest


def _refuse_depth(text: str) -> None:
    """Refuse keys of very many parts and very deep arrays: the parser would need a long time, or a deep stack."""
    depth = parts = 0
    for token in _TOKEN.finditer(text):
        depth += (token["open"] is not None) - (token["close"] is not None)
        parts = parts + (token["dot"] is not None) if token["dot"] or token["text"] else 0
        if max(depth, parts) > _DEEPEST:
            raise ConfigError(f"it is nested more than {_DEEPEST} deep", fix=_MEND)


def _without_block(text: str) -> str:
    _refuse_repeated(text)
    return _BLOCK.sub(lambda found: _split(found["body"])[1], text)


def _split(body: str) -> tuple[str, str]:
    """Our own table, and what a program has put behind it: it may write a new table before our last line, which is a
    comment.
    """
    own = body.partition("]")[0]
    for header in _HEADER.finditer(body, len(own)):
        if not header[0].startswith(f"{own}."):
            end = len(body[: header.start()].rstrip("\n")) + 1
            return body[:end], body[end:]
    return body, ""


def _refuse_repeated(text: str) -> None:
    """Each beginning without an end costs a search to the end of the file."""
    if text.count(_BEGIN) > _MOST_BLOCKS:
        raise ConfigError(f"it has the line {_BEGIN!r} more than {_MOST_BLOCKS} times", fix=_MEND)
