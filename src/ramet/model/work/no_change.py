"""The outcome `no_change`, and no-ops of other skills, in sentences that people read as the reason."""

NO_FILES = "no files were changed"
NO_REPORT = "it left no report"


def say_no_change(refused: int) -> str:
    """The reason of an effort that changed no file; `refused` is how many of its tool calls were refused."""
    if not refused:
        return NO_FILES
    calls = "1 tool call was" if refused == 1 else f"{refused:,} tool calls were"
    return f"{NO_FILES}; {calls} refused"
