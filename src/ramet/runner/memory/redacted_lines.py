"""Lines without secrets: recorded edits have none, so a line is compared as it would have been recorded."""

from ramet.model.redaction import Redactor


def redact_lines(redactor: Redactor, text: str) -> str:
    """A text without secrets and with the same lines. A secret of several lines is removed line by line."""
    redacted = redactor.redact(text).text
    if redacted.count("\n") == text.count("\n"):
        return redacted
    return "\n".join(redactor.redact(line).text.replace("\n", " ") for line in text.split("\n"))
