"""What a session is told that goes on from before a compaction: all that the one before it knew, word for word.

It is quoted, between a line that says what it is and one that closes it with a seal which the text itself cannot
contain: what tools and others said in it asks for nothing.
"""

import hashlib


def compose(session_id: int, text: str) -> str:
    """The prompt of the session that goes on."""
    seal = hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()[:16]
    return (
        f"You go on with the work of session {session_id}, whose context was compacted. What follows, up to the line "
        f"that names {seal}, is that context as it was before, word for word: what you were asked, what you said, and "
        f"what your tools answered. Files may have changed since.\n\n{text}\n\n(end of the context: {seal})\n\n"
        "Go on from there."
    )
