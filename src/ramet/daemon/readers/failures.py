"""What a request is answered if something fails that is none of Ramet's errors: the system, or a defect."""

import errno
import logging
import time

from ramet.errors import (
    DatabaseExhausted,
    DatabaseReadOnly,
    DeadlineExceeded,
    DescriptorsExhausted,
    RametError,
    StorageFailed,
)

log = logging.getLogger(__name__)

_SYSTEM_ERRORS: dict[int, tuple[type[RametError], str]] = {
    errno.EMFILE: (DescriptorsExhausted, "the daemon can open no more files"),
    errno.ENFILE: (DescriptorsExhausted, "the machine can open no more files"),
    errno.ENOSPC: (StorageFailed, "the disk is full"),
    errno.EDQUOT: (StorageFailed, "the disk quota is used up"),
    errno.EIO: (StorageFailed, "the disk fails"),
    errno.EROFS: (DatabaseReadOnly, "the disk is read-only"),
    errno.ENOMEM: (DatabaseExhausted, "the machine has no memory left"),
}


def explain(error: BaseException, method: str) -> RametError:
    """The error that a client gets. What no code foresaw is logged."""
    known = find_known(error)
    if known is not None:
        return known
    log.error("an operation failed method=%s", method, exc_info=error)
    return defect(method, type(error).__name__)


def find_known(error: BaseException) -> RametError | None:
    """The error that a client gets, if there is one for this; None for what no code foresaw."""
    if isinstance(error, RametError):
        return error
    if isinstance(error, OSError) and (known := _SYSTEM_ERRORS.get(error.errno or 0)):
        kind, says = known
        return kind(f"{says}: {error.filename}" if error.filename else says)
    return None


def refuse_late(since: float, timeout_seconds: float) -> None:
    """Raise if a request has waited for its turn for so long that nobody may wait for it any more."""
    waited = time.monotonic() - since
    if waited > timeout_seconds:
        raise DeadlineExceeded(f"the request waited {waited:.0f} seconds for the database; nothing of it was saved")


def defect(method: str, cause: str) -> RametError:
    """What failed because of a defect of Ramet, whose details the log has."""
    fix = "this is a defect of Ramet: report it with the last lines of `ramet daemon logs`"
    return RametError(f"Ramet failed: {cause}", field="method", value=method, fix=fix)
