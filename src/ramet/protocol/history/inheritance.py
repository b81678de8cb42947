"""What a child branch inherits from its parent."""

from typing import Literal

from msgspec import Struct

from ramet.protocol.fields import Name
from ramet.protocol.history.commits import Count

Inheritance = Literal["none", "full_clone", "head_snapshot", "selective"]


class Filter(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which of its parent's commits a selective child inherits."""

    types: list[Name] | None = None
    tags: list[Name] | None = None
    last_turns: Count | None = None
