"""Where new work starts: what a caller asks for, and what was found."""

from msgspec import Struct

from ramet.protocol.fields import Name, Path


class StartAt(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Where new work starts (default: HEAD of the caller's checkout, else of the project's)."""

    directory: Path | None = None
    """The caller's directory. Its checkout counts if it is one of the project's repository."""
    base: Name | None = None
    """A branch, tag or commit to start at (default: HEAD)."""
    with_changes: bool = False
    """Whether to take the checkout's uncommitted changes along, as a commit of their own."""

    @property
    def is_chosen(self) -> bool:
        """Whether the caller wants something else than the default."""
        return self.base is not None or self.with_changes


class StartingPoint(Struct, frozen=True, kw_only=True):
    """The commit that new work starts at, as git had it when the work was added."""

    commit: str | None = None
    """None if there is no commit to start at yet; `note` says why."""
    branch: str | None = None
    changes: str | None = None
    """The commit of the uncommitted changes that were taken along."""
    uncommitted: list[str] = []
    """The files with changes that the work does not see."""
    note: str | None = None
    """What the user should know about it."""
