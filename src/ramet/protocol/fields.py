"""The types that parameters share: ids, names, texts and paths, each with its limits."""

from typing import Annotated

from msgspec import Meta

_NO_NUL = r"^[^\x00]*$"

Id = Annotated[int, Meta(ge=1, le=2**63 - 1)]

Name = Annotated[str, Meta(min_length=1, max_length=200, pattern=_NO_NUL)]

Text = Annotated[str, Meta(max_length=100_000, pattern=_NO_NUL)]

Path = Annotated[str, Meta(min_length=1, max_length=4096, pattern=_NO_NUL)]

Content = str
"""Any text, limited only by the size of a request."""

SessionName = Annotated[str, Meta(min_length=1, max_length=400, pattern=_NO_NUL)]

SessionId = Id | SessionName

ProjectRef = Id | Path

DriverName = Annotated[str, Meta(pattern=r"^[a-z0-9][a-z0-9._-]{0,63}$")]

TimeoutSeconds = Annotated[int, Meta(ge=1, le=2**31 - 1)]
