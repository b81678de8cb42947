"""What kind of failure it was, and how a program's end is told."""

import signal

from ramet.model.record.effort import Failure
from ramet.model.work.stream import End
from ramet.vendors.contract.driver_protocol import ProcessExit

_LONGEST_REASON = 2000


def of_status(status: int) -> Failure:
    """The kind of failure that a model's HTTP status means. A login that expired, a wrong key and an unpaid bill are of
    the account, like a usage limit: another task would fail in the same way.
    """
    if status in (401, 402, 403, 429):
        return "limit"
    if status >= 500 or status in (408, 409, 425):
        return "transient"
    return "permanent"


def explain_missing(text: str, variable: str | None = None) -> str:
    """What a program said about a variable that it needs. How an agent gets to see it comes first, because screens cut
    a long reason.
    """
    if variable is None:
        return (
            f"no credentials: set their variables where you run `ramet work`, or add them to work.environment: {text}"
        )
    return f"{variable} is missing: set it where you run `ramet work`, or add it to work.environment: {text}"


def fail(failure: Failure, reason: str, answer: str | None = None) -> End:
    """An attempt that came to nothing."""
    return End(outcome="error", failure=failure, reason=reason[-_LONGEST_REASON:], answer=answer)


def describe(process: ProcessExit) -> str:
    """How a process ended, with the last that it complained about."""
    ended = f"exit status {process.status}" if process.signal is None else f"ended by {_name(process.signal)}"
    complaint = process.errors.strip()[-_LONGEST_REASON // 2 :]
    return f"{ended}: {complaint}" if complaint else ended


def _name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
