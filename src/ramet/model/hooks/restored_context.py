"""The prompt of a session that continues from before a compaction: the exact context of the previous session.

It is quoted between an introduction and a line with a seal that the text itself cannot contain, because the texts of
tools and other agents in it are not instructions.
"""

from collections.abc import Mapping

from ramet.model.seal import make_seal


def compose(session_id: int, text: str, images: Mapping[str, str] | None = None) -> str:
    """The prompt of the session that continues; `images` are the files of the images that the text names, by hash."""
    seal = make_seal(text)
    return (
        f"You continue the work of session {session_id}, whose context was compacted. The following text, up to the "
        f"line with {seal}, is the exact context before that, word for word: the prompts, your answers, and the "
        f"results of your tools. Files may have changed since.\n\n{text}\n\n(end of the context: {seal})\n\n"
        f"{_list_images(images or {})}Continue from there."
    )


def _list_images(images: Mapping[str, str]) -> str:
    if not images:
        return ""
    lines = "".join(f"- sha256:{name}: {file}\n" for name, file in images.items())
    return f"The images that the context names are in these files:\n{lines}\n"
