"""The spellings of a value that is known to be a secret: as it is, and as programs encode it."""

import base64
import json
from urllib.parse import quote, quote_plus


def spellings(value: str) -> set[str]:
    """A value as it is, in JSON, in JSON in JSON, in a URL, and in base 64."""
    once, ascii_only = json.dumps(value, ensure_ascii=False)[1:-1], json.dumps(value)[1:-1]
    found = {value, once, ascii_only, json.dumps(once)[1:-1], once.replace("/", r"\/")}
    encoded = value.encode(errors="replace")
    found |= {quote(value, safe="", errors="replace"), quote_plus(value, errors="replace")}
    found |= {repr(value)[1:-1]}
    if len(encoded) >= _SHORTEST_ENCODED:
        found |= {text.rstrip("=") for text in (_base64(encoded), _base64(encoded + b"\n"))}
    return {text for text in found if text}


_SHORTEST_ENCODED = 12
"""A shorter value in base 64 is so short that it is found by chance."""


def _base64(encoded: bytes) -> str:
    return base64.b64encode(encoded).decode()
