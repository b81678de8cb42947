"""What programs call their tools, models, calls and prompts, as a column may hold it."""

LONGEST_NAME = 200


def clean_name(text: str | None) -> str:
    """A name without what not every database can keep, of a length that an index can hold; never empty."""
    return (text or "").replace("\0", "")[:LONGEST_NAME] or "unnamed"
