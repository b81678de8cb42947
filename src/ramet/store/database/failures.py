"""What the errors of a database mean for Ramet: a row for each, in the table of each dialect."""

import logging
from typing import NamedTuple

from ramet.errors import StatementFailed, StoreError

log = logging.getLogger(__name__)


class Failure(NamedTuple):
    """What one error of a database is to us."""

    kind: type[StoreError]
    says: str
    """What happened, for people; the database's own words follow."""
    fix: str | None = None
    """Instead of the hint of its kind."""

    def error(self, words: str) -> StoreError:
        """The error, with the database's own words."""
        return self.kind(f"{self.says}: {' '.join(words.split())}", fix=self.fix)


def unforeseen(says: str, code: object, cause: Exception) -> StoreError:
    """An error that no table has. The log has where it came from."""
    log.error("%s code=%s", says, code, exc_info=cause, stack_info=True)
    return Failure(StatementFailed, says).error(f"{cause} ({code})")
