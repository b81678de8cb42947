"""What becomes a blob: the one place that removes secrets and gives a content its kind, role and tokens."""

from typing import Any

import msgspec
from msgspec import Struct

from ramet.errors import InvalidParams
from ramet.model.history.commit import estimate_tokens
from ramet.model.history.content import (
    PAYLOAD,
    RESERVED,
    Packed,
    pack,
    validate_content,
)
from ramet.model.history.tokens import TokenCounter
from ramet.model.redaction import Redactor
from ramet.protocol.history.commits import Commit
from ramet.store.database.blobs import Blob, Codec


class Prepared(Struct, frozen=True, kw_only=True):
    """A content that is already redacted, hashed and compressed, which needs no transaction."""

    text: str
    blob: Blob
    tokens: int
    metadata: dict[str, Any] | None = None
    content_type: str | None = None
    role: str | None = None
    redactions: int = 0


class Contents:
    """Prepares contents. The same text with the same patterns always comes out the same."""

    def __init__(self, redactor: Redactor, codec: Codec, count_tokens: TokenCounter = estimate_tokens) -> None:
        self.redactor = redactor
        self._codec = codec
        self._count_tokens = count_tokens

    def redact(self, text: str) -> str:
        """A text that becomes no content, without secrets."""
        return self.redactor.redact(text).text

    def prepare(self, text: str, metadata: dict[str, Any] | None = None) -> Prepared:
        """A text, and what is said about it, without secrets."""
        redacted = self.redactor.redact_content(text)
        content = encode(redacted.text)
        clean, secrets = self.redactor.redact_value(metadata or None)
        return Prepared(
            text=redacted.text,
            blob=self._codec.pack(content),
            tokens=self._count_tokens(redacted.text),
            metadata=clean,
            redactions=redacted.secrets + secrets,
        )

    def prepare_value(self, value: Any) -> str:
        """A value as JSON, its texts redacted before they are encoded."""
        return msgspec.json.encode(self.redactor.redact_value(value)[0]).decode()

    def prepare_commit(self, request: Commit) -> Prepared:
        """What `history.commit` was given: a text, or a typed content."""
        packed = _pack(request)
        metadata = {**(request.metadata or {}), **({PAYLOAD: packed.payload} if packed.payload else {})}
        prepared = self.prepare(packed.text, metadata or None)
        return msgspec.structs.replace(prepared, content_type=packed.content_type, role=packed.role)


def encode(text: str) -> bytes:
    """The bytes of a text; half of a surrogate pair is not text."""
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        raise InvalidParams(
            "the text has half of a surrogate pair, which is not valid Unicode",
            field="content",
            value=text[error.start : error.end].encode("unicode_escape").decode(),
            fix="send valid Unicode",
        ) from error


def _pack(request: Commit) -> Packed:
    if (request.text is None) == (request.content is None):
        raise InvalidParams(
            "give either text or content",
            field="text",
            fix="give text for a plain message, or content with its content_type",
        )
    for key in RESERVED & (request.metadata or {}).keys():
        raise InvalidParams(
            f"metadata cannot have the key {key!r}", field=f"metadata.{key}", value=key, fix="choose another key"
        )
    if request.content is not None:
        packed = pack(validate_content(request.content))
        return msgspec.structs.replace(packed, role=request.role or packed.role)
    kind = request.content_type or "dialogue"
    return Packed(content_type=kind, role=request.role or "user", text=request.text or "", payload=None)
